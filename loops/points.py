"""Named places where a crash would hurt most, so that the crash tests can die exactly there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

Hook = Callable[[str], None]
_hooks: list[Hook] = []


def point(name: str) -> None:
    for hook in _hooks:
        hook(name)


def watch(hook: Hook) -> Callable[[], None]:
    """Call `hook` at each point of this process; returns the way to stop that."""
    _hooks.append(hook)
    return lambda: _hooks.remove(hook)


def _die_where_told(folder: Path) -> None:
    """Kill this process at the point NAME when `folder` holds a file of that name; the file is
    removed first, so that the successor lives. For the crash suite, which needs real processes."""

    def die(name: str) -> None:
        try:
            (folder / name).unlink()
        except FileNotFoundError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    watch(die)


if os.environ.get("LOOPWATCH_CRASH_FOLDER"):
    _die_where_told(Path(os.environ["LOOPWATCH_CRASH_FOLDER"]))
