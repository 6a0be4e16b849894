"""What the clock sees to every second: lost leases, untaken answers, sessions that should move."""

from __future__ import annotations

from django.conf import settings

from loops import afar, hosts, leases, moment, moving, runner, turns, uptake, wake
from loops.engine.values import State
from loops.models import Answer, Session


def sweep(equip: runner.Equip) -> None:
    """One pass over the database; every part is safe to repeat and to run in two clocks at once.
    A session whose clone is on another host is that host's, as long as it lives."""
    hosts.end_leftovers()
    for session_id in _lost():
        runner.recover(session_id, equip)
    for session_id in Answer.objects.filter(taken_at=None).values_list("session", flat=True):
        uptake.take_up(session_id)
    for session_id in _stopping():
        uptake.end_stopped(session_id)
    for host in hosts.lost_names(moment.now()) - {settings.HOST}:
        _see_to(host)
    for session_id in turns.in_line():
        wake.wake(session_id)


def _lost(host: str = "", **which: str) -> list[int]:
    """Sessions of the host (this one by default) whose lease is lost."""
    now, whose = moment.now(), ("", host or settings.HOST)
    held = Session.objects.exclude(lease_until=None).filter(host__in=whose, **which)
    rows = held.values_list("pk", "lease_owner", "lease_until")
    return [pk for pk, owner, until in rows if leases.is_lost(owner, until, now)]


def _stopping() -> list[int]:
    stopping = Session.objects.filter(state=State.STOPPING.value, lease_until=None)
    return list(stopping.values_list("pk", flat=True))


def _see_to(host: str) -> None:
    """Of a silent host: a stop needs no clone to come to its end; the rest waits for the host or
    for a person, unless the installation says that it goes on here."""
    for session_id in _lost(host, state=State.STOPPING.value):
        runner.recover(session_id, afar.equip, host=host)
    moving.move_what_waited_too_long(host)
