"""A loop that neither ends nor asks: each worker changes something, each review is clean."""

from __future__ import annotations

import time
from collections.abc import Callable

from loops.agents.base import Control, Reply
from loops.engine.values import Role, Signal
from loops.equipment import Work
from loops.interface import Collected
from loops.sight import Sight
from loops.workspaces import Base, Boundary, Tree

LINE = b"one line of output of an agent that has nothing to say\n"


class SteadyWorkspace:
    def __init__(self) -> None:
        self.count = 0

    def _rev(self) -> str:
        return f"{self.count:040x}"

    def open(self) -> Base:
        return Base(rev=self._rev(), head=self._rev())

    def stamp(self) -> Tree:
        return Tree(rev=self._rev(), head=self._rev())

    def boundary(self, before: Tree, *, number: int, may_change: bool, done_signalled: bool):
        self.count += may_change
        return Boundary(rev=self._rev(), head=self._rev(), changed_paths=("a.txt",) * may_change)

    def missing(self, commits, head) -> frozenset[str]:
        return frozenset()

    def blob(self, path: str) -> str:
        return ""


Clocks = tuple[float, float]  # seconds: wall, CPU of this process


def clocks() -> Clocks:
    return time.perf_counter(), time.process_time()


class SteadyWorld:
    """The agent calls `meanwhile` with the number of calls before; that is its own time, all that
    lies between `left` and the next `arrived` is Loopwatch's."""

    def __init__(self, meanwhile: Callable[[int], None] = lambda count: None) -> None:
        self.workspace = SteadyWorkspace()
        self.meanwhile = meanwhile
        self.arrived: list[Clocks] = []
        self.left: list[Clocks] = []

    def __call__(self, session):
        return self

    def open(self) -> Base:
        return self.workspace.open()

    def close(self) -> None:
        pass

    def reveal(self, role: Role, agent: str) -> tuple[str, ...]:
        return ()

    def keep(self, number: int) -> None:
        pass

    def run_script(self, control: Control) -> int | None:
        return None

    def perform(self, work: Work, sight: Sight, control: Control) -> tuple[Reply, Collected]:
        self.arrived.append(clocks())
        self.meanwhile(len(self.left))
        self.left.append(clocks())
        control.output(LINE)
        said = Signal.REVIEW_CLEAN if work.role is Role.REVIEWER else None
        return Reply(exit_code=0), Collected(said)
