"""The history browser and the replay of one session (loops/history.html, loops/replay.html)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from loops.pages.limits import Budget
from tracker.pages.atoms import Act, CheckLine, Chip, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLine:
    """One entry of the log. chip: its kind, or the outcome of an iteration. is_copied: the parent
    of a fork wrote it. is_here: the entry that the page stands at. at: in the reader's zone."""

    seq: int
    at: datetime
    chip: Chip
    text: str
    more: str = ""
    href: str = ""
    is_copied: bool = False
    is_here: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DuePart:
    """What the rules said next. words: "Reviewer", "Ask a person: limit"; rule: its name, text: the
    rule in words, reason: why it was due; ran: what then ran, as it was recorded."""

    words: str
    rule: str
    text: str
    reason: str
    ran: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePart:
    """The state after one iteration. streak: None in patterns without one. notes: sentences that
    wait for the next prompts, each with whom it is for."""

    due: DuePart
    why: tuple[CheckLine, ...]
    budgets: tuple[Budget, ...]
    bound: str
    notes: tuple[tuple[str, str], ...] = ()
    streak: int | None = None
    needed: int = 2

    @property
    def dots(self) -> tuple[bool, ...]:
        return tuple(index < (self.streak or 0) for index in range(self.needed))


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage:
    """number: the iteration it stands at, 0 before the first ended. state: None then, and where the
    log cannot be folded (fault says so). previous, next: neighbours. older, newest: other parts of
    the log. post: address of the form that jumps."""

    ref: str
    title: str
    session: Link
    number: int
    count: int
    headline: str
    sentence: str
    post: str
    entries: tuple[EntryLine, ...]
    entry_count: int
    acts: tuple[Act, ...]
    chip: Chip | None = None
    iteration: Link | None = None
    state: StatePart | None = None
    fault: str = ""
    previous: Link | None = None
    next: Link | None = None
    older: str = ""
    newest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRow:
    """where: "12", or "The end"."""

    where: str
    href: str
    recorded: str
    recorded_rule: str
    recorded_chip: Chip | None
    now: str
    now_rule: str
    now_chip: Chip | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPage:
    """left_out: differences beyond those shown."""

    ref: str
    title: str
    session: Link
    headline: str
    sentence: str
    rows: tuple[ReplayRow, ...]
    acts: tuple[Act, ...]
    left_out: int = 0
