"""What an iteration wrote, changed and was shown: log lines, diff, prompt, files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from loops.pages.judging import SeenPart
from tracker.pages.atoms import Chip, Link

LineKind = Literal["say", "cmd", "out", "err", "meta"]

_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$")
_REDACTED = re.compile(r"\[secret removed\]")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A run of a line. is_removed: stands for a secret that was taken out."""

    text: str
    is_removed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """seq: sequence of the piece it came from; number: line from 1, the permalink #L<number>.

    kind: agent's speech, command, its output, error stream, or the engine's own words.
    source: short word in the second column. tone: "bad" for failures, "good" for passes.
    """

    seq: int
    number: int
    at: datetime
    kind: LineKind
    fragments: tuple[Fragment, ...]
    source: str = ""
    tone: Literal["", "bad", "good"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """Lines in order. total: lines there are; older: URL of the lines before the first one shown.

    is_following: more will come. after_url: lines after a sequence (?after=<seq>), for catch-up.
    """

    lines: tuple[LogLine, ...]
    total: int
    after_url: str
    raw_url: str
    older: str = ""
    secrets_removed: int = 0
    is_following: bool = False


def fragments(text: str) -> tuple[Fragment, ...]:
    """Split a line at the marks that redaction left."""
    parts: list[Fragment] = []
    at = 0
    for found in _REDACTED.finditer(text):
        if found.start() > at:
            parts.append(Fragment(text[at : found.start()]))
        parts.append(Fragment("secret removed", True))
        at = found.end()
    if at < len(text) or not parts:
        parts.append(Fragment(text[at:]))
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class DiffRow:
    """kind "hunk" has only text. old, new: line numbers, None where the side has no such line."""

    kind: Literal["same", "add", "del", "hunk"]
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffFile:
    path: str
    added: int
    removed: int
    rows: tuple[DiffRow, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffPart:
    """against: what it is compared with ("iteration 57", "base 3f02d7a"). note: e.g. cut off."""

    files: tuple[DiffFile, ...]
    against: str
    note: str = ""


def diff_files(text: str) -> tuple[DiffFile, ...]:
    """Parse a unified git diff. Binary files and mode changes become a note without rows."""
    chunks = re.split(r"(?m)^(?=diff --git )", text)
    return tuple(
        _diff_file(chunk.splitlines()) for chunk in chunks if chunk.startswith("diff --git")
    )


def _diff_file(lines: list[str]) -> DiffFile:
    path = lines[0].rpartition(" b/")[2]
    rows: list[DiffRow] = []
    notes: list[str] = []
    old = new = 0
    in_hunk = False
    for line in lines[1:]:
        if hunk := _HUNK.match(line):
            old, new, in_hunk = int(hunk[1]), int(hunk[2]), True
            rows.append(DiffRow("hunk", None, None, f"@@ {hunk[3]}".strip()))
        elif not in_hunk:
            notes += [line] if line.startswith(("Binary", "new file", "deleted", "rename")) else []
        elif line.startswith("+"):
            rows.append(DiffRow("add", None, new, line[1:]))
            new += 1
        elif line.startswith("-"):
            rows.append(DiffRow("del", old, None, line[1:]))
            old += 1
        elif line.startswith(" ") or not line:
            rows.append(DiffRow("same", old, new, line[1:]))
            old, new = old + 1, new + 1
    return DiffFile(
        path=path,
        added=sum(row.kind == "add" for row in rows),
        removed=sum(row.kind == "del" for row in rows),
        rows=tuple(rows),
        note=", ".join(notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """What the agent was shown, whole. uses: versions in it (specs, guidance). seen: what of it
    the session remembered, readable; None where nothing is remembered beside the prompt."""

    text: str
    uses: tuple[str, ...] = ()
    seen: SeenPart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file of the iteration: changed, kept aside, put back. chip says which, sub why."""

    path: str
    chip: Chip
    sub: str = ""
    link: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesPart:
    rows: tuple[FileRow, ...]
    note: str = ""
