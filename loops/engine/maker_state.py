"""What the Maker-Verifier controller remembers beside the run: bounded, equal by value."""

from __future__ import annotations

from dataclasses import dataclass

from loops.engine.contracts import Criterion, Given, Verifier
from loops.engine.run_state import RunState
from loops.engine.values import Policy, Role, Snapshot

REJECTIONS_KEPT = 3


@dataclass(frozen=True, slots=True)
class Output:
    """A judged attempt. attempt: its number. score: the combined one, 0 = none was given."""

    attempt: int
    score: int
    tree: Snapshot


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an attempt was rejected, and by which version of the criteria. attempt: its number; 0 =
    of the session that this one was forked from."""

    attempt: int
    criteria_version: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class MakerState(RunState):
    """Folded from the log; see RULES 3 for what each count means.

    criteria: the frozen version in force; frozen_seq: the entry that froze it. edited_seq: the last
    edit of a requirement. attempts: those that ran; extra: those that people added (g). idle counts
    attempts. given: what was reported on the last attempt. current: its tree. start: the tree that
    the next one goes on from, None = as it stands. best: highest score, ties to the latest.
    rejections: the last ones, newest last.
    """

    criteria: tuple[Criterion, ...] = ()
    criteria_version: int = 0
    frozen_seq: int = 0
    edited_seq: int = 0

    attempts: int = 0
    extra: int = 0
    given: tuple[Given, ...] = ()
    current: Snapshot | None = None
    start: Snapshot | None = None
    best: Output | None = None
    rejections: tuple[Rejection, ...] = ()

    @property
    def attempts_allowed(self) -> int:
        return self.config.attempts + self.extra

    @property
    def attempts_left(self) -> int:
        return max(0, self.attempts_allowed - self.attempts)

    @property
    def reverified(self) -> int:
        """How often the reserve judged the last attempt (u); each attempt starts at 0."""
        names = {v.name for v in self.config.verifiers if v.policy is Policy.RESERVE}
        return sum(one.verifier in names for one in self.given)

    @property
    def is_outdated(self) -> bool:
        """True if a requirement was edited after the criteria in force were frozen."""
        return self.edited_seq > self.frozen_seq

    @property
    def is_verifying(self) -> bool:
        return self.step.role is Role.VERIFIER


def waiting(state: MakerState) -> tuple[Verifier, ...]:
    """The verifiers that every attempt goes through and that have not judged this one."""
    return tuple(v for v in _not_asked(state) if v.policy is not Policy.RESERVE)


def reserve(state: MakerState) -> tuple[Verifier, ...]:
    """The verifiers that may still be asked about this attempt if the others leave it open."""
    left = state.config.reverifications - state.reverified
    found = [v for v in _not_asked(state) if v.policy is Policy.RESERVE]
    return tuple(found[: max(0, left)])


def is_awaited(state: MakerState) -> bool:
    """True if the verifier that is due belongs to the configuration and has not judged yet."""
    return any(v.name == state.step.agent for v in _not_asked(state))


def _not_asked(state: MakerState) -> tuple[Verifier, ...]:
    asked = {one.verifier for one in state.given}
    return tuple(v for v in state.config.verifiers if v.name not in asked)
