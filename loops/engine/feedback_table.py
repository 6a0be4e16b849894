"""The table of RULES 2 from row 4 on: what follows a FAIL, in one cascading pass."""

from __future__ import annotations

from loops.engine.feedback_rules import Rule
from loops.engine.feedback_state import FeedbackState
from loops.engine.values import Action


def row_after_fail(
    state: FeedbackState, advice: Action | None, has_untried: bool
) -> tuple[Rule, tuple[str, ...]]:
    """The row that fires (4, 5, 7, 8, 10 or 11), and why the rows before it passed it on.

    has_untried: the pool holds a worker that was not tried under this plan.
    """
    config = state.config
    if state.extra > 0:
        return Rule.EXTRA_RETRY, ()
    if state.final_used:
        return Rule.ASK_EXHAUSTED, ()
    passed: list[str] = []
    if advice is None or advice is Action.FINISH:
        said = "FINISH is recommended" if advice else "nothing is recommended"
        passed.append(
            f"{said} with a FAIL, a contradiction that counts as RETRY ({Rule.NO_ADVICE})"
        )
        advice = Action.RETRY
    if advice is Action.RETRY:
        if state.retried < config.retries:
            return Rule.RETRY, tuple(passed)
        passed.append(f"no retry is left of {config.retries} ({Rule.RETRY})")
        advice = Action.REASSIGN
    if advice is Action.REASSIGN:
        is_left = state.reassigned < config.reassigns
        if is_left and has_untried:
            return Rule.REASSIGN, tuple(passed)
        lack = "worker is untried under this plan" if is_left else "reassignment is left"
        passed.append(f"no {lack} ({Rule.NO_REASSIGN})")
    if state.replanned < config.replans:
        return Rule.REPLAN, tuple(passed)
    passed.append(f"no replan is left of {config.replans} ({Rule.FINAL_RETRY})")
    return Rule.FINAL_RETRY, tuple(passed)
