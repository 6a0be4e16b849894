"""File locks that end with the last process that holds them, also after a kill -9."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loops.workspaces.values import Unusable

POLL_SECONDS = 0.02


@contextmanager
def held(path: Path, *, timeout: float) -> Iterator[int]:
    """Hold the lock file `path`; yields its descriptor, which a child may share.

    A child that outlives a killed parent keeps the lock, so whoever gets it next may treat every
    lock file of git's own as left by the dead. Raises Unusable after `timeout` seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + timeout
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise Unusable(
                        f"{path} is still held by another process after {timeout:.0f} s; "
                        "end that process and resume the session."
                    ) from None
                time.sleep(POLL_SECONDS)
        yield fd
    finally:
        os.close(fd)
