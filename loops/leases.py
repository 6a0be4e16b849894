"""The right to move one session on: taken, renewed, lost, given back.

One lease covers everything a worker does to a session: opening its workspace, its iterations and
what lies between them. It names a fence; every write made under the lease checks it.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q

from loops import journal, moment
from loops.agents import tree
from loops.agents.base import ProcessIdentity
from loops.engine.lifecycle import Move
from loops.engine.values import State
from loops.models import Session

POLL_SECONDS = 0.5  # how soon a stop reaches a running agent


class LeaseLost(Exception):
    """Somebody else may record now; what this process did since is void."""


def _boottime() -> float:
    """Seconds on a clock that counts sleep: a laptop that slept has lost its lease."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


def lease_seconds() -> float:
    return float(settings.LEASE_SECONDS)


def owner() -> dict[str, Any]:
    """Who holds the lease: this process, named for ever."""
    return asdict(tree.identify(os.getpid(), mark=""))


@dataclass
class Lease:
    """Held by one thread. `must_stop` is what a running agent polls."""

    session_id: int
    fence: int
    renewed: float = field(default_factory=_boottime)
    stopping: bool = False
    lost: bool = False
    _quit: threading.Event = field(default_factory=threading.Event)
    _heart: threading.Thread | None = None

    def must_stop(self) -> bool:
        """True once the right to run is gone: stop, lost fence, 11/15 of the lease unrenewed."""
        if _boottime() - self.renewed > lease_seconds() * 11 / 15:
            self.lost = True
        return self.lost or self.stopping

    def start(self) -> None:
        self._heart = threading.Thread(target=self._beat, name=f"lease-S-{self.session_id}")
        self._heart.daemon = True
        self._heart.start()

    def stop(self) -> None:
        self._quit.set()
        if self._heart is not None:
            self._heart.join(timeout=lease_seconds())

    def _beat(self) -> None:
        """Renew every 4/15 of the lease; in between only look whether a person said stop."""
        try:
            _limit_database_wait(lease_seconds() * 3 / 15)
            while not self._quit.wait(min(POLL_SECONDS, lease_seconds() * 4 / 15)):
                # an unanswered look is not a lost lease: must_stop() decides by the clock
                with suppress(DatabaseError):
                    self._look()
        finally:
            connection.close()

    def _look(self) -> None:
        began = _boottime()
        held = Session.objects.filter(pk=self.session_id, fence=self.fence)
        if began - self.renewed >= lease_seconds() * 4 / 15 - POLL_SECONDS / 2:
            until = moment.now() + timedelta(seconds=lease_seconds())
            if not held.update(lease_until=until):
                self.lost = True
                return
            self.renewed = began
        state = held.values_list("state", flat=True).first()
        self.lost = self.lost or state is None
        self.stopping = self.stopping or state == State.STOPPING.value


def _limit_database_wait(seconds: float) -> None:
    with connection.cursor() as cursor:
        milliseconds = int(seconds * 1000)
        if connection.vendor == "postgresql":
            cursor.execute(f"SET statement_timeout = {milliseconds}")
        else:
            cursor.execute(f"PRAGMA busy_timeout = {milliseconds}")


def take(session_id: int) -> Lease | None:
    """Take the lease if the session can move now and nobody holds it; None otherwise.

    A first claim also takes the project, in the order in which sessions were queued, and keeps the
    session on this host, where its clone will be. A duplicate or late message ends here.
    """
    with transaction.atomic():
        _project, session = journal.lock(session_id)
        now = moment.now()
        if not _may_run(session, now):
            return None
        if session.state == State.QUEUED.value:
            _claim(session, now)
        fence = session.fence + 1
        Session.objects.filter(pk=session.pk).update(
            fence=fence,
            lease_owner=owner(),
            lease_until=now + timedelta(seconds=lease_seconds()),
            not_before=None,
            held_until=None,
            host=settings.HOST,
            turn_at=now,
        )
    return Lease(session_id, fence)


@dataclass(frozen=True, slots=True)
class Inheritance:
    """What a dead holder left: the lease is now ours, `process` may still be alive."""

    lease: Lease
    process: dict[str, Any] | None


def take_over(session_id: int, host: str = "") -> Inheritance | None:
    """Take the lease from a holder that is dead, or whose time is over; None if it is neither, and
    when the session is not `host`'s (any more). host: this one by default."""
    with transaction.atomic():
        _project, session = journal.lock(session_id)
        now = moment.now()
        if session.host not in ("", host or settings.HOST):
            return None
        if not is_lost(session.lease_owner, session.lease_until, now):
            return None
        fence = session.fence + 1
        Session.objects.filter(pk=session.pk).update(
            fence=fence, lease_owner=owner(), lease_until=now + timedelta(seconds=lease_seconds())
        )
    return Inheritance(Lease(session_id, fence), session.process)


def is_lost(holder: dict[str, Any] | None, until: datetime | None, now: datetime) -> bool:
    """A lease whose time is over, or whose process on this host is seen to be dead."""
    if until is None:
        return False
    return until < now or (holder is not None and tree.is_dead(ProcessIdentity(**holder)))


def _may_run(session: Session, now: datetime) -> bool:
    movable = session.state in (State.QUEUED.value, State.RUNNING.value, State.PAUSING.value)
    waits = session.not_before is not None and session.not_before > now
    is_elsewhere = session.host not in ("", settings.HOST)
    if not movable or session.lease_until is not None or waits or is_elsewhere:
        return False
    if session.holds_project:
        return True
    ahead = Session.objects.filter(project=session.project_id).filter(
        Q(holds_project=True) | Q(state=State.QUEUED.value, pk__lt=session.pk)
    )
    return not ahead.exists()


def _claim(session: Session, now: datetime) -> None:
    started = {} if session.started_at else {"started_at": now}
    journal.move(session, Move.CLAIM, by=journal.ENGINE, at=now, holds_project=True, **started)
    if session.stepping:  # one iteration, then paused: a step is a claim that is already pausing
        journal.move(session, Move.PAUSE, by=journal.ENGINE, at=now, note="one step")


def release(lease: Lease) -> None:
    """Give the lease back; harmless when it is lost already."""
    Session.objects.filter(pk=lease.session_id, fence=lease.fence).update(
        lease_owner=None, lease_until=None, process=None, fence=F("fence") + 1
    )
