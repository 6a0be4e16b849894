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


def _die_once_from_environment() -> None:
    """LOOPWATCH_CRASH_AT=NAME:FILE kills this process at NAME while FILE exists (it is removed
    first, so the successor lives). For the crash suite, which needs real processes."""
    name, _, file = os.environ.get("LOOPWATCH_CRASH_AT", "").partition(":")
    if not name:
        return

    def die(at: str) -> None:
        if at == name:
            try:
                Path(file).unlink()
            except FileNotFoundError:
                return
            os.kill(os.getpid(), signal.SIGKILL)

    watch(die)


_die_once_from_environment()
