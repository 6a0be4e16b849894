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


Change = Literal["changed", "new", "deleted", "renamed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffFile:
    """path: as one printable line. is_binary: it has no lines to count."""

    path: str
    added: int
    removed: int
    rows: tuple[DiffRow, ...]
    note: str = ""
    change: Change = "changed"
    is_binary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffPart:
    """against: what it is compared with ("iteration 57", "base 3f02d7a"). note: e.g. cut off."""

    files: tuple[DiffFile, ...]
    against: str
    note: str = ""


def diff_files(text: str) -> tuple[DiffFile, ...]:
    """Parse a unified git diff. Binary files and mode changes are a note without rows."""
    chunks = re.split(r"(?m)^(?=diff --git )", text)
    return tuple(
        _diff_file(chunk.split("\n")) for chunk in chunks if chunk.startswith("diff --git")
    )


def _diff_file(lines: list[str]) -> DiffFile:
    begin = next((n for n, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    head, rows = lines[1:begin], _diff_rows(lines[begin:])
    said = {word: line for line in head for word in _NOTED if line.startswith(word)}
    path = said.get("rename to ", "").removeprefix("rename to ") or _path(lines[0])
    is_binary = "Binary files" in said
    notes = [f"renamed from {_name(said['rename from '][12:])}"] if "rename from " in said else []
    notes += ["binary"] if is_binary else []
    return DiffFile(
        path=_name(path),
        added=sum(row.kind == "add" for row in rows),
        removed=sum(row.kind == "del" for row in rows),
        rows=rows,
        note=", ".join([*notes, *(line for line in head if line.startswith(_MODES))]),
        change=next(
            (change for word, change in _NOTED.items() if change and word in said), "changed"
        ),
        is_binary=is_binary,
    )


_MODES = ("new file", "deleted file", "old mode", "new mode")
_NOTED: dict[str, Change | None] = {
    "new file": "new",
    "deleted file": "deleted",
    "rename to ": "renamed",
    "rename from ": None,
    "Binary files": None,
}


def _diff_rows(lines: list[str]) -> tuple[DiffRow, ...]:
    rows: list[DiffRow] = []
    old = new = 0
    for line in lines:
        if hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[2])
            rows.append(DiffRow("hunk", None, None, f"@@ {hunk[3]}".strip()))
        elif line.startswith("+"):
            rows.append(DiffRow("add", None, new, line[1:]))
            new += 1
        elif line.startswith("-"):
            rows.append(DiffRow("del", old, None, line[1:]))
            old += 1
        elif line.startswith(" "):
            rows.append(DiffRow("same", old, new, line[1:]))
            old, new = old + 1, new + 1
    return tuple(rows)


def _path(header: str) -> str:
    """The path of "diff --git a/<path> b/<path>"; both halves are the same where nothing was
    renamed, so a space or " b/" in it does no harm. With a/ and, maybe, git's quotes."""
    both = header.removeprefix("diff --git ")
    half = both[: len(both) // 2]
    return f'"{half[3:]}' if half.startswith('"') else half[2:]


_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_SHORT = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


def _name(path: str) -> str:
    """A path as git writes it, quoted where it has odd bytes, as one printable line."""
    if path.startswith('"') and path.endswith('"') and len(path) > 1:
        raw = _ESCAPE.sub(_byte, path[1:-1].encode().decode("latin-1"))
        path = raw.encode("latin-1").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)


def _byte(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code, 8) & 255) if len(code) == 3 else chr(_SHORT.get(code, ord(code)))


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
