"""What the verbs of the agents' interface stand on, and what they hand back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from loops.engine.contracts import Criterion, Plan, Report
from loops.engine.values import Role, Signal
from tracker.models import Project
from tracker.scope import Scope
from tracker.services import By


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One iteration, as its verbs see it. Made by whoever runs the iteration.

    session_ref: "S-3"; reference: "S-3/7"; by: the actor every write is recorded for.
    head: commit that the clone's HEAD resolves to, "" if none. blob: id of a file's content in the
    last stamped tree, "" if absent; takes a path as an agent writes it (relative, "/" between
    parts). is_missing: True if neither a commit nor an equal patch is in HEAD. They are called from
    the thread that serves the agent and must come back by themselves: closing the interface waits
    for a request in progress.
    goal: key of the session's own requirement. pool: names of workers that a plan may choose.
    criteria: those in force. withheld: values that are kept nowhere, whatever an agent writes.
    """

    project: Project
    scope: Scope
    session_ref: str
    reference: str
    role: Role
    by: By
    head: Callable[[], str]
    blob: Callable[[str], str]
    is_missing: Callable[[str], bool] = lambda commit: False
    goal: str = ""
    pool: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    withheld: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command prints and its exit code: 0, 1 failed, 2 refused with a sentence."""

    code: int
    out: str = ""
    err: str = ""


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens of one call, as its agent reported them. input: cached ones included; output:
    reasoning included. money: dollars, once it is priced; None = its model has no price, or it
    is paid by subscription. reported: dollars by the agent's own table, None = it names none."""

    model: str
    input: int
    output: int
    cached: int = 0
    money: Decimal | None = None
    reasoning: int = 0
    reported: Decimal | None = None
    by_subscription: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """The one signal that counts (None: the agent gave none), sentences about contradictions, and
    the plan or report that came last, and what its calls used. refused: why the last plan or report
    was, where none counts."""

    signal: Signal | None = None
    notes: tuple[str, ...] = ()
    plan: Plan | None = None
    report: Report | None = None
    used: tuple[Used, ...] = ()
    refused: str = ""


class Collector:
    """The signals and replies of one iteration, in memory only: they die with the iteration.

    The cautious one of a pair wins, in whatever order they came: `not-done` beats `done`,
    `review bugs` beats `review clean` (RULES 4).
    """

    _CAUTIOUS = ((Signal.NOT_DONE, Signal.DONE), (Signal.REVIEW_BUGS, Signal.REVIEW_CLEAN))

    def __init__(self) -> None:
        self._said: set[Signal] = set()
        self.plan: Plan | None = None
        self.report: Report | None = None
        self.used: list[Used] = []
        self.refused = ""

    def say(self, signal: Signal) -> None:
        self._said.add(signal)

    def collected(self) -> Collected:
        used = tuple(self.used)
        for cautious, other in self._CAUTIOUS:
            if cautious in self._said and other in self._said:
                note = f"The agent said both `{other}` and `{cautious}`: `{cautious}` counts."
                return Collected(cautious, (note,), self.plan, self.report, used, self.refused)
        signal = next(iter(self._said), None)
        return Collected(signal, (), self.plan, self.report, used, self.refused)
