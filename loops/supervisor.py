"""Child processes of `up`: start, watch, start again, stop. Standard library only.

Every child leads its own session, reads nothing, appends its output to the log file and is killed
by the kernel when `up` dies. A dead child's whole session is killed before it starts again: pool
processes of a killed Celery worker would go on working beside the new ones.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds before a dead child starts again
STEADY = 30.0  # seconds alive after which earlier deaths are forgotten
GONE_WITHIN = 5.0  # seconds for a killed session
LOG_LIMIT = 20 * 1024 * 1024  # bytes
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Asks the kernel to kill this process when the THREAD that started it ends (Linux; nothing
    elsewhere). For fork-then-exec, and for forked children of a main thread."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run. stop_signal goes to the leader alone; after `grace` seconds its session is
    killed. keep: file descriptors that the child inherits."""

    name: str
    argv: tuple[str, ...]
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 10.0
    env: dict[str, str] = field(default_factory=dict)
    keep: tuple[int, ...] = ()


class Child:
    """One program and its current process. Only the main thread may call start()."""

    def __init__(self, program: Program, log: Path) -> None:
        self.program = program
        self.log = log
        self.deaths = 0
        self.start_again_at: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        parent = os.getpid()

        def between_fork_and_exec() -> None:
            die_with_parent()
            if os.getppid() != parent:  # it died before the request reached the kernel
                os._exit(1)

        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self.program.argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env={**os.environ, **self.program.env},
                pass_fds=self.program.keep,
                start_new_session=True,
                preexec_fn=between_fork_and_exec,  # safe: `up` runs no other thread
            )
        self._started_at = time.monotonic()
        self.start_again_at = None

    def is_dead(self) -> bool:
        """True for an ended process that bury() has not taken away; its number stays reserved."""
        if self._process is None:
            return False
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self._process.poll() is not None
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, look) is not None

    def bury(self) -> int:
        """Kills what is left of the session and returns the exit code (negative: a signal)."""
        assert self._process is not None
        kill_session(self._process.pid)
        code = self._process.wait()
        self._process = None
        return code

    def plan_restart(self) -> float:
        """Seconds until the next start: doubled at each death in a row."""
        now = time.monotonic()
        self.deaths = 1 if now - self._started_at > STEADY else self.deaths + 1
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(self.deaths - 1, 10))
        self.start_again_at = now + wait
        return wait

    def ask_to_stop(self) -> None:
        # Not Popen.send_signal: it would reap a dead leader, and with it the session's number.
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, self.program.stop_signal)

    def wait_stopped(self, *, hurry: Callable[[], bool]) -> None:
        """Returns when nothing of the child is left; hurry() cuts the grace short."""
        end = time.monotonic() + self.program.grace
        while self._process is not None:
            if self.is_dead() or time.monotonic() > end or hurry():
                self.bury()
            else:
                time.sleep(0.02)


def kill_session(leader: int) -> None:
    """SIGKILL to every process of the session that `leader` leads or led; returns when they are
    gone (at most 5 s: one that hangs in the kernel must not stop the supervision)."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    end = time.monotonic() + GONE_WITHIN
    while (rest := list(_members(leader))) and time.monotonic() < end:
        for pid in rest:  # also those that made a group of their own
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _members(session: int) -> Iterable[int]:
    """Living processes of the session. Without /proc nothing: the group is all we can reach."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # pid (name) state parent group session ...; the name may hold anything
            state, _, _, number = path.read_bytes().rpartition(b")")[2].split()[:4]
            if int(number) == session and state not in (b"Z", b"X"):
                yield int(path.parent.name)


class Supervisor:
    """Keeps children alive until it is told to stop.

    say(sentence) tells the person; children stop in reverse order, the first one last and alone
    (the broker: the others say good-bye through it).
    """

    def __init__(self, say: Callable[[str], None], log: Path) -> None:
        self.say = say
        self.log = log
        self.children: list[Child] = []
        self.stops_asked = 0

    def on_signal(self, *_: object) -> None:
        self.stops_asked += 1

    @property
    def is_stopping(self) -> bool:
        return self.stops_asked > 0

    def add(self, program: Program) -> Child:
        child = Child(program, self.log)
        self.children.append(child)
        child.start()
        self.say(f"{child.name} started (process {child.pid})")
        return child

    def watch_once(self) -> None:
        """Buries the dead, starts those whose wait is over, keeps the log small."""
        for child in self.children:
            if child.is_dead():
                end = _ending(child.bury())
                wait = child.plan_restart()
                self.say(f"{child.name} {end}; it starts again in {wait:g} s (log: {self.log})")
            elif child.start_again_at is not None and time.monotonic() >= child.start_again_at:
                self._start_again(child)
        cut_log(self.log)

    def _start_again(self, child: Child) -> None:
        try:
            child.start()
        except OSError as fault:  # no memory, no file handle: the others go on
            wait = child.plan_restart()
            self.say(f"{child.name} does not start ({fault.strerror}); next try in {wait:g} s")
        else:
            self.say(f"{child.name} started again (process {child.pid})")

    def watch(self, every: float = 0.2) -> None:
        while not self.is_stopping:
            self.watch_once()
            time.sleep(every)

    def stop(self) -> None:
        """Stops all; asked a second time (a second Ctrl-C) it kills at once."""
        rest = self.children[:0:-1]
        for child in rest:
            child.ask_to_stop()
        for child in rest:
            child.wait_stopped(hurry=lambda: self.stops_asked > 1)
        for first in self.children[:1]:
            first.ask_to_stop()
            first.wait_stopped(hurry=lambda: self.stops_asked > 1)


def cut_log(log: Path, limit: int = LOG_LIMIT) -> None:
    """Keeps one older file beside the log. Copied and cut, not renamed: children hold it open for
    appending."""
    try:
        if log.stat().st_size <= limit:
            return
        log.with_suffix(".old.log").write_bytes(log.read_bytes())
        os.truncate(log, 0)
    except OSError:
        return  # a full disk must not end the supervision


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
