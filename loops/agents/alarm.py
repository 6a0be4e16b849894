"""Calls that fall due unless they are taken back, with one thread for all of them."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Hashable

Call = Callable[[], None]
log = logging.getLogger(__name__)


class Alarm:
    """Makes each call `seconds` after set(), unless unset() came first.

    set() and unset() cost microseconds and wake nobody: the thread begins with the first set(),
    looks when the next call is due and at least every `seconds`, and ends when nothing was set for
    that long. The calls must be short. A forked child starts afresh, without its parent's calls.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._due: dict[Hashable, tuple[float, Call]] = {}
        self._was_set = False
        self._is_awake = False

    def set(self, key: Hashable, call: Call) -> None:
        with self._lock:
            self._due[key] = (time.monotonic() + self._seconds, call)
            self._was_set = True
            if not self._is_awake:
                threading.Thread(target=self._watch, name="alarm", daemon=True).start()
                self._is_awake = True

    def unset(self, key: Hashable) -> None:
        with self._lock:
            self._due.pop(key, None)

    def _watch(self) -> None:
        pause = self._seconds
        while pause:
            time.sleep(pause)
            calls, pause = self._look(time.monotonic())
            for call in calls:
                try:
                    call()
                except Exception:  # no thread left: the others still have their turn
                    log.exception("a call that was due failed")

    def _look(self, now: float) -> tuple[list[Call], float]:
        """What is due, and the seconds until the next look; 0 ends the thread."""
        with self._lock:
            due = [key for key, (at, _call) in self._due.items() if at <= now]
            calls = [self._due.pop(key)[1] for key in due]
            self._is_awake = self._was_set or bool(self._due)
            self._was_set = False
            if not self._is_awake:
                return calls, 0.0
            next_at = min((at for at, _call in self._due.values()), default=now + self._seconds)
            return calls, max(next_at - now, 0.001)
