"""Sessions that go on on another host: by a person's word, or by itself where the installation says
so (LOOPWATCH_MOVE_AFTER). Nothing of the old host is needed but the snapshot that it sent."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F

from loops import afar, hosts, journal, live, moment, runner, wake
from loops.engine.values import State
from loops.models import Host, Session, Transition
from tracker.errors import Conflict, DomainError, Invalid

MOVED = "moved"


def move(session: Session, to: str, by: str) -> None:
    """The session goes on on host `to`. Whatever the old host still does is void from here on.

    Raises Invalid for a host that does not live, Conflict with the reason when the session has to
    stay. by: who says so.
    """
    with transaction.atomic():
        _project, locked = journal.lock(session.pk)
        _refuse_target(to)
        if reason := why_not(locked, to):
            raise Conflict(reason)
        _hand_over(locked, to, by)
        wake.wake_on_commit(session.pk)
    if locked.lease_until is not None:  # a step was in flight: recorded from what is known of it
        runner.recover(session.pk, afar.equip, host=to)


def why_not(session: Session, to: str = "") -> str:
    """Why the session has to stay where it is, "" if it need not. to: where it is to go."""
    now, ref = moment.now(), session.ref
    if session.state == State.ENDED.value:
        return f"{ref} has ended; there is nothing left to move."
    if not session.host:
        return f"{ref} has no clone on any host yet; the next host with a free slot takes it."
    if session.host == to:
        return f"{ref} is on {to} already."
    host = Host.objects.filter(name=session.host).first()
    is_alive = host is not None and not hosts.is_lost(host, now)
    if is_alive and (session.state != State.PAUSED.value or session.lease_until is not None):
        return f"The host {session.host} lives, so {ref} stays there. Pause {ref} first."
    if session.lease_until is not None and session.lease_until >= now:
        left = (session.lease_until - now).total_seconds()
        return f"The worker on {session.host} may go on for {left:.0f} s yet; try again then."
    return _why_no_snapshot(session, is_alive=is_alive)


def _why_no_snapshot(session: Session, *, is_alive: bool) -> str:
    if not session.base_rev:
        return ""  # nothing has run: it begins anew from the project's repository
    if not session.kept or not settings.STORE_URL:
        return (
            f"No other host reaches a snapshot of {session.ref}, so it can go on only on "
            f"{session.host}. Set LOOPWATCH_STORE_URL on every host, before the next session."
        )
    if is_alive and session.kept["iteration"] < session.iteration_count:
        return (
            f"The newest snapshot elsewhere is of iteration {session.kept['iteration']}, and "
            f"{session.host} has more; resume {session.ref} there when the store is reached again."
        )
    return ""


def _refuse_target(to: str) -> None:
    living = [host.name for host in hosts.living(moment.now())]
    if to not in living:
        known = ", ".join(living) or "none"
        raise Invalid(f"There is no living host {to!r}; living are: {known}.")


def _hand_over(session: Session, to: str, by: str) -> None:
    if session.process is not None:
        old = Host.objects.select_for_update().filter(name=session.host).first()
        if old is not None:
            old.leftovers = [*old.leftovers, session.process]
            old.save(update_fields=["leftovers"])
    Session.objects.filter(pk=session.pk).update(
        host=to,
        host_moves=F("host_moves") + 1,
        fence=F("fence") + 1,
        process=None,
        keeping_fault="",
    )
    Transition.objects.create(
        session=session,
        before=session.state,
        move=MOVED,
        after=session.state,
        by=by,
        note=f"from host {session.host} to {to}",
        at=moment.now(),
    )
    live.session_changed(session.pk, session.project_id, live.STATE)


def move_what_waited_too_long(host: str) -> None:
    """The policy: sessions of a host that is silent for LOOPWATCH_MOVE_AFTER minutes come here."""
    if not settings.MOVE_AFTER or not _silent_for(host, moment.now(), settings.MOVE_AFTER):
        return
    for session in Session.objects.filter(host=host).exclude(state=State.ENDED.value):
        if not why_not(session, settings.HOST):
            try:
                move(session, settings.HOST, journal.ENGINE)
            except DomainError:
                continue  # another host was faster


def _silent_for(host: str, now: datetime, minutes: int) -> bool:
    return Host.objects.filter(name=host, seen_at__lt=now - timedelta(minutes=minutes)).exists()
