"""Runs one process tree under limits; comes back only when nothing of it lives.

Between the worker and the program stands the shim, in the sandbox where there is one. The worker
holds one end of two pipes: the lifeline (its end of file kills the tree) and the report.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib.util import cache_from_source
from pathlib import Path

from loops.agents import shim
from loops.agents.base import Control, ProcessIdentity
from loops.agents.confine import confine
from loops.agents.program import TAIL, Cause, Ending, Program
from loops.agents.tree import identify, kill_tree, memory_of

_COMPILED = Path(cache_from_source(shim.__file__))
# Every start waits for it, and to compile it anew takes as long as the rest of the start. Not
# there where Python may not write beside its sources.
SHIM = _COMPILED if _COMPILED.exists() else Path(shim.__file__)
BLOCK = 64 * 1024
LONGEST_REPORT = 64 * 1024
TICK_SECONDS = 0.2
WEIGH_SECONDS = 1.0
DRAIN_SECONDS = 2.0
# After the end of a tree: how long a full store may keep the last bytes waiting.
DELIVERY_SECONDS = 30.0
# The shim does it exactly (it is told by the kernel when no child is left); then we do it.
SHIM_KILLS_WITHIN_SECONDS = 2.0
GIVE_UP_SECONDS = 30.0


def seconds_since_boot() -> float:
    """A clock that counts sleep (a lease runs on while a laptop sleeps)."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def run_tree(program: Program, control: Control) -> Ending:
    """Run to the end, a limit, or control.must_stop(). Blocks; never raises for what the program
    does. Output and callbacks come from this thread. OSError or ValueError: nothing was started.
    """
    run = _Run(program, control)
    try:
        cause = run.watch()
        return run.end(cause)
    finally:
        run.release()


@dataclass(slots=True)
class _Report:
    """What the shim said so far."""

    text: str = ""
    closed: bool = False

    def lines(self, word: str) -> list[str]:
        start = word + " "
        return [line[len(start) :] for line in self.text.split("\n") if line.startswith(start)]

    @property
    def exit_code(self) -> int | None:
        said = self.lines("exit")
        return int(said[0]) if said else None


