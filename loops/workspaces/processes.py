"""Run one bounded command: limited in time and output, its process group gone at the end."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

CHUNK = 1 << 16
# Who left the process group may keep a pipe open after the command's own end, but no longer.
DRAIN_SECONDS = 2.0
# A missing SIGCHLD wake-up costs at most this much; output arriving wakes us at once.
POLL_SECONDS = 0.02


@dataclass(slots=True)
class Finished:
    """code is None if the command was killed (time or output limit) or could not start."""

    code: int | None
    out: bytes = b""
    err: bytes = b""
    timed_out: bool = False
    too_long: bool = False

    @property
    def words(self) -> str:
        """Its last words, for a sentence."""
        if self.timed_out:
            return "no answer within the time limit"
        if self.too_long:
            return "more output than allowed"
        lines = self.err.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else f"exit code {self.code}"


@dataclass(slots=True)
class _Buffer:
    """Collects output; keeps the first `limit` bytes, or the last ones if `tail`."""

    limit: int
    tail: bool
    data: bytearray = field(default_factory=bytearray)
    overflowed: bool = False

    def add(self, chunk: bytes) -> None:
        self.data += chunk
        if len(self.data) > self.limit:
            self.overflowed = True
            if self.tail:
                del self.data[: -self.limit]
            else:
                del self.data[self.limit :]


def run(
    argv: Sequence[str | bytes],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    data: bytes = b"",
    limit: int = 1 << 28,
    tail: bool = False,
    into: IO[bytes] | None = None,
    source: IO[bytes] | None = None,
    lock_fd: int | None = None,
) -> Finished:
    """Run `argv` in a process group of its own; that group is dead when this returns.

    limit: bytes of output after which it is killed (with `tail`: how many last bytes are kept,
    stderr among them). into: file for the output instead of memory, same limit. source: file for
    its input instead of `data`. lock_fd: a file lock that the child shares, so that the lock
    outlives us if we are killed before the child.
    """
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=source or (subprocess.PIPE if data else subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if tail else subprocess.PIPE,
            start_new_session=True,
            pass_fds=() if lock_fd is None else (lock_fd,),
        )
    except OSError as error:
        return Finished(None, err=str(error).encode("utf-8", "replace"))
    out = _Buffer(limit, tail)
    err = _Buffer(1 << 16, True)
    try:
        timed_out = _pump(process, data=data, out=out, err=err, into=into, timeout=timeout)
    finally:
        code = _end(process)
    killed = timed_out or (out.overflowed and not tail)
    return Finished(
        None if killed else code,
        bytes(out.data),
        bytes(err.data),
        timed_out,
        out.overflowed and not tail,
    )


def _pump(
    process: subprocess.Popen[bytes],
    *,
    data: bytes,
    out: _Buffer,
    err: _Buffer,
    into: IO[bytes] | None,
    timeout: float,
) -> bool:
    """Feed and read until the command is over; True if its time ran out first."""
    deadline = time.monotonic() + timeout
    ended_at: float | None = None
    written = 0
    to_send = memoryview(data)
    with selectors.DefaultSelector() as selector:
        _register(selector, process)
        while selector.get_map():
            now = time.monotonic()
            if ended_at is None and _has_ended(process):
                ended_at = now
                _kill_group(process)
            if ended_at is None and now >= deadline:
                return True
            if ended_at is not None and now >= ended_at + DRAIN_SECONDS:
                return False
            for key, _ in selector.select(POLL_SECONDS):
                if key.data == "in":
                    to_send = _send(selector, process, to_send)
                    continue
                chunk = os.read(key.fd, CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.data == "err":
                    err.add(chunk)
                elif into is None:
                    out.add(chunk)
                else:
                    into.write(chunk)
                    written += len(chunk)
                    out.overflowed = written > out.limit
            if out.overflowed and not out.tail:
                return False
    return _wait_until(process, deadline)


def _register(selector: selectors.BaseSelector, process: subprocess.Popen[bytes]) -> None:
    assert process.stdout
    if process.stdin:
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE, "in")
    selector.register(process.stdout, selectors.EVENT_READ, "out")
    if process.stderr:
        selector.register(process.stderr, selectors.EVENT_READ, "err")


def _send(
    selector: selectors.BaseSelector, process: subprocess.Popen[bytes], to_send: memoryview
) -> memoryview:
    assert process.stdin
    try:
        to_send = to_send[os.write(process.stdin.fileno(), to_send[:CHUNK]) :]
    except BlockingIOError:
        return to_send
    except BrokenPipeError:
        to_send = to_send[:0]
    if not to_send:
        selector.unregister(process.stdin)
        process.stdin.close()
    return to_send


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    # WNOWAIT leaves the zombie in place, so that its group cannot be reused before we kill it.
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None


def _wait_until(process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Its pipes are closed but it may live on; True if its time ran out."""
    pause = 0.0002
    while not _has_ended(process):
        if time.monotonic() >= deadline:
            return True
        time.sleep(pause)
        pause = min(pause * 2, POLL_SECONDS)
    return False


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # the group is empty already
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> int:
    _kill_group(process)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    return process.wait()
