"""What changed between two texts, word by word. Pure: standard library only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text that stayed ("same"), was added or was removed."""

    kind: Literal["same", "added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line of a text as shown: number from 1, changed against the other text or not."""

    number: int
    text: str
    is_changed: bool = False
    is_heading: bool = False


def word_diff(old: str, new: str) -> tuple[tuple[Span, ...], ...]:
    """Return the changed lines of `new` (and removed ones of `old`) as spans; equal lines are left
    out, so an empty result means that nothing changed."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[tuple[Span, ...]] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, a1, a2, b1, b2 in matcher.get_opcodes():
        if kind != "equal":
            lines += _aligned(before[a1:a2], after[b1:b2])
    return tuple(lines)


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
    matcher = SequenceMatcher(None, _WORDS.findall(old), _WORDS.findall(new))
    return matcher.quick_ratio() > 0.5 and matcher.ratio() > 0.5


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


def numbered(text: str, against: str = "") -> tuple[NumberedLine, ...]:
    """Return the lines with their numbers; with `against`, those that differ from it are marked."""
    lines = text.splitlines()
    changed: set[int] = set()
    if against:
        matcher = SequenceMatcher(None, against.splitlines(), lines, autojunk=False)
        for kind, _a1, _a2, b1, b2 in matcher.get_opcodes():
            if kind != "equal":
                changed.update(range(b1, b2))
    return tuple(
        NumberedLine(index + 1, line, index in changed and bool(line.strip()), line.startswith("#"))
        for index, line in enumerate(lines)
    )
