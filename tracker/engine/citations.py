"""Keys, quotes and the identity of a finding (RULES 5). Pure: standard library only."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass

from tracker.engine.rules import KINDS, Kind

_BUG = re.compile(r"([BTQ])-([1-9][0-9]{0,8})", re.IGNORECASE)
_REQUIREMENT = re.compile(r"R-([1-9][0-9]{0,8})(?:\.([1-9][0-9]{0,8}))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A requirement by number, and one line of its text (counted from 1) if one was named."""

    number: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Stands:
    """The quote stands in the text; it begins on `line` (from 1), whose folded text is given."""

    line: int
    line_text: str


@dataclass(frozen=True, slots=True)
class Fails:
    sentence: str


def bug_key(text: str) -> tuple[Kind, int] | None:
    """Return ("code", 7) for "B-7", None for anything that is no entry's key."""
    found = _BUG.fullmatch(text.strip())
    return (KINDS[found[1].upper()], int(found[2])) if found else None


def requirement_key(text: str) -> Pointer | None:
    """Return the pointer of "R-2" or "R-2.3", None for anything else."""
    found = _REQUIREMENT.fullmatch(text.strip())
    if not found:
        return None
    return Pointer(int(found[1]), int(found[2]) if found[2] else None)


def fold(text: str) -> str:
    """Return `text` with every run of white space as one space and none at the ends."""
    return " ".join(text.split())


def quoted(text: str, quote: str, pointer: Pointer) -> Stands | Fails:
    """Check that `quote` stands in `text`, white space folded; on the named line if one is.

    A quote may run over several lines; it stands on each line that it touches.
    """
    key = f"R-{pointer.number}"
    wanted = fold(quote)
    if not wanted:
        return Fails(f"Quote the words of {key} that are contradicted.")
    failure = cited_line(text, pointer)
    if failure is not None:
        return failure
    lines = [fold(line) for line in lines_of(text)]
    line = _line_of(lines, wanted, pointer.line)
    if line is not None:
        return Stands(line, lines[line - 1])
    where = key if pointer.line is None else f"{key}.{pointer.line}"
    return Fails(f'The words "{_short(wanted)}" do not stand in {where}.')


def cited_line(text: str, pointer: Pointer) -> Fails | None:
    """Check that the named line exists (for citations without a quote)."""
    count = len(lines_of(text))
    if pointer.line is None or pointer.line <= count:
        return None
    lines = "1 line" if count == 1 else f"{count} lines"
    return Fails(f"R-{pointer.number} has {lines}; there is no line {pointer.line}.")


def finding(requirement: int, line_text: str, place: str, title: str) -> str:
    """Return the identity of a finding: same requirement line and same place, same identity.

    The line is compared by its folded words, not by its number: it stays the same line when lines
    are added above it, and is another one once its words change. Without a place nothing says that
    two findings are at one place, so their titles have to agree as well.
    """
    at = f"place {place}" if place else f"title {fold(title).casefold()}"
    return hashlib.sha256(f"{requirement}\n{line_text}\n{at}".encode()).hexdigest()


def path_of(place: str) -> str:
    """Return the file of "src/a.py:12" or "src/a.py:12:4"."""
    return re.sub(r"(:[0-9]+){1,2}$", "", place)


def clean(text: str) -> str:
    """Return text that every database stores: no NUL, no lone surrogates, line ends as LF."""
    text = text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", "replace").decode("utf-8") if not _is_encodable(text) else text


def lines_of(text: str) -> list[str]:
    """Return the lines of a text; a line end at its end starts no further line."""
    return text.rstrip("\n").split("\n")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _line_of(lines: list[str], wanted: str, named: int | None) -> int | None:
    """Return the line (from 1) that `wanted` begins on; with a named line, that one if touched."""
    filled = [(number, line) for number, line in enumerate(lines, 1) if line]
    starts, at = [], 0
    for _, line in filled:
        starts.append(at)
        at += len(line) + 1
    folded = " ".join(line for _, line in filled)
    found = folded.find(wanted)
    while found >= 0:
        first = filled[bisect_right(starts, found) - 1][0]
        last = filled[bisect_right(starts, found + len(wanted) - 1) - 1][0]
        if named is None:
            return first
        if first <= named <= last:
            return named
        found = folded.find(wanted, found + 1)
    return None


def _short(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
