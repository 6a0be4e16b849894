"""What one process tree runs, and how it ended."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from loops.agents.confine import Confinement

TAIL = 1000


class Cause(StrEnum):
    EXITED = "exited"
    WALL_CLOCK = "wall_clock"
    SILENCE = "silence"
    MEMORY = "memory"
    STOPPED = "stopped"
    CANNOT_START = "cannot_start"
    # Something killed the shim or the sandbox; not we.
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run. argv[0]: an absolute path. Paths as in confine().

    env: the whole environment; RUN_MARK in it equals `mark`, which is unique per call. stdin: an
    open file's descriptor or subprocess.DEVNULL; never a pipe or a terminal, where a program could
    wait for ever. memory_mb: what all its processes together may hold for themselves; None: as much
    as there is.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    mark: str
    wall_seconds: float
    silence_seconds: float
    memory_mb: int | None = None
    mode: Confinement
    stdin: int = subprocess.DEVNULL
    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    tmp: Path | None = None
    network: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How it ended. exit_code: of the main process, negative for a signal, None if we ended it.

    survivors: command lines of what outlived the main process and was killed. gone: False only if
    something could not be killed. detail: the system's words. tail: the last TAIL bytes of output.
    """

    cause: Cause
    exit_code: int | None = None
    survivors: tuple[str, ...] = ()
    gone: bool = True
    detail: str = ""
    tail: bytes = b""
