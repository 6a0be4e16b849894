"""An iteration's output as numbered lines, from the pieces in which it is kept.

Lines are counted by the database, piece by piece and once only: a process remembers where lines
end, so a page reads the text of the lines that it shows and no more.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from django.db.models import Value
from django.db.models.functions import Length, Replace, Right

from loops.agents.cli.lines import CALLED, FAILED, SAID
from loops.agents.output import plain
from loops.models import Iteration, OutputPiece
from loops.pages.output import LineKind, LogLine, fragments
from loops.reading import links

SHOWN = 2_000
LONGEST_LINE = 4_000  # characters
MOST_TEXT = 2_000_000  # characters read for one page, however long its lines are
_REMEMBERED = 64
# How the lines of coding CLIs begin (loops.agents.cli.lines).
_LOOKS: dict[str, tuple[LineKind, Literal["", "bad"]]] = {
    CALLED: ("cmd", ""),
    FAILED: ("out", "bad"),
    SAID: ("meta", ""),
}
_BREAK = Value("\n")
_BREAKS = Length("text") - Length(Replace("text", _BREAK, Value("")))


@dataclass
class _Index:
    """Per piece, in order: its number; line breaks and characters up to its end."""

    seqs: list[int] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    is_open: bool = False  # the last line has no line break yet

    @property
    def total(self) -> int:
        return (self.breaks[-1] if self.breaks else 0) + self.is_open

    def add(self, seq: int, breaks: int, size: int, last: str) -> None:
        self.seqs.append(seq)
        self.breaks.append(breaks + (self.breaks[-1] if self.breaks else 0))
        self.sizes.append(size + (self.sizes[-1] if self.sizes else 0))
        self.is_open = last != "\n"


_lock = threading.Lock()
_indexes: OrderedDict[tuple[int, datetime], _Index] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Window:
    """Some lines in order. total: lines there are. removed: marks of secrets in these lines."""

    lines: tuple[LogLine, ...]
    total: int
    removed: int = 0

    @property
    def first(self) -> int:
        return self.lines[0].number if self.lines else 1


def window(iteration: Iteration, *, before: int | None = None, most: int = SHOWN) -> Window:
    """Return the last lines before line `before` (None: the end), at most `most`."""
    index = _index(iteration)
    last = index.total if before is None else min(index.total, max(0, before - 1))
    if last < 1:
        return Window((), index.total)
    first = max(1, last - most + 1)
    end = min(bisect_left(index.breaks, last), len(index.seqs) - 1)
    start = bisect_left(index.breaks, first - 1) if first > 1 else 0
    floor = index.sizes[end] - MOST_TEXT
    start = min(max(start, bisect_left(index.sizes, floor)), end)
    known = index.breaks[start - 1] if start else 0
    pieces = OutputPiece.objects.filter(
        iteration=iteration, seq__gte=index.seqs[start], seq__lte=index.seqs[end]
    ).order_by("seq")
    lines = tuple(
        line
        for line in _lines(iteration, pieces.values_list("seq", "text", "at"), known)
        if first <= line.number <= last
    )
    removed = sum(part.is_removed for line in lines for part in line.fragments)
    return Window(lines, index.total, removed)


def _index(iteration: Iteration) -> _Index:
    key = (iteration.pk, iteration.started_at)
    with _lock:
        index = _indexes.setdefault(key, _Index())
        _indexes.move_to_end(key)
        while len(_indexes) > _REMEMBERED:
            _indexes.popitem(last=False)
        newest = index.seqs[-1] if index.seqs else 0
        rows = OutputPiece.objects.filter(iteration=iteration, seq__gt=newest).order_by("seq")
        for row in rows.values_list("seq", _BREAKS, Length("text"), Right("text", 1)):
            index.add(*row)
        return index


def _lines(iteration: Iteration, pieces: object, number: int) -> list[LogLine]:
    """A line carries the number and time of the piece that ends it, so that what comes after the
    newest line's piece is what is missing."""
    found: list[LogLine] = []
    begun = ""
    seq, at = 0, iteration.started_at
    for seq, text, at in pieces:  # type: ignore[attr-defined]
        *whole, rest = (begun + text).split("\n")
        for line in whole:
            number += 1
            found.append(_line(iteration, seq, number, at, line))
        begun = rest
    if begun:
        found.append(_line(iteration, seq, number + 1, at, begun))
    return found


def _line(iteration: Iteration, seq: int, number: int, at: datetime, raw: str) -> LogLine:
    text = plain(raw.rstrip("\r")).rpartition("\r")[2]
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]} … ({len(text) - LONGEST_LINE:,} more characters, see Raw)"
    kind, tone = _LOOKS.get(text[:2], ("out", ""))
    return LogLine(seq=seq, number=number, at=at, kind=kind, tone=tone, fragments=fragments(text))


def raw_url(iteration: Iteration) -> str:
    return f"{links.iteration(iteration.session_id, iteration.number)}raw/"
