"""Move a session on. Never enqueues: it says "there is more" (DESIGN 3)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, transaction

from loops import journal, leases, moment, turns
from loops.agents import tree
from loops.agents.base import ProcessIdentity
from loops.drive import Drive
from loops.engine.lifecycle import Move
from loops.engine.values import EndReason, Outcome, State
from loops.equipment import Equipment
from loops.leases import Lease, LeaseLost
from loops.models import Iteration, Session
from loops.points import point
from loops.snapshots import LogUnusable
from loops.workspaces import Unusable
from tracker.errors import DomainError

log = logging.getLogger(__name__)

Equip = Callable[[Session], Equipment]
SLICE_SECONDS = 30.0  # then others get the slot; a message per iteration would cost 3-4 ms


def advance(
    session_id: int, equip: Equip, *, iterations: int | None = None, seconds: float = SLICE_SECONDS
) -> bool:
    """Move the session on until its slice is used or it cannot go on by itself.

    Returns True when there is more to do at once. A session that somebody else moves, that waits,
    or that is over, is left alone (False). iterations: an upper bound, for tests.
    """
    lease = leases.take(session_id)
    return lease is not None and _use(lease, equip, iterations=iterations, seconds=seconds)


def take_turn(equip: Equip) -> int | None:
    """A slot is free on this host: a slice for whoever has waited longest, whichever session the
    message was about. Returns that session if there is more to do for it at once."""
    for session_id in turns.in_line():
        lease = leases.take(session_id)
        if lease is not None:
            more = _use(lease, equip, iterations=None, seconds=SLICE_SECONDS)
            return session_id if more else None
    return None


def _use(lease: Lease, equip: Equip, *, iterations: int | None, seconds: float) -> bool:
    session_id = lease.session_id
    point("taken")
    more = False
    try:
        with _driving(lease, equip) as drive:
            more = drive.run(iterations, time.monotonic() + seconds)
    except LeaseLost:
        log.warning("S-%s: the lease was lost", session_id)
    except (Unusable, LogUnusable) as fault:
        _fail(session_id, str(fault))
    except Exception as error:
        _stumble(session_id, error)
        return False
    # Not in a `finally`: a killed process gives nothing back, and its death shows.
    leases.release(lease)
    point("released")
    return more


def recover(session_id: int, equip: Equip, *, host: str = "") -> bool:
    """Close what a lost worker left: kill its tree, record the step as INTERRUPTED, go where the
    rules say. Returns False when nothing was lost. Runs in the clock, so it needs no slot. host:
    whose session it has to be; this host's by default."""
    inherited = leases.take_over(session_id, host)
    if inherited is None:
        return False
    if inherited.process is not None:
        tree.kill_tree(ProcessIdentity(**inherited.process))
    try:
        with _driving(inherited.lease, equip) as drive:
            drive.settle_lost()
    except (LeaseLost, DatabaseError) as error:
        log.warning("S-%s: not recovered yet (%s)", session_id, error)
        return False
    except (Unusable, LogUnusable) as fault:
        _fail(session_id, str(fault))
    except DomainError as refusal:  # a setting, not the session: it waits until that is mended
        log.warning("S-%s: not recovered yet (%s)", session_id, refusal)
        return False
    except Exception as error:
        log.exception("S-%s: recovery failed", session_id)
        _fail(session_id, f"Loopwatch could not read what a lost step left: {error}")
    leases.release(inherited.lease)
    return True


@contextmanager
def _driving(lease: Lease, equip: Equip) -> Iterator[Drive]:
    lease.start()
    try:
        session = Session.objects.select_related("project").get(pk=lease.session_id)
        equipment = equip(session)
        try:
            yield Drive(session, lease, equipment)
        finally:
            equipment.close()
    finally:
        lease.stop()


def _stumble(session_id: int, error: Exception) -> None:
    """Our own failure. The lease runs out, the clock records the step as INTERRUPTED, and three in
    a row ask a person; where no step was in flight, nothing would ever count, so the session fails.
    """
    log.error("S-%s: the step failed", session_id, exc_info=error)
    if isinstance(error, DomainError):
        return  # a setting is wrong; tried again once the lease is over
    in_flight = Iteration.objects.filter(session=session_id, ended_at=None)
    if not isinstance(error, DatabaseError) and not in_flight.exists():
        _fail(session_id, f"Loopwatch could not work on the session: {error}")


def _fail(session_id: int, sentence: str) -> None:
    """The workspace or the log is unusable (RULES 1): the fault is named, nothing is guessed."""
    with transaction.atomic():
        _project, session = journal.lock(session_id)
        if session.state == State.ENDED.value:
            return
        at = moment.now()
        Iteration.objects.filter(session=session, ended_at=None).update(
            ended_at=at, outcome=Outcome.INTERRUPTED.value, detail=sentence
        )
        journal.end(session, Move.UNUSABLE, EndReason.FAILED, sentence, by=journal.ENGINE, at=at)
