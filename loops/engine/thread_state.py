"""What the single-threaded controller remembers beside the run: bounded, equal by value."""

from __future__ import annotations

from dataclasses import dataclass, field

from loops.engine.bounds import Swing
from loops.engine.run_state import RunState

JUDGED_KEPT = 16


@dataclass(frozen=True, slots=True)
class Judged:
    """What the done script said on one (rev, head, spec)."""

    rev: str
    head: str
    spec: str
    exit: int


@dataclass(frozen=True, kw_only=True)
class ThreadState(RunState):
    """Folded from the log; see RULES 4 for what each count means.

    clean_review: (rev, spec) of the clean review that still holds. idle counts worker iterations.
    all_dismissed: every entry of the question decided so far was dismissed.
    """

    streak: int = 0
    clean_review: tuple[str, str] | None = None
    judged: tuple[Judged, ...] = ()

    stalls: int = 0
    works_since_review: int = 0
    workers_since_coach: int = 0
    coach_due: bool = False

    swing: Swing = field(default_factory=Swing)
    conflicts: int = 0
    conflict_paths: tuple[str, ...] = ()
    review_stalls: int = 0
    all_dismissed: bool = True
