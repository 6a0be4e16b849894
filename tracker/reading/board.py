"""The board: columns by state, filters, counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from django.db.models import F, QuerySet

from tracker.engine.citations import requirement_key
from tracker.engine.rules import BLOCKING, WORK, Kind, State, Verb
from tracker.models import Bug, Move, Project
from tracker.pages.atoms import Filter, Link
from tracker.pages.board import BugCard, Column
from tracker.pages.words import plural
from tracker.reading import entries
from tracker.reading.reader import Reader

RECENT = timedelta(hours=24)
CARDS = 60
CLOSED_CARDS = 8
CLOSED_MOST = 300
SHOWS = ("blocks", "person")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the query string asks for. show: "", "blocks" or "person". cites: "R-12" or "".

    all_closed: closed entries of any age. more: no cut at CARDS.
    """

    show: str = ""
    cites: str = ""
    all_closed: bool = False
    more: bool = False

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Wanted:
        show = query.get("show", "")
        pointer = requirement_key(query.get("cites", ""))
        return cls(
            show=show if show in SHOWS else "",
            cites=f"R-{pointer.number}" if pointer else "",
            all_closed=query.get("closed") == "all",
            more=query.get("more") == "all",
        )

    def query(self, **changes: str) -> str:
        given = {"show": self.show, "cites": self.cites} | changes
        return "?" + urlencode({name: value for name, value in given.items() if value})


@dataclass(frozen=True, slots=True)
class Board:
    """live: entries that are not closed, that the query asks for. blocking: keys in the way of
    done, whatever the query asks for."""

    columns: tuple[Column, ...]
    filters: tuple[Filter, ...]
    blocking: tuple[Bug, ...]
    is_empty: bool


def board(
    project: Project, wanted: Wanted, reader: Reader, *, base: str, current: str = ""
) -> Board:
    """Read the board. base: URL of the tracker. current: key of the entry open beside it."""
    live = _read(Bug.objects.filter(project=project).exclude(state=State.CLOSED.value))
    blocking = tuple(bug for bug in live if is_blocking(bug))
    shown = [bug for bug in live if _fits(bug, wanted)]
    closed, closed_count = _closed(project, wanted, reader)
    told = _Teller(reader, base, current, _last_moves([*shown, *closed]))
    columns = [
        _column(name, icon, tone, [bug for bug in shown if holds(bug)], told, wanted)
        for name, icon, tone, holds in _COLUMNS
    ]
    if not wanted.show:
        columns.append(_closed_column(closed, closed_count, told, wanted))
    return Board(
        columns=tuple(columns),
        filters=_filters(live, blocking, wanted),
        blocking=blocking,
        is_empty=not live and not closed and not Bug.objects.filter(project=project).exists(),
    )


def is_blocking(bug: Bug) -> bool:
    """Return whether it stands in the way of done as a blocker (RULES 4)."""
    return bug.kind in WORK and bug.state in BLOCKING


def counted(bugs: Iterable[Bug]) -> list[str]:
    """Return "2 code bugs", "1 task"."""
    kinds = [bug.kind for bug in bugs]
    words = {Kind.CODE: "code bug", Kind.TASK: "task", Kind.SPEC: "spec bug"}
    return [plural(kinds.count(kind), word) for kind, word in words.items() if kind in kinds]


_COLUMNS: tuple[tuple[str, str, str, Callable[[Bug], bool]], ...] = (
    (
        "Open",
        "queued",
        "off",
        lambda bug: bug.state in (State.OPEN, State.REOPENED, State.STALE, State.BLOCKED),
    ),
    ("In progress", "run", "run", lambda bug: bug.state == State.IN_PROGRESS),
    ("Fixed, to confirm", "eye", "wait", lambda bug: bug.state == State.FIXED),
)


def _read(found: QuerySet[Bug]) -> list[Bug]:
    return list(
        found.select_related("requirement__current", "version", "filed_by", "started_by")
        .defer("text", "contradiction", "quote", "requirement__current__text", "version__text")
        .order_by("priority", "id")
    )


def _fits(bug: Bug, wanted: Wanted) -> bool:
    if wanted.cites and (bug.requirement is None or bug.requirement.key != wanted.cites):
        return False
    if wanted.show == "blocks":
        return is_blocking(bug)
    return wanted.show != "person" or entries.needs_person(bug)


def _closed(project: Project, wanted: Wanted, reader: Reader) -> tuple[list[Bug], int]:
    """Return closed entries, last closed first, cut; and how many there are."""
    if wanted.show:
        return [], 0
    moves = Move.objects.filter(
        project=project, to_state=State.CLOSED.value, bug__state=State.CLOSED.value
    ).exclude(from_state=State.CLOSED.value)
    if not wanted.all_closed:
        moves = moves.filter(at__gt=reader.now - RECENT)
    if wanted.cites:
        pointer = requirement_key(wanted.cites)
        moves = moves.filter(bug__requirement__number=pointer.number if pointer else 0)
    ids = list(dict.fromkeys(moves.order_by("-id").values_list("bug_id", flat=True)))
    cut = ids[: CLOSED_MOST if wanted.all_closed else CLOSED_CARDS]
    found = {bug.pk: bug for bug in _read(Bug.objects.filter(pk__in=cut))}
    return [found[pk] for pk in cut if pk in found], len(ids)


