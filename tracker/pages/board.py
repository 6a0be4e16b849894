"""The tracker's board (templates/tracker/board.html)."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.pages.atoms import Chip, Empty, Filter, Link
from tracker.pages.filing import EntryPart, FilingPart


@dataclass(frozen=True, slots=True, kw_only=True)
class BugCard:
    """priority: "P0".."P3", "" for spec bugs. cites: "R-12 v4", cites_title in full.

    tags: "Citation stale", "People only". note: who and when; note_tone colours it ("run").
    """

    key: str
    kind: str
    kind_icon: str
    title: str
    href: str
    priority: str = ""
    cites: str = ""
    cites_title: str = ""
    tags: tuple[Chip, ...] = ()
    note: str = ""
    note_tone: str = ""
    is_current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """count: all entries of the column, also those that are not shown. empty: said when none."""

    name: str
    icon: str
    tone: str
    count: int
    cards: tuple[BugCard, ...]
    empty: str = "None"
    more: Link | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A piece of the coverage bar: x and width of 100."""

    x: float
    width: float
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many requirements are proved, have open bugs, are not proved yet. word: "proved", or
    "reviewed" where the project made marks advisory (RULES 4)."""

    proved: int
    with_bugs: int
    rest: int
    word: str = "proved"

    @property
    def total(self) -> int:
        return self.proved + self.with_bugs + self.rest

    @property
    def shares(self) -> tuple[Share, ...]:
        return shares(((self.proved, "c-ok"), (self.with_bugs, "c-bad"), (self.rest, "c-rest")))


def shares(parts: tuple[tuple[int, str], ...], gap: float = 0.5) -> tuple[Share, ...]:
    """Return adjoining pieces of a bar of 100, as wide as their counts; empty ones are left out."""
    total = sum(count for count, _tone in parts)
    pieces: list[Share] = []
    at = 0.0
    for count, tone in parts:
        if not count:
            continue
        width = 100 * count / total
        pieces.append(Share(round(at, 1), round(max(0.5, width - gap), 1), tone))
        at += width
    return tuple(pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPage:
    """sentence: what stands between the loop and done; session: the loop it speaks of, linked at
    the end of the sentence. new: URL of the filing form. filing (only when it
    was asked for) or entry fill the right panel; on small screens instead of the board."""

    project: str
    index: str
    sentence: str
    filters: tuple[Filter, ...]
    columns: tuple[Column, ...]
    new: str
    part_url: str
    session: Link | None = None
    coverage: Coverage | None = None
    filing: FilingPart | None = None
    entry: EntryPart | None = None
    empty: Empty | None = None
