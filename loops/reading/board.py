"""The tracker's board in words: what stands between the project's loop and done."""

from __future__ import annotations

from collections.abc import Sequence

from loops.reading import effects
from loops.reading.effects import Loop
from tracker.engine.rules import BLOCKING, UNJUDGED, WORK, State
from tracker.models import Bug, Project
from tracker.pages.atoms import Act, Empty
from tracker.pages.board import BoardPage
from tracker.pages.filing import EntryPart, FilingPart
from tracker.reading import board as reading
from tracker.reading.board import Wanted, counted
from tracker.reading.reader import Reader
from tracker.reading.spec import Urls
from tracker.reading.standing import coverage, standings
from tracker.scope import bugs_in


def board_page(
    project: Project,
    wanted: Wanted,
    reader: Reader,
    urls: Urls,
    *,
    can_act: bool,
    filing: FilingPart | None = None,
    entry: EntryPart | None = None,
) -> BoardPage:
    shown = reading.board(
        project, wanted, reader, base=urls.tracker, current=entry.key if entry else ""
    )
    loop = effects.active(effects.loops_of(project))
    return BoardPage(
        project=project.name,
        index=urls.tracker,
        sentence=headline(project, loop, shown.blocking),
        session=loop.link if loop else None,
        filters=() if shown.is_empty else shown.filters,
        columns=shown.columns,
        new=f"{urls.tracker}{wanted.query(file='task')}" if can_act else "",
        part_url=f"{urls.tracker}{entry.key}/parts/" if entry else f"{urls.tracker}parts/",
        coverage=coverage(standings(project)),
        filing=filing,
        entry=entry,
        empty=_empty(urls, can_act=can_act) if shown.is_empty and entry is None else None,
    )


def headline(project: Project, loop: Loop | None, blocking: Sequence[Bug]) -> str:
    """Return the sentence that opens the board; with a loop its key follows, so it ends in ":"."""
    if loop is None:
        if not blocking:
            return (
                "No loop is running in this project, and no entry would keep one from being done."
            )
        what = f"{_joined(counted(blocking))} {_verb(len(blocking))} the next one"
        return f"No loop is running in this project. {what} from being done."
    found = (
        Bug.objects.filter(bugs_in(loop.scope, loop.ref), project=project)
        .filter(kind__in=sorted(WORK))
        .exclude(state=State.CLOSED.value)
        .only("kind", "state")
    )
    blockers = [bug for bug in found if bug.state in BLOCKING]
    to_judge = sum(bug.state in UNJUDGED for bug in found)
    blocked = sum(bug.state == State.BLOCKED for bug in found)
    parts = counted(blockers)
    parts += [f"{to_judge} to judge"] if to_judge else []
    parts += [f"{blocked} blocked"] if blocked else []
    if not parts:
        return "No entry keeps the loop from being done:"
    total = len(blockers) + to_judge + blocked
    return f"{_joined(parts)} {_verb(total)} the loop from being done:"


def _verb(count: int) -> str:
    return "keeps" if count == 1 else "keep"


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _empty(urls: Urls, *, can_act: bool) -> Empty:
    acts = (
        Act(text="File a task", href=f"{urls.tracker}?file=task", primary=True),
        Act(text="Write a requirement", href=f"{urls.spec}new/"),
    )
    return Empty(
        icon="board",
        fact="Nothing is filed yet",
        sentence="A reviewer files code bugs here, each with the requirement it contradicts. "
        "Tasks are filed by people only.",
        acts=acts if can_act else (),
    )
