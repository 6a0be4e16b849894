"""The clock's part in live updates: its sign of life, and what was committed but never said.

A publisher that died after its commit, or whose broker was away, leaves pages that wait for a
message that never comes. The clock compares: where rows changed and the topic's number did not,
it publishes.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Max, Q

from loops import hosts, live, moment
from loops.engine.values import State
from loops.models import Iteration, Session
from tracker.models import Project

EVERY = 2.0  # seconds
ENDED_FOR = timedelta(seconds=30)  # sessions that ended just now are looked at too

Stand = tuple[Hashable, int]


@dataclass
class Heartbeat:
    """stands: by topic, what its rows said and its number, at the last look."""

    stands: dict[str, Stand] = field(default_factory=dict)
    looked_at: float = float("-inf")

    def beat(self, now: datetime) -> None:
        """Call it every second; it acts every other one."""
        if time.monotonic() - self.looked_at < EVERY:
            return
        self.looked_at = time.monotonic()
        live.engine_ticked()
        self._look(now)

    def _look(self, now: datetime) -> None:
        rows, owners = _rows(now)
        seqs = live.sequences(rows)
        if seqs is None:
            return
        stands = {name: (row, seq) for (name, row), seq in zip(rows.items(), seqs, strict=True)}
        for name, stand in stands.items():
            if _was_unsaid(self.stands.get(name), stand):
                live.send(owners[name], live.Change(dict.fromkeys(_PARTS)).message())
        self.stands = stands


_PARTS = (*live.STEP, *live.TRACKER, *live.QUESTIONS)


def _was_unsaid(before: Stand | None, now: Stand) -> bool:
    return before is not None and before[0] != now[0] and before[1] == now[1]


def _rows(now: datetime) -> tuple[dict[str, Hashable], dict[str, tuple[str, ...]]]:
    """What the rows of each topic say, and the topics to tell when that changed."""
    rows: dict[str, Hashable] = {}
    owners: dict[str, tuple[str, ...]] = {}
    for pk, *row in Project.objects.values_list("pk", "tracker_seq"):
        name = live.project_topic(pk)
        rows[name], owners[name] = tuple(row), (name, live.ALL)
    sessions = Session.objects.filter(
        ~Q(state=State.ENDED.value) | Q(ended_at__gt=now - ENDED_FOR)
    ).values_list("pk", "project_id", "host", "state", "log_seq", "iteration_count", "not_before")
    lost = hosts.lost_names(moment.now())
    written = dict(
        Iteration.objects.filter(ended_at=None)
        .annotate(newest=Max("pieces__seq"))
        .values_list("session_id", "newest")
    )
    for pk, project, host, *row in sessions:
        name = live.session_topic(pk)
        rows[name] = (*row, written.get(pk), host, host in lost)
        owners[name] = (name, live.project_topic(project), live.ALL)
    return rows, owners
