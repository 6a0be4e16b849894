"""A session's state at an earlier entry of its log, and the entry of one iteration."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from loops.engine import controllers
from loops.engine.values import Configured, Recorded
from loops.models import Iteration, LogEntry, Session
from loops.snapshots import LogUnusable


def state_at(session: Session, seq: int) -> Any:
    """The controller's state after log entry `seq`. Raises LogUnusable."""
    return _state_at(session.pk, session.created_at.timestamp(), seq)


@lru_cache(maxsize=64)
def _state_at(session_id: int, _born: float, seq: int) -> Any:
    """Logs are only appended to, so what was folded once stays right."""
    rows = LogEntry.objects.filter(session=session_id, seq__lte=seq).order_by("seq")
    told = rows.values_list("seq", "kind", "payload").iterator(500)
    entries = (controllers.entry_from_json(*row) for row in told)
    try:
        first = next(entries, None)
        if not isinstance(first, Configured):
            raise LogUnusable(f"The log of S-{session_id} does not begin with a configuration.")
        start = controllers.fold(first.config, (first,))
        return controllers.fold(first.config, entries, start)
    except ValueError as damage:
        raise LogUnusable(f"The log of S-{session_id} cannot be used: {damage}") from damage


def recorded(one: Iteration) -> Recorded | None:
    """The log's entry of an iteration; None while it runs."""
    found = LogEntry.objects.filter(
        session=one.session_id, kind="recorded", payload__evidence__number=one.number
    ).last()
    if found is None:
        return None
    entry = controllers.entry_from_json(found.seq, found.kind, found.payload)
    return entry if isinstance(entry, Recorded) else None
