"""The pieces that every prompt is built from. Pure.

Everything that people, agents or tools wrote stands in a fence longer than any run of backticks in
it, so no text can end its own fence and speak as the loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loops.engine import prompt_texts as texts

NOTE_TEXT = 2_000
KEYS = 200
SHORT_TEXT = 300
NOTES, NOTES_SHORTER = 20, 8

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One requirement in scope at its current version. lines: its text as the tracker numbers it,
    so that the m-th is cited as "R-n.m"."""

    key: str
    version: int
    lines: tuple[str, ...]
    document: str = ""


def fence(text: str) -> str:
    """`text` as a block that nothing inside it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    bar = "`" * max(3, longest + 1)
    return f"{bar}data\n{text}\n{bar}"


def requirements(each_in_scope: Sequence[Requirement], *, goal: str, shorter: bool) -> str:
    """The section on what must hold. goal: key of the session's own requirement, "" if none."""
    title = "## Requirements in scope"
    if not each_in_scope:
        return f"{title}\nNone."
    if shorter:
        rows = [f"{_head(each, goal)}: {_first(each)}" for each in each_in_scope[:KEYS]]
        rest = more(len(each_in_scope) - KEYS, "loopwatch req list")
        return f"{title}\n{texts.FIRST_LINES}\n{fence(chr(10).join(rows))}{rest}"
    blocks = [f"### {_head(each, goal)}\n{fence(_numbered(each))}" for each in each_in_scope]
    return f"{title}\n{texts.CITING}\n\n" + "\n\n".join(blocks)


def _head(each: Requirement, goal: str) -> str:
    document = f", {line(each.document, SHORT_TEXT)}" if each.document else ""
    own = ", the goal of this session" if each.key == goal else ""
    return f"{each.key} (version {each.version}{document}{own})"


def _first(each: Requirement) -> str:
    return line(next((line for line in each.lines if line.strip()), ""), SHORT_TEXT)


def _numbered(each: Requirement) -> str:
    """Blank lines are counted, but not shown."""
    return "\n".join(
        f"{each.key}.{number} | {clean(line)}"
        for number, line in enumerate(each.lines, 1)
        if line.strip()
    )


def listed(title: str, items: Sequence[str], most: int) -> str:
    """The newest `most` items, one line each."""
    if not items:
        return ""
    dropped = len(items) - most
    rows = [f"({dropped} older ones left out)"] if dropped > 0 else []
    rows += [f"- {line(item, NOTE_TEXT)}" for item in items[-most:]]
    return f"## {title}\n{fence(chr(10).join(rows))}"


def more(count: int, command: str) -> str:
    return f"\nand {count} more: `{command}`" if count > 0 else ""


def indented(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def line(text: str, most: int) -> str:
    return cut(" ".join(clean(text).split()), most)


def clean(text: str) -> str:
    """Without control characters and lone surrogates; tabs and line feeds stay."""
    return _UNSAFE.sub("", text)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} [{len(text) - most} characters left out]"
