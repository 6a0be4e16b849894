"""All loops: the answer in one sentence, what waits for a person, then every loop."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from escalations.models import Escalation
from escalations.reading import queue, words
from loops.engine.values import State
from loops.models import Session
from loops.pages.index import IndexPage, QuestionRow
from loops.reading import index, links
from loops.reading.found import search_part
from loops.reading.head import title
from loops.reading.reading import Reading
from loops.search import Query
from tracker.models import Project
from tracker.pages.atoms import Act, Empty, Link
from tracker.pages.words import plural

_RUNS = (State.RUNNING, State.PAUSING, State.RESUMING)


def index_page(
    projects: QuerySet[Project], *, may_set_up: bool, query: Query | None = None
) -> IndexPage:
    """projects: those that the person sees. may_set_up: may make projects and the demo. query: what
    is looked for among all sessions."""
    active, ended = index.readings(projects)
    waiting = queue.open_in_order(projects)
    return IndexPage(
        headline=_headline(active, waiting),
        lead=_lead(active, waiting),
        groups=index.groups(active, ended, _waits(waiting)),
        questions=tuple(_question(one) for one in waiting),
        projects=index.project_rows(projects),
        parts_url="/parts/",
        new_session=links.NEW_SESSION,
        new_project=links.NEW_PROJECT,
        queue=Link("Open queue", queue.HREF),
        search=search_part(projects, query or Query()),
        spent=index.spent_today(projects),
        empty=_empty(projects, may_set_up=may_set_up),
    )


def _headline(active: list[Reading], waiting: list[Escalation]) -> str:
    held = sum(one.state is State.WAITING_HUMAN for one in active)
    running = sum(one.state in _RUNS for one in active)
    runs = f"{plural(running, 'loop')} {'is' if running == 1 else 'are'} running"
    if held:
        also = f"{running or 'none'} {'is' if running < 2 else 'are'} running"
        return f"{plural(held, 'loop')} {_verb(held, 'wait')} for a decision, {also}"
    if waiting:
        asked = f"{plural(len(waiting), 'question')} {'is' if len(waiting) == 1 else 'are'} open"
        return f"No loop stands still, {asked}"
    return f"Nobody is waiting for you, {runs}" if running else "Nobody is waiting for you"


def _verb(count: int, word: str) -> str:
    return f"{word}s" if count == 1 else word


def _lead(active: list[Reading], waiting: list[Escalation]) -> str:
    if not waiting:
        return _others(active)
    now = timezone.localtime()
    longest = min(waiting, key=lambda one: one.created_at)
    blocking = sum(one.blocking for one in waiting)
    asked = f"{plural(len(waiting), 'question')} {'is' if len(waiting) == 1 else 'are'} open"
    held = f"{blocking} of them {_verb(blocking, 'hold')} a loop up." if blocking else ""
    if len(waiting) == 1:
        held = "It holds a loop up." if blocking else "Its loop goes on meanwhile."
        return f"1 question is open for {queue.waited(longest, now)}. {held}"
    return f"{asked}, the longest for {queue.waited(longest, now)}. {held}".strip()


def _others(active: list[Reading]) -> str:
    """What else there is when nothing waits for a person."""
    counts = [
        (sum(one.state is state for one in active), word)
        for state, word in (
            (State.QUEUED, "queued"),
            (State.PAUSED, "paused"),
            (State.DRAFT, "not started"),
        )
    ]
    said = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"{said}." if said else "The next question appears here by itself."


def _waits(waiting: list[Escalation]) -> dict[int, str]:
    """By session: the first question that holds it up."""
    now = timezone.localtime()
    found: dict[int, str] = {}
    for one in waiting:
        if one.blocking:
            found.setdefault(one.session_id, f"{one} · waits {queue.waited(one, now)}")
    return found


def _question(one: Escalation) -> QuestionRow:
    facts = f"{one.session.project.name} · {title(one.session)} · {words.kind(one).lower()}"
    return QuestionRow(
        ref=str(one),
        title=one.question,
        facts=facts if one.blocking else f"{facts}, other work is left",
        href=f"{queue.HREF}{one.pk}/",
        waited=queue.waited(one, timezone.localtime()),
        blocks=one.blocking,
    )


def _empty(projects: QuerySet[Project], *, may_set_up: bool) -> Empty | None:
    if Session.objects.filter(project__in=projects).exists():
        return None
    if not may_set_up and not projects.exists():
        sentence = "An admin can give you a role in a project; its loops appear here then."
        return Empty(icon="loops", fact="You see no project yet", sentence=sentence)
    acts = (
        [Act(text="Try the demo", post=links.DEMO, icon="play", primary=True)] if may_set_up else []
    )
    if projects.exists():
        acts.append(Act(text="New session", href=links.NEW_SESSION))
    if may_set_up:
        acts.append(Act(text="New project", href=links.NEW_PROJECT))
    return Empty(
        icon="loops",
        fact="No loop has run yet",
        sentence="A loop needs a repository and an agent. The demo needs neither: it brings both "
        "along, asks you a question within minutes and costs nothing.",
        acts=tuple(acts),
    )
