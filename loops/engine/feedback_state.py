"""What Thinker-Worker-Verifier remembers beside the run (RULES 2): bounded, equal by value."""

from __future__ import annotations

from dataclasses import dataclass

from loops.engine.contracts import Criterion, Given, Plan
from loops.engine.run_state import RunState
from loops.engine.values import Snapshot, Verdict

FEEDBACK_KEPT = 40
FEEDBACK_TEXT = 4_000
OWN_KEPT = 60
OWN_TEXT = 1_000


@dataclass(frozen=True, slots=True)
class Best:
    """The best output so far: its tree, its author, its combined score and attempt number."""

    tree: Snapshot
    worker: str
    score: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """What was said about one attempt. plan: the plan it was made under. by: "verification" or "a
    person". score: 0 = none."""

    plan: int
    attempt: int
    worker: str
    by: str
    verdict: Verdict
    score: int
    text: str


@dataclass(frozen=True, slots=True)
class Own:
    """A line of one worker's own memory: what happened in its iteration of that number."""

    worker: str
    iteration: int
    text: str


@dataclass(frozen=True, kw_only=True)
class FeedbackState(RunState):
    """Folded from the log. idle counts attempts in a row that left the tree as it was.

    plan, criteria: in force; plan_number counts plans and is the version of the criteria. draft: a
    plan whose thinker asked to think once more. plan_claimed: last log entry that the thinker could
    know; plan_spec: the spec version it read. edited_seq: last edit of a requirement.
    retried, reassigned, replanned: r, a, p. extra: g, what is left of the attempts that people
    granted by rejections. reverified: u. self_called: thinker calls used of S. attempts: all that
    ran. extras_given: attempts that people gave, of every kind.
    worker: who made the current attempt; tried: who worked under this plan. keeps_tried: the plan
    that comes was asked for by a person, so it opens no new round of reassignments.
    attempt: the current attempt's tree; given: the reports on it; verdict: theirs together, None
    while it is judged.
    """

    plan: Plan | None = None
    draft: Plan | None = None
    plan_number: int = 0
    plan_claimed: int = 0
    plan_spec: str = ""
    edited_seq: int = 0
    criteria: tuple[Criterion, ...] = ()

    retried: int = 0
    reassigned: int = 0
    replanned: int = 0
    final_used: bool = False
    extra: int = 0
    extras_given: int = 0
    reverified: int = 0
    self_called: int = 0
    attempts: int = 0

    worker: str = ""
    tried: tuple[str, ...] = ()
    keeps_tried: bool = False
    attempt: Snapshot | None = None
    given: tuple[Given, ...] = ()
    verdict: Verdict | None = None
    best: Best | None = None

    feedback: tuple[Feedback, ...] = ()
    own: tuple[Own, ...] = ()

    @property
    def base(self) -> Snapshot:
        return Snapshot(self.base_rev, self.base_head)