def _last_moves(bugs: list[Bug]) -> dict[int, Move]:
    """Return the last move of state of each entry."""
    moves = (
        Move.objects.filter(bug__in=[bug.pk for bug in bugs])
        .exclude(from_state=F("to_state"))
        .select_related("actor")
        .order_by("id")
    )
    return {move.bug_id: move for move in moves if move.bug_id is not None}


@dataclass(frozen=True, slots=True)
class _Teller:
    reader: Reader
    base: str
    current: str
    last: Mapping[int, Move]

    def card(self, bug: Bug) -> BugCard:
        pointer = entries.cites(bug)
        is_spec = bug.kind == Kind.SPEC
        return BugCard(
            key=bug.key,
            kind=entries.kind_word(bug),
            kind_icon=entries.kind_icon(bug),
            title=bug.title,
            href=f"{self.base}{bug.key}/",
            priority="" if is_spec else bug.priority,
            cites="" if bug.state == State.STALE else pointer,
            cites_title=f"Cites {pointer}",
            tags=entries.tags(bug, shows_state=True),
            note=self.note(bug),
            note_tone="run" if bug.state == State.IN_PROGRESS else "",
            is_current=bug.key == self.current,
        )

    def note(self, bug: Bug) -> str:
        """Return who and when of what last happened to it."""
        move = self.last.get(bug.pk)
        if bug.state == State.IN_PROGRESS and bug.started_by:
            return self.reader.who(bug.started_by, bug.started_reference)
        if bug.state == State.STALE and bug.requirement:
            return _stale(bug)
        if move is None or (bug.state == State.OPEN and move.verb == Verb.FILE):
            return self._signed(self.reader.who(bug.filed_by, bug.reference), bug.created_at)
        who = self.reader.who(move.actor, move.reference)
        if bug.state == State.FIXED:
            return f"{bug.commit[:7]}, {self.reader.iteration(move.reference)}"
        if bug.is_dismissed:
            return self._signed(f"by {who}", move.at)
        if bug.state == State.CLOSED and not move.actor.is_person:
            return f"confirmed, {self.reader.iteration(move.reference)}"
        said = {State.CLOSED: f"closed by {who}", State.BLOCKED: who}
        return self._signed(said.get(State(bug.state), who), move.at)

    def _signed(self, who: str, at: object) -> str:
        return f"{who}, {self.reader.when(at)}" if "it. " not in who else who  # type: ignore[arg-type]


def _stale(bug: Bug) -> str:
    if bug.requirement is None or bug.requirement.current is None:
        return ""
    if bug.requirement.removed_at is not None:
        return f"{bug.requirement.key} was removed"
    return f"{bug.requirement.key} is v{bug.requirement.current.number} now"


def _column(
    name: str, icon: str, tone: str, bugs: list[Bug], told: _Teller, wanted: Wanted
) -> Column:
    ordered = sorted(bugs, key=lambda bug: (bug.kind == Kind.SPEC, bug.priority, bug.pk))
    cut = ordered if wanted.more else ordered[:CARDS]
    more = None
    if len(cut) < len(ordered):
        more = Link(f"{len(ordered) - len(cut):,} more", wanted.query(more="all"))
    return Column(
        name=name,
        icon=icon,
        tone=tone,
        count=len(ordered),
        cards=tuple(told.card(bug) for bug in cut),
        more=more,
    )


def _closed_column(bugs: list[Bug], count: int, told: _Teller, wanted: Wanted) -> Column:
    more = None
    if not wanted.all_closed:
        left = count - len(bugs)
        text = f"{left:,} more" if left > 0 else "Earlier ones"
        more = Link(text, wanted.query(closed="all"))
    elif count > len(bugs):
        more = Link("Only those of the last 24 h", wanted.query())
    return Column(
        name="Closed" if wanted.all_closed else "Closed in 24 h",
        icon="ok",
        tone="ok",
        count=count,
        cards=tuple(told.card(bug) for bug in bugs),
        more=more,
    )


def _filters(live: list[Bug], blocking: tuple[Bug, ...], wanted: Wanted) -> tuple[Filter, ...]:
    person = sum(entries.needs_person(bug) for bug in live)
    shown = [
        Filter(text="Everything", href="?", is_current=not wanted.show and not wanted.cites),
        Filter(
            text="Blocks done",
            href=wanted.query(show="blocks"),
            count=len(blocking),
            is_current=wanted.show == "blocks",
        ),
        Filter(
            text="Needs a person",
            href=wanted.query(show="person"),
            count=person,
            is_current=wanted.show == "person",
        ),
    ]
    if wanted.cites:
        shown.append(
            Filter(
                text=f"Cites {wanted.cites}", href=wanted.query(show=""), is_current=not wanted.show
            )
        )
    return tuple(shown)
