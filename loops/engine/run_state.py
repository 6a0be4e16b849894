"""What every controller remembers of a run: where it stands, what it spent, who waits for whom.

Bounded, immutable, equal by value. Each pattern adds its own fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from loops.engine.values import (
    AskHuman,
    Config,
    Evidence,
    Finish,
    LimitName,
    Role,
    Snapshot,
)

NOTES_KEPT = 200


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for a prompt. to: the role whose next prompt shows it; None = whoever is next."""

    to: Role | None
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """The role that is due and the rule that made it due. after_seconds: wait before it. agent,
    start_from: as in RunRole."""

    role: Role
    rule: str
    reason: str
    after_seconds: float = 0.0
    agent: str = ""
    start_from: Snapshot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """What people added to the configured limits; same units."""

    iterations: float = 0
    wall_seconds: float = 0
    no_progress: float = 0
    tokens: float = 0
    money: float = 0


@dataclass(frozen=True, kw_only=True)
class RunState:
    """Folded from the log.

    seq: last entry folded. human_seq: last human event. base_*: the tree the session started from.
    rev, head, spec: what stood at the last boundary. idle: iterations in a row of the role that
    changes the tree that left it as it was. faults, holds, context_fulls: INTERRUPTED in a row,
    since the last success. money, tokens: sums of what was reported; *_unknown: how many iterations
    reported none. step: what is due once nothing stands before it. gate_passed: the number of
    iterations at which a person let the next role run, -1 = never. question: asked and not yet
    decided (a limit is not kept here: it follows from the counts). end: proved, or ended by a
    person.
    """

    config: Config
    seq: int = 0
    human_seq: int = 0
    base_rev: str = ""
    base_head: str = ""
    rev: str = ""
    head: str = ""
    spec: str = ""
    task_worked: bool = False

    idle: int = 0
    faults: int = 0
    holds: int = 0
    context_fulls: int = 0
    auth_failed: bool = False
    reset_far: bool = False

    iterations: int = 0
    active_seconds: float = 0.0
    tokens: int = 0
    tokens_unknown: int = 0
    money: float = 0.0
    money_unknown: int = 0
    granted: Granted = field(default_factory=Granted)

    step: Step
    notes: tuple[Note, ...] = ()
    gate_passed: int = -1
    question: AskHuman | None = None
    end: Finish | None = None

    def but(self, **changes: Any) -> Self:
        """This state with other values in some fields.

        dataclasses.replace does the same, at ten times the price, several times per iteration.
        """
        state = object.__new__(type(self))
        state.__dict__.update(self.__dict__, **changes)
        return state

    @property
    def now(self) -> Snapshot:
        """The tree of the last boundary."""
        return Snapshot(self.rev, self.head)


def counted(state: RunState, seq: int, evidence: Evidence) -> dict[str, Any]:
    """The fields that every iteration moves: where things stand and what was spent."""
    after, tokens, money = evidence.after, evidence.tokens, evidence.money
    return {
        "seq": seq,
        "rev": after.rev,
        "head": after.head,
        "spec": after.spec,
        "task_worked": state.task_worked or evidence.task_worked,
        "iterations": state.iterations + 1,
        "active_seconds": state.active_seconds + evidence.active_seconds,
        "tokens": state.tokens + (tokens or 0),
        "tokens_unknown": state.tokens_unknown + (tokens is None),
        "money": state.money + (money or 0.0),
        "money_unknown": state.money_unknown + (money is None),
    }


@dataclass(frozen=True, slots=True)
class LimitNow:
    """One limit as it stands: configured plus granted, None = no limit."""

    name: LimitName
    used: float
    limit: float | None


# Limit -> the count that is held against it, in the order in which they are checked.
USED = {
    LimitName.ITERATIONS: "iterations",
    LimitName.WALL_SECONDS: "active_seconds",
    LimitName.TOKENS: "tokens",
    LimitName.MONEY: "money",
    LimitName.NO_PROGRESS: "idle",
}


def limits_now(state: RunState) -> tuple[LimitNow, ...]:
    """Every limit with what is used of it."""
    return tuple(
        LimitNow(name, getattr(state, used), limit_of(state, name)) for name, used in USED.items()
    )


def limit_of(state: RunState, name: LimitName) -> float | None:
    configured: float | None = getattr(state.config.limits, name)
    if configured is None:
        return None
    granted: float = getattr(state.granted, name)
    return configured + granted
