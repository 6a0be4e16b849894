"""All loops (templates/loops/index.html)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loops.engine.values import Outcome, Role
from loops.pages.limits import Budget
from loops.pages.states import outcome_chip
from tracker.pages.atoms import Chip, Empty, Link

MINI_SLOTS, MINI_STEP = 22, 6
_TALL, _MIDDLE, _LOW, _SMALL = 16, 11, 7, 4


@dataclass(frozen=True, slots=True)
class MiniBar:
    x: int
    y: int
    height: int
    tone: str


@dataclass(frozen=True, slots=True)
class MiniStrip:
    """The last 22 iterations, newest at the right; height also codes exceptions."""

    bars: tuple[MiniBar, ...]
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRow:
    """now: what it does, or why it ended; sub: its evidence's age. streak: None without one.

    remains: what keeps it from done, short ("2 bugs, 1 task"). limit: the nearest one.
    """

    ref: str
    title: str
    href: str
    project: str
    chip: Chip
    now: str
    sub: str
    remains: str
    cost: str
    strip: MiniStrip | None = None
    streak: int | None = None
    needed: int = 2
    limit: Budget | None = None

    @property
    def dots(self) -> tuple[bool, ...]:
        return tuple(index < (self.streak or 0) for index in range(self.needed))


@dataclass(frozen=True, slots=True)
class LoopGroup:
    name: str
    rows: tuple[LoopRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRow:
    """A session that a search found. now: why it ended, or since when it is there."""

    ref: str
    title: str
    href: str
    project: str
    chip: Chip
    now: str
    sub: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPart:
    """The search over all sessions. states, patterns, projects: (value, word) to choose from. rows:
    what was found, None = nothing was looked for. more: address of the next page."""

    words: str = ""
    state: str = ""
    pattern: str = ""
    project: str = ""
    states: tuple[tuple[str, str], ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()
    projects: tuple[tuple[str, str], ...] = ()
    rows: tuple[FoundRow, ...] | None = None
    is_first: bool = True
    first: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """An open question: waited: how long it has waited. blocks: its session stands still."""

    ref: str
    title: str
    facts: str
    href: str
    waited: str
    blocks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRow:
    name: str
    facts: str
    tracker: str
    spec: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Since local midnight. rows: role names and their cost. note: what is not in the sum."""

    total: str
    rows: tuple[tuple[str, str], ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPage:
    """headline: the answer in one sentence. lead: what is behind it. empty: no loop has run."""

    headline: str
    lead: str
    groups: tuple[LoopGroup, ...]
    questions: tuple[QuestionRow, ...]
    projects: tuple[ProjectRow, ...]
    parts_url: str
    new_session: str
    new_project: str
    queue: Link
    search: SearchPart = SearchPart()
    spent: Spent | None = None
    empty: Empty | None = None

    @property
    def loop_count(self) -> int:
        return sum(len(group.rows) for group in self.groups)


def mini_strip(
    turns: Sequence[tuple[Role, Outcome | None]], *, is_waiting: bool = False
) -> MiniStrip:
    """Return the strip of the last turns (role, outcome; None = runs now), oldest first.

    is_waiting: the newest bar is followed by one for the person that the loop waits for.
    """
    looks = [_mini(outcome) for _role, outcome in turns]
    if is_waiting:
        looks.append(("c-wait", _TALL))
    shown = looks[-MINI_SLOTS:]
    first = MINI_SLOTS - len(shown)
    bars = tuple(
        MiniBar((first + index) * MINI_STEP, 17 - height, height, tone)
        for index, (tone, height) in enumerate(shown)
    )
    newest = "waiting for a person" if is_waiting else _newest(turns)
    return MiniStrip(bars, f"Last {len(shown)} iterations, newest: {newest}")


def _newest(turns: Sequence[tuple[Role, Outcome | None]]) -> str:
    return outcome_chip(turns[-1][1]).word.lower() if turns else "none"


def _mini(outcome: Outcome | None) -> tuple[str, int]:
    match outcome:
        case None:
            return "c-run", _TALL
        case Outcome.REVIEW_BUGS:
            return "c-bad", _TALL
        case Outcome.REVIEW_CLEAN:
            return "c-ok", _TALL
        case Outcome.DONE:
            return "c-ok", _MIDDLE
        case Outcome.REJECTED:
            return "c-lim", _MIDDLE
        case Outcome.CONFLICT:
            return "c-warn", _MIDDLE
        case Outcome.COACH | Outcome.PLAN:
            return "c-acc", _SMALL
        case Outcome.STALL | Outcome.REVIEW_STALL | Outcome.INTERRUPTED:
            return "c-hatch", _SMALL
        case _:
            return "c-work", _LOW
