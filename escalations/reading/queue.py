"""The queue: what waits for a person, and what was decided lately."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from escalations.models import Escalation, Status
from escalations.pages.queue import QueueFact, QueueItem, QueuePart
from escalations.reading import words
from tracker.models import Project
from tracker.pages.atoms import Chip, Filter
from tracker.pages.words import duration, moment

HREF = "/queue/"
DECIDED_SHOWN = 50


def visible(projects: QuerySet[Project]) -> QuerySet[Escalation]:
    found = Escalation.objects.filter(session__project__in=projects)
    return found.select_related("session__project", "decision__by")


def open_in_order(projects: QuerySet[Project]) -> list[Escalation]:
    """Blocking ones first, then the longest wait first."""
    found = visible(projects).filter(status=Status.OPEN.value)
    return list(found.order_by("-blocking", "created_at", "pk"))


def queue_part(
    projects: QuerySet[Project], *, current: int | None = None, show: str = "open"
) -> QueuePart:
    """show: "open" or "decided". current: id of the one on view."""
    now = timezone.localtime()
    waiting = open_in_order(projects)
    closed = visible(projects).exclude(status=Status.OPEN.value).order_by("-closed_at", "-pk")
    shown = closed[:DECIDED_SHOWN] if show == "decided" else waiting
    return QueuePart(
        facts=_facts(waiting, closed, now),
        filters=(
            Filter(text="Open", href=HREF, count=len(waiting), is_current=show != "decided"),
            Filter(
                text="Decided",
                href=f"{HREF}?show=decided",
                count=closed.count(),
                is_current=show == "decided",
            ),
        ),
        items=tuple(_item(one, now, show, current) for one in shown),
        open_count=len(waiting),
        href=HREF,
    )


def _facts(
    waiting: list[Escalation], closed: QuerySet[Escalation], now: datetime
) -> tuple[QueueFact, ...]:
    blocking = sum(one.blocking for one in waiting)
    facts = [QueueFact(str(len(waiting)), "open")]
    if blocking:
        after = "holds a loop up" if blocking == 1 else "hold loops up"
        facts.append(QueueFact(str(blocking), after, tone="warn"))
    if waiting:
        longest = now - min(one.created_at for one in waiting)
        facts.append(QueueFact(duration(longest.total_seconds()), before="longest wait"))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today = closed.filter(status=Status.DECIDED.value, closed_at__gte=midnight).count()
    facts.append(QueueFact(str(today), before="decided today"))
    return tuple(facts)


def _item(one: Escalation, now: datetime, show: str, current: int | None) -> QueueItem:
    suffix = "?show=decided" if show == "decided" else ""
    return QueueItem(
        ref=str(one),
        title=one.question,
        kind=words.kind(one),
        href=f"{HREF}{one.pk}/{suffix}",
        waited=waited_chip(one, now),
        facts=f"S-{one.session_id}, {one.session.project.name}",
        is_current=one.pk == current,
    )


def waited_chip(one: Escalation, now: datetime) -> Chip:
    """How long it has waited, or how it was settled."""
    if one.status == Status.OPEN.value:
        spent = waited(one, now)
        if one.blocking:
            return Chip("wait", "person", f"Waits {spent}")
        return Chip("off", "clock", f"{spent}, loop goes on")
    at = moment(timezone.localtime(one.closed_at), now) if one.closed_at else ""
    if one.status == Status.SUPERSEDED.value:
        return Chip("off", "stopped", f"Fell away {at}")
    return Chip("ok", "check", f"Decided {at}")


def waited(one: Escalation, now: datetime) -> str:
    """How long it has waited so far, in words."""
    return duration(max(timedelta(0), now - one.created_at).total_seconds())
