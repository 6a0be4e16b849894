"""What the runner and every agent adapter agree on.

An adapter runs ONE call: it starts the agent, streams its output, obeys the limits and returns
only when the agent's whole process tree is gone. It never judges the work (RULES 1: the outcome
is the engine's, from evidence).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from loops.agents.events import Usage
from loops.engine.values import Fault, Role


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """Names one process for ever: a pid is reused, a (boot id, pid, start time) is not.

    start_ticks: field 22 of /proc/<pid>/stat. mark: value of RUN_MARK in the tree's environment.
    """

    host: str
    boot_id: str
    pid: int
    start_ticks: int
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Folders of one session and role. Only clone, home, tmp are writable by the agent.

    workdir: where the agent starts (the clone or the project's path in it).
    socket_dir: holds the agents' interface socket and nothing else.
    hidden: folders that no agent may see (the data folder). readable: what it may read all the same
    inside them (the folder with its commands).
    """

    clone: Path
    workdir: Path
    home: Path
    tmp: Path
    socket_dir: Path
    hidden: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One technical invocation of an agent.

    env: what the agent gets besides the fixed minimum (PATH, HOME, TMPDIR, XDG_*, LANG, NO_COLOR,
    RUN_MARK, LOOPWATCH_SOCKET, LOOPWATCH_TOKEN). secrets: environment name -> value; also redacted
    from output. withheld: further values that nothing may show (a lent sign-in). wall_seconds and
    silence_seconds are limits of this call, memory_mb of all its processes together.
    """

    session: int
    iteration: int
    role: Role
    prompt: str
    places: Places
    socket: Path
    token: str
    mark: str
    wall_seconds: float
    silence_seconds: float
    memory_mb: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    withheld: tuple[str, ...] = ()

    @property
    def confidential(self) -> tuple[str, ...]:
        return (*self.secrets.values(), *self.withheld, self.token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """How the call ended. survivors: command lines of processes that outlived the main one and
    were killed. resets_in: seconds, for Fault.AGENT_LIMIT. detail: one sentence for people. usages:
    what the agent's own events said it used. conversation: what resumes it. version: of the CLI."""

    fault: Fault | None = None
    detail: str = ""
    exit_code: int | None = None
    survivors: tuple[str, ...] = ()
    resets_in: float | None = None
    tokens: int | None = None
    money: float | None = None
    usages: tuple[Usage, ...] = ()
    conversation: str = ""
    version: str = ""


class Control(Protocol):
    """What the runner offers a running call. All three are cheap and never raise."""

    def started(self, process: ProcessIdentity) -> None:
        """Called once, before the first output: whoever takes over kills this tree first."""

    def output(self, data: bytes) -> bool | None:
        """Raw bytes as read; called from the thread that runs the call. False: no room now, the
        same bytes are offered again soon; meanwhile the agent waits on its pipe, must_stop() is
        still polled, and the silence limit stands still."""

    def must_stop(self) -> bool:
        """Polled at least every 0.3 s: True once the right to run is gone (stop, lost lease)."""


class Agent(Protocol):
    def run(self, call: Call, control: Control) -> Reply: ...
