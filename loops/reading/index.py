"""All loops: a row for each session, the projects, and what was spent since midnight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from loops.engine.values import EndReason, Outcome, Pattern, Role, State
from loops.models import LogEntry, Session
from loops.pages.index import LoopGroup, LoopRow, MiniStrip, ProjectRow, Spent, mini_strip
from loops.pages.limits import Budget, nearest
from loops.pages.states import role_word, state_chip
from loops.reading import links
from loops.reading.budgets import budgets, spent
from loops.reading.head import status_part, title
from loops.reading.proof import remains
from loops.reading.reading import Reading
from tracker.engine.rules import WORK
from tracker.engine.rules import State as BugState
from tracker.models import Project
from tracker.pages.atoms import Chip
from tracker.pages.words import age, moment, money, plural, quantity

ENDED_SHOWN = 50
_ORDER = (
    State.WAITING_HUMAN,
    State.RESUMING,
    State.RUNNING,
    State.PAUSING,
    State.STOPPING,
    State.PAUSED,
    State.QUEUED,
    State.DRAFT,
)


def readings(projects: QuerySet[Project]) -> tuple[list[Reading], list[Reading]]:
    """Return the active sessions, those that need a person first, and those that ended in 24 h."""
    sessions = Session.objects.select_related("project").filter(project__in=projects)
    live = [one.value for one in _ORDER]  # by name: what is not equal has no place in an index
    active = [Reading(one) for one in sessions.filter(state__in=live).order_by("-pk")]
    active.sort(key=lambda one: _ORDER.index(one.state))
    since = timezone.now() - timedelta(hours=24)
    recent = sessions.filter(ended_at__gte=since).order_by("-ended_at")[:ENDED_SHOWN]
    return active, [Reading(one) for one in recent]


def groups(
    active: Iterable[Reading], ended: Iterable[Reading], waits: dict[int, str]
) -> tuple[LoopGroup, ...]:
    """waits: by session, what it waits for ("E-7 · waits 12 min")."""
    rows = tuple(loop_row(one, waits=waits.get(one.session.pk, "")) for one in active)
    over = tuple(loop_row(one) for one in ended)
    return LoopGroup("Active", rows), LoopGroup("Ended in the last 24 h", over)


def loop_row(reading: Reading, *, waits: str = "") -> LoopRow:
    session = reading.session
    now, sub = _now(reading, waits)
    return LoopRow(
        ref=session.ref,
        title=title(session),
        href=links.session(session.pk),
        project=reading.project.name,
        chip=_chip(reading),
        now=now,
        sub=sub,
        remains=_remains(reading),
        cost=spent(reading),
        strip=_strip(reading),
        streak=getattr(reading.fold.state, "streak", None) if reading.fold else None,
        limit=_nearest(reading),
    )


def _remains(reading: Reading) -> str:
    is_judged = reading.session.pattern != Pattern.SINGLE_THREAD.value
    if is_judged and reading.fold is not None and not reading.is_ended:
        return "an OK verdict"
    return remains(reading)


def _chip(reading: Reading) -> Chip:
    """As on the session's page, but only what needs a person is filled (design/ui.md 1)."""
    chip = status_part(reading).chip
    is_loud = chip.tone == "bad" or state_chip(reading.state, end=reading.end).loud
    return replace(chip, loud=is_loud)


def _now(reading: Reading, waits: str) -> tuple[str, str]:
    """What it does, or why it ended; and the age of that."""
    session, running = reading.session, reading.running
    if reading.is_ended:
        ended = moment(reading.local(session.ended_at), reading.now) if session.ended_at else ""
        return _how_it_ended(reading), f"Ended {ended}"
    if reading.state is State.WAITING_HUMAN:
        return waits or "Waits for a decision", "Clocks and spending stopped"
    evidence = status_part(reading)
    said = evidence.evidence
    if evidence.evidence_at is not None:
        said = f"{said} {age(evidence.evidence_at, reading.now)} ago"
    if running is not None:
        return f"{role_word(Role(running.role))} · iteration {running.number}", said
    return said, _after(reading)


def _after(reading: Reading) -> str:
    newest = reading.newest
    return f"After iteration {newest.number}" if newest else "Nothing has run"


def _how_it_ended(reading: Reading) -> str:
    count = reading.session.iteration_count
    if reading.end is EndReason.DONE:
        return f"Proved at iteration {count}"
    if reading.end is EndReason.NO_OP:
        return "Nothing had to be done"
    return reading.session.end_sentence


def _strip(reading: Reading) -> MiniStrip | None:
    turns = [
        (Role(one.role), Outcome(one.outcome) if one.outcome else None)
        for one in reading.iterations
    ]
    return mini_strip(turns, is_waiting=reading.state is State.WAITING_HUMAN) if turns else None


def _nearest(reading: Reading) -> Budget | None:
    found = nearest(budgets(reading))
    unit = {"Iterations": " it.", "Without a change": " idle"}.get(found.name, "") if found else ""
    if found is None or not unit:
        return found
    return replace(found, most=f"{found.most}{unit}")


def project_rows(projects: QuerySet[Project]) -> tuple[ProjectRow, ...]:
    spec = Q(
        requirements__removed_at=None, requirements__session_ref="", requirements__isnull=False
    )
    work = Q(bugs__kind__in=sorted(WORK)) & ~Q(bugs__state=BugState.CLOSED.value)
    counted = projects.annotate(
        needs=Count("requirements", filter=spec, distinct=True),
        entries=Count("bugs", filter=work, distinct=True),
    )
    return tuple(
        ProjectRow(
            name=one.name,
            facts=_project_facts(one.needs, one.entries),
            tracker=links.tracker(one),
            spec=links.spec(one),
        )
        for one in counted
    )


def _project_facts(needs: int, entries: int) -> str:
    if not needs:
        return "no requirement yet"
    return f"{plural(needs, 'requirement')}, {plural(entries, 'open entry', 'open entries')}"


def spent_today(projects: QuerySet[Project]) -> Spent | None:
    """Since local midnight; None when nothing reported a price."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    evidence = "payload__evidence__"
    rows = LogEntry.objects.filter(
        kind="recorded",
        at__gte=midnight,
        session__project__in=projects,
        seq__gt=F("session__own_log_after"),  # what a fork copied was spent by its parent
    ).values_list(*(evidence + name for name in ("role", "money", "tokens")))
    by_role: dict[str, float] = {}
    free, tokens = 0, 0
    for role, dollars, used in rows:
        if dollars is None:
            free, tokens = free + 1, tokens + (used or 0)
        else:
            by_role[role] = by_role.get(role, 0.0) + dollars
    if not by_role:
        return None
    note = (
        f"{plural(free, 'iteration')} reported no price. They are not in this sum." if free else ""
    )
    if tokens:
        note = f"{quantity(tokens)} tokens are not priced. They are not in this sum."
    return Spent(
        total=money(sum(by_role.values())),
        rows=tuple((role_word(Role(role)), money(dollars)) for role, dollars in by_role.items()),
        note=note,
    )