@dataclass(slots=True)
class _Run:
    program: Program
    control: Control
    output: int = field(init=False)
    report_end: int = field(init=False)
    lifeline: int = field(init=False)
    child: subprocess.Popen[bytes] = field(init=False)
    identity: ProcessIdentity = field(init=False)
    report: _Report = field(init=False, default_factory=_Report)
    pending: bytes = field(init=False, default=b"")
    tail: bytes = field(init=False, default=b"")
    started_at: float = field(init=False, default=0.0)
    heard_at: float = field(init=False, default=0.0)
    weighed_at: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.output, out = os.pipe()
        self.report_end, report = os.pipe()
        life, self.lifeline = os.pipe()
        try:
            self.child = subprocess.Popen(
                self._command(report, life),
                env=dict(self.program.env),
                cwd=self.program.cwd,
                stdin=self.program.stdin,
                stdout=out,
                stderr=out,
                pass_fds=(report, life),
                start_new_session=True,
            )
        except BaseException:
            for descriptor in (self.output, self.report_end, self.lifeline):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (out, report, life):
                os.close(descriptor)
        os.set_blocking(self.output, False)
        os.set_blocking(self.report_end, False)
        self.identity = identify(self.child.pid, self.program.mark)

    def _command(self, report: int, life: int) -> list[str]:
        program = self.program
        launcher = [sys.executable, "-I", "-S", str(SHIM), str(report), str(life), program.mark]
        return confine(
            [*launcher, "--", *program.argv],
            cwd=program.cwd,
            writable=program.writable,
            readable=program.readable,
            hidden=program.hidden,
            tmp=program.tmp,
            network=program.network,
            programs=[SHIM, Path(program.argv[0])],
            mode=program.mode,
            as_init=True,
        )

    def watch(self) -> Cause:
        """Until the main process ended or must end."""
        self.control.started(self.identity)
        # Only now may the agent start: whoever takes over finds the tree on record.
        with contextlib.suppress(BrokenPipeError):
            os.write(self.lifeline, b"+")
        self.started_at = self.heard_at = seconds_since_boot()
        while True:
            self._step()
            if self.report.closed or self.report.exit_code is not None:
                return Cause.EXITED
            if self.control.must_stop():
                return Cause.STOPPED
            now = seconds_since_boot()
            if now - self.started_at > self.program.wall_seconds:
                return Cause.WALL_CLOCK
            if now - self.heard_at > self.program.silence_seconds:
                return Cause.SILENCE
            if self._holds_too_much(now):
                return Cause.MEMORY

    def _holds_too_much(self, now: float) -> bool:
        most = self.program.memory_mb
        if most is None or now < self.weighed_at + WEIGH_SECONDS:
            return False
        self.weighed_at = now
        return memory_of(self.child.pid) > most * 1024 * 1024

    def _step(self) -> None:
        """Wait at most one tick; then take what came."""
        if self.pending:
            self.heard_at = seconds_since_boot()
            self._offer(b"")
        poller = select.poll()
        poller.register(self.report_end, select.POLLIN)
        if self.pending:
            wait = 0.02
        else:
            wait = TICK_SECONDS
            poller.register(self.output, select.POLLIN)
        ready = dict(poller.poll(wait * 1000))
        if self.report_end in ready:
            self._read_report()
        if self.output in ready:
            self._read_output()

    def _read_output(self) -> bool:
        """False at the end of the file. Takes one block."""
        try:
            data = os.read(self.output, BLOCK)
        except BlockingIOError:
            return True
        if data:
            self.heard_at = seconds_since_boot()
            self.tail = (self.tail + data)[-TAIL:]
            self._offer(data)
        return bool(data)

    def _offer(self, data: bytes) -> None:
        self.pending += data
        if self.control.output(self.pending) is not False:
            self.pending = b""

    def _read_report(self) -> None:
        try:
            data = os.read(self.report_end, BLOCK)
        except BlockingIOError:
            return
        room = LONGEST_REPORT - len(self.report.text)
        self.report.text += data.decode("utf-8", "replace")[:room]
        self.report.closed = not data

    def end(self, cause: Cause) -> Ending:
        gone = self._kill()
        self._drain()
        report = self.report
        failed = report.lines("failed")
        if cause is Cause.EXITED and report.exit_code is None:
            has_started = "started" in report.text.split("\n")
            cause = Cause.LOST if has_started else Cause.CANNOT_START
        return Ending(
            cause=cause,
            exit_code=report.exit_code if cause is Cause.EXITED else None,
            survivors=tuple(report.lines("survivor")),
            gone=gone,
            detail=failed[0] if failed else "",
            tail=self.tail,
        )

    def _kill(self) -> bool:
        """The shim kills at the end of the lifeline; if it cannot, we do."""
        os.close(self.lifeline)
        self.lifeline = -1
        until = time.monotonic() + SHIM_KILLS_WITHIN_SECONDS
        while not self.report.closed and _is_readable(self.report_end, until - time.monotonic()):
            self._read_report()
        try:
            # Its exit code 0 says that the whole tree is gone.
            if self.child.wait(max(0.0, until - time.monotonic())) == 0:
                return True
        except subprocess.TimeoutExpired:
            pass
        gone = kill_tree(self.identity, GIVE_UP_SECONDS)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(1)
        return gone

    def _drain(self) -> None:
        """What the pipes still hold. A process that got away may keep them open: 2 s at most."""
        now = time.monotonic()
        read_until, deliver_until = now + DRAIN_SECONDS, now + DELIVERY_SECONDS
        is_open = True
        while time.monotonic() < (deliver_until if self.pending else read_until):
            if self.pending:
                self._offer(b"")
                if self.pending:
                    time.sleep(0.02)
                    if self.control.must_stop():
                        return
            elif not is_open:
                return
            elif _is_readable(self.output, 0.1):
                is_open = self._read_output()

    def release(self) -> None:
        """Also when a callback raised: nothing stays behind."""
        if self.lifeline >= 0:
            self._kill()
        for descriptor in (self.output, self.report_end):
            os.close(descriptor)


def _is_readable(descriptor: int, seconds: float) -> bool:
    """poll, since select refuses descriptors above 1023."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(max(0.0, seconds * 1000)))
