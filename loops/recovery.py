"""What the clock sees to every second: lost leases, untaken answers, sessions that should move."""

from __future__ import annotations

from django.db.models import Q

from loops import leases, moment, runner, uptake, wake
from loops.engine.values import State
from loops.models import Answer, Session

MOVABLE = (State.QUEUED.value, State.RUNNING.value, State.PAUSING.value)


def sweep(equip: runner.Equip) -> None:
    """One pass over the database; every part is safe to repeat and to run in two clocks at once."""
    for session_id in _lost():
        runner.recover(session_id, equip)
    for session_id in Answer.objects.filter(taken_at=None).values_list("session", flat=True):
        uptake.take_up(session_id)
    for session_id in _stopping():
        uptake.end_stopped(session_id)
    for session_id in _movable():
        wake.wake(session_id)


def _lost() -> list[int]:
    now = moment.now()
    held = Session.objects.exclude(lease_until=None).values_list("pk", "lease_owner", "lease_until")
    return [pk for pk, owner, until in held if leases.is_lost(owner, until, now)]


def _stopping() -> list[int]:
    stopping = Session.objects.filter(state=State.STOPPING.value, lease_until=None)
    return list(stopping.values_list("pk", flat=True))


def _movable() -> list[int]:
    """Sessions that no one holds and nothing keeps back; a project's first queued one."""
    ready = (
        Session.objects.filter(state__in=MOVABLE, lease_until=None)
        .filter(Q(not_before=None) | Q(not_before__lte=moment.now()))
        .order_by("pk")
        .values_list("pk", "project_id", "holds_project")
    )
    taken = set(Session.objects.filter(holds_project=True).values_list("project_id", flat=True))
    chosen: list[int] = []
    for pk, project, holds in ready:
        if holds or project not in taken:
            chosen.append(pk)
            taken.add(project)
    return chosen
