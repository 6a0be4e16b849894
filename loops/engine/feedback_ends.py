"""What stands before the end, and how many attempts can still come (RULES 2)."""

from __future__ import annotations

from loops.engine.feedback_plans import is_out_of_date
from loops.engine.feedback_rules import Rule
from loops.engine.feedback_state import FeedbackState
from loops.engine.values import EndReason, Role, Verdict, Why

PROVED = frozenset({EndReason.DONE, EndReason.NO_OP})


def why_not_done(
    state: FeedbackState,
    *,
    rev: str,
    head: str,
    spec: str,
    blockers: tuple[str, ...],
    unjudged: tuple[str, ...],
    blocked: tuple[str, ...],
) -> tuple[Why, ...]:
    """The conditions of row 1 that (rev, spec) does not meet; the tracker's entries are none."""
    if state.plan is None:
        return (Why(Rule.NEEDS_PLAN, "There is no plan yet, so nothing can be judged."),)
    found = []
    attempt = state.attempt
    if attempt is None or state.verdict is None:
        found.append(Why(Rule.NEEDS_OK, "The attempt is not judged yet."))
    elif state.verdict is not Verdict.OK:
        text = f"Attempt {state.attempts} was judged {state.verdict.value}."
        found.append(Why(Rule.NEEDS_OK, text))
    elif attempt.rev != rev:
        found.append(Why(Rule.NEEDS_OK, "The last OK was about another tree."))
    if is_out_of_date(state) or spec != state.plan_spec:
        text = "A requirement changed after the criteria were written."
        found.append(Why(Rule.NEEDS_CURRENT, text))
    return tuple(found)


def attempts_at_most(state: FeedbackState) -> int:
    """At most so many more worker attempts, whatever agents do, until a person gives more.

    The proven bound minus what ran, plus what people gave: exactly the longest run of the table.
    """
    if state.end is not None:
        return 0
    step, config = state.step, state.config
    pending = step.role in (Role.THINKER, Role.WORKER)
    return (
        pending + state.extra + (0 if state.final_used else _by_the_table(state, config.is_nested))
    )


def _by_the_table(state: FeedbackState, is_nested: bool) -> int:
    config = state.config
    others = max(0, len(config.pool) - 1)
    retries = max(0, config.retries - state.retried)
    reassigns = max(0, config.reassigns - state.reassigned)
    replans = max(0, config.replans - state.replanned)
    left = _untried_left(state)
    if is_nested:
        each = config.retries + 1
        round_of_a_plan = each * (min(config.reassigns, others) + 1)
        return retries + each * min(reassigns, left) + replans * round_of_a_plan + 1
    return retries + min(reassigns, left + others * replans) + replans + 1


def _untried_left(state: FeedbackState) -> int:
    """How many workers this plan can still be reassigned to once the pending attempt ran."""
    pool, step = set(state.config.pool), state.step
    if step.role is Role.THINKER:
        tried = pool & set(state.tried) if state.keeps_tried else set()
        return max(0, len(pool) - max(1, len(tried)))
    pending = {step.agent} if step.role is Role.WORKER else set()
    return len(pool - set(state.tried) - pending)
