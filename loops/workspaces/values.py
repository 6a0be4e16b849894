"""What callers of a workspace see: values, the one error, and the shape of `confine`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Unusable(Exception):
    """The workspace cannot go on; the message is a sentence for a person (what, where, what to
    do). The session ends as failed, naming it (RULES 1)."""


class Confine(Protocol):
    """Wraps a command so that it runs like an agent: only `writable` can be written, `readable`
    can be seen though it lies in a hidden folder, and the network is there only if `network`."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        writable: Sequence[Path],
        readable: Sequence[Path],
        network: bool,
    ) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Base:
    """Where the session began. rev: git tree id of the clone's content; head: commit id."""

    rev: str
    head: str


@dataclass(frozen=True, slots=True)
class Tree:
    """The session's content now. rev: git tree id of the content; head: the agent's commit."""

    rev: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """What the end of an iteration showed. Paths are relative to the repository's root, as people
    read them (`shown`); notes are sentences for the log and the next prompt.

    uncommitted: differ between HEAD and the work tree. changed_paths: content differs from before
    the iteration. moved: untracked files taken to the iteration's files. restored: paths that the
    engine put back. spoiled: those of them that a role which may not change the tree had changed or
    committed; files that its tools only left behind are none.
    """

    rev: str
    head: str
    uncommitted: tuple[str, ...] = ()
    changed_paths: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    spoiled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One `prepare` or `check` command. exit_code is None when it was killed at its time limit or
    could not start. tail: its last lines. cached: not run again, nothing it depends on changed."""

    command: str
    exit_code: int | None
    seconds: float = 0.0
    tail: str = ""
    cached: bool = False

    @property
    def passed(self) -> bool:
        return self.exit_code == 0


def shown(path: bytes) -> str:
    """A file name as one printable line of valid text: odd bytes and control characters escaped."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
