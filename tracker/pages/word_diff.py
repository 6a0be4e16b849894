"""What changed between two texts, word by word. Pure: standard library only.

Comparing is quadratic at worst, so it is bounded: equal lines at both ends are set aside first, and
a rest that is still too large is counted instead of shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

LINES_COMPARED = 1_000
LINES_SHOWN = 400
PAIRS_ALIGNED = 4_000
CHARACTERS_SHOWN = 60_000
LINE_CHARACTERS = 2_000
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
Opcodes = list[tuple[str, int, int, int, int]]


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text that stayed ("same"), was added or was removed."""

    kind: Literal["same", "added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line of a text as shown, with its number from 1."""

    number: int
    text: str
    is_heading: bool = False


def word_diff(old: str, new: str) -> tuple[tuple[Span, ...], ...]:
    """Return the changed lines of `new` (and removed ones of `old`) as spans; equal lines are left
    out, so an empty result means that nothing changed."""
    if old == new:
        return ()
    before, after = old.split("\n"), new.split("\n")
    lines: list[tuple[Span, ...]] = []
    for kind, a1, a2, b1, b2 in _line_changes(before, after):
        if kind != "equal":
            lines += _shown(before[a1:a2], after[b1:b2])
    return tuple(lines)


def _line_changes(before: list[str], after: list[str]) -> Opcodes:
    """Return difflib's opcodes over lines; a changed middle of too many is one replacement."""
    shortest = min(len(before), len(after))
    head = 0
    while head < shortest and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shortest - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    a2, b2 = len(before) - tail, len(after) - tail
    middle = before[head:a2], after[head:b2]
    if len(middle[0]) + len(middle[1]) > LINES_COMPARED:
        changes: Opcodes = [("replace", head, a2, head, b2)]
    else:
        changes = [
            (kind, head + i1, head + i2, head + j1, head + j2)
            for kind, i1, i2, j1, j2 in SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
        ]
    return changes


def _shown(old: list[str], new: list[str]) -> list[tuple[Span, ...]]:
    """Show a change word by word, a larger one line by line, and count what nobody would read."""
    size = sum(map(len, old)) + sum(map(len, new))
    if size <= CHARACTERS_SHOWN and len(old) + len(new) <= LINES_SHOWN:
        if len(old) * len(new) <= PAIRS_ALIGNED:
            return _aligned(old, new)
        gone = [Span("removed", line) for line in old if line.strip()]
        come = [Span("added", line) for line in new if line.strip()]
        return [(span,) for span in (*gone, *come)]
    counts = [(Span("removed", _counted(old)),), (Span("added", _counted(new)),)]
    return [line for line, lines in zip(counts, (old, new), strict=True) if lines]


def _counted(lines: list[str]) -> str:
    size = sum(map(len, lines))
    noun = "line" if len(lines) == 1 else "lines"
    return f"{len(lines):,} {noun} of {size:,} characters, too much to show here"


def _aligned(old: list[str], new: list[str]) -> list[tuple[Span, ...]]:
    """Show each new line beside the first old line that resembles it, in the order of the text."""
    lines: list[tuple[Span, ...]] = []
    rest = list(old)
    for line in new:
        twin = next((index for index, one in enumerate(rest) if _resemble(one, line)), None)
        if twin is None:
            lines += [(Span("added", line),)] if line.strip() else []
            continue
        lines += [(Span("removed", gone),) for gone in rest[:twin] if gone.strip()]
        lines.append(_spans(rest[twin], line))
        del rest[: twin + 1]
    return lines + [(Span("removed", gone),) for gone in rest if gone.strip()]


def _resemble(old: str, new: str) -> bool:
    if len(old) + len(new) > LINE_CHARACTERS:
        return False
    matcher = SequenceMatcher(None, _WORDS.findall(old), _WORDS.findall(new))
    return (
        matcher.real_quick_ratio() > 0.5 and matcher.quick_ratio() > 0.5 and matcher.ratio() > 0.5
    )


def _spans(old: str, new: str) -> tuple[Span, ...]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    spans: list[Span] = []
    for kind, a1, a2, b1, b2 in matcher.get_opcodes():
        if kind == "equal":
            spans.append(Span("same", "".join(after[b1:b2])))
            continue
        if a2 > a1:
            spans.append(Span("removed", "".join(before[a1:a2])))
        if b2 > b1:
            spans.append(Span("added", "".join(after[b1:b2])))
    return tuple(spans)


def count_of(text: str) -> int:
    """Return the number of lines as citations count them: a line feed at the end starts none."""
    return text.rstrip("\n").count("\n") + 1


def changed_count(text: str, against: str) -> int:
    """Return how many lines of `text` with words differ from `against`."""
    if text == against:
        return 0
    lines = text.rstrip("\n").split("\n")
    changes = _line_changes(against.rstrip("\n").split("\n"), lines)
    return sum(
        bool(line.strip())
        for kind, _a1, _a2, b1, b2 in changes
        if kind != "equal"
        for line in lines[b1:b2]
    )


def numbered(text: str, most: int | None = None) -> tuple[NumberedLine, ...]:
    """Return the first `most` lines (None: all) with their numbers."""
    text = text.rstrip("\n")
    lines = text.split("\n") if most is None else text.split("\n", most)[:most]
    return tuple(
        NumberedLine(number, line, is_heading=line.startswith("#"))
        for number, line in enumerate(lines, 1)
    )
