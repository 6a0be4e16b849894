"""Whose turn it is: sessions that could move now, and the slots that are busy."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from loops import hosts, moment
from loops.engine.values import State
from loops.models import Host, Session

MOVABLE = (State.QUEUED.value, State.RUNNING.value, State.PAUSING.value)


def in_line() -> list[int]:
    """Sessions that may move on this host and that no one holds, the longest waiting first; of a
    project's queued ones the first. Each gets its slice in turn, so none starves."""
    now = moment.now()
    ready = (
        Session.objects.filter(state__in=MOVABLE, lease_until=None)
        .filter(Q(not_before=None) | Q(not_before__lte=now), host__in=("", settings.HOST))
        .select_related("project")
        .order_by("pk")
    )
    taken = set(Session.objects.filter(holds_project=True).values_list("project_id", flat=True))
    chosen: list[Session] = []
    for session in ready:
        if session.holds_project or session.project_id not in taken:
            chosen.append(session)
            taken.add(session.project_id)
    chosen.sort(key=lambda one: (one.turn_at or one.created_at, one.pk))
    return [one.pk for one in chosen if one.host or _may_begin_here(one, now)]


def _may_begin_here(session: Session, now: datetime) -> bool:
    """A new session begins where its repository is; alone, this host takes it and says what is
    wrong with it."""
    is_here = Path(session.project.repo_path).is_dir()
    return is_here or all(host.name == settings.HOST for host in hosts.living(now))


def slots(host: str, now: datetime) -> tuple[int, int]:
    """How many slots are busy, of how many: those of one host, or ("") of every living one."""
    rows = [one for one in hosts.living(now) if host in ("", one.name)]
    names = [one.name for one in rows] or [host or settings.HOST]
    busy = Session.objects.filter(lease_until__isnull=False, host__in=names).count()
    return busy, sum(one.slots for one in rows) or _slots_of(names[0])


def _slots_of(name: str) -> int:
    known = Host.objects.filter(name=name).values_list("slots", flat=True).first()
    return known or settings.SLOTS
