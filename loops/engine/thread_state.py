"""What the single-threaded controller remembers: bounded, immutable, equal by value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loops.engine.bounds import Swing
from loops.engine.rules import Rule
from loops.engine.values import AskHuman, Config, Finish, LimitName, Role

NOTES_KEPT = 200
JUDGED_KEPT = 16


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for a prompt. to: the role whose next prompt shows it; None = whoever is next."""

    to: Role | None
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """The role that is due and the rule that made it due. after_seconds: wait before it."""

    role: Role
    rule: Rule
    reason: str
    after_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """What the done script said on one (rev, head, spec)."""

    rev: str
    head: str
    spec: str
    exit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """What people added to the configured limits; same units."""

    iterations: float = 0
    wall_seconds: float = 0
    no_progress: float = 0
    tokens: float = 0
    money: float = 0


@dataclass(frozen=True, kw_only=True)
class ThreadState:
    """Folded from the log; see RULES 4 for what each count means.

    seq: last entry folded. human_seq: last human event. base_*: the tree the session started from.
    rev, head, spec: what stood at the last boundary. clean_review: (rev, spec) of the clean review
    that still holds. idle: worker iterations in a row without a change. faults, holds: INTERRUPTED
    in a row, since the last success. money, tokens: sums of what was reported; *_unknown: how many
    iterations reported none. step: what is due once nothing stands before it. question: asked and
    not yet decided (a limit is not kept here: it follows from the counts). all_dismissed: every
    entry of the question decided so far was dismissed. end: proved, or ended by a person.
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

    streak: int = 0
    clean_review: tuple[str, str] | None = None
    judged: tuple[Judged, ...] = ()

    stalls: int = 0
    works_since_review: int = 0
    workers_since_coach: int = 0
    coach_due: bool = False

    idle: int = 0
    swing: Swing = field(default_factory=Swing)
    conflicts: int = 0
    conflict_paths: tuple[str, ...] = ()
    review_stalls: int = 0

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
    question: AskHuman | None = None
    all_dismissed: bool = True
    end: Finish | None = None

    def but(self, **changes: Any) -> ThreadState:
        """This state with other values in some fields.

        dataclasses.replace does the same, at ten times the price, several times per iteration.
        """
        state = object.__new__(ThreadState)
        state.__dict__.update(self.__dict__, **changes)
        return state


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


def limits_now(state: ThreadState) -> tuple[LimitNow, ...]:
    """Every limit with what is used of it."""
    return tuple(
        LimitNow(name, getattr(state, used), limit_of(state, name)) for name, used in USED.items()
    )


def limit_of(state: ThreadState, name: LimitName) -> float | None:
    configured: float | None = getattr(state.config.limits, name)
    if configured is None:
        return None
    granted: float = getattr(state.granted, name)
    return configured + granted
