"""Plans: whether one can be used, the criteria it brings, and who works next under it (RULES 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loops.engine.contracts import Criterion, Plan
from loops.engine.feedback_state import FeedbackState
from loops.engine.values import Policy


def plan_defect(plan: Plan | None, pool: Sequence[str]) -> str:
    """Why a thinker's reply is no plan that can be followed; "" if it is one."""
    if plan is None:
        return "The thinker handed in no plan."
    unknown = [
        name for name in (plan.selected_worker, *plan.alternative_workers) if name not in pool
    ]
    if unknown:
        names = ", ".join(dict.fromkeys(unknown))
        return f"The plan names {names}; the pool is: {', '.join(pool)}."
    if not any(criterion.words.strip() for criterion in plan.success_criteria):
        return "The plan has no success criterion, so nothing could be judged by it."
    return ""


def criteria_of(
    plan: Plan, old: tuple[Criterion, ...]
) -> tuple[tuple[Criterion, ...], tuple[str, ...]]:
    """The new version of the criteria, keyed anew, and the words of those carried over: a replan
    may not drop what traces to a requirement."""
    new = [criterion for criterion in plan.success_criteria if criterion.words.strip()]
    traced = {criterion.traces for criterion in new}
    carried = [one for one in old if one.traces and one.traces not in traced]
    rekeyed = tuple(
        replace(criterion, key=f"C-{number}") for number, criterion in enumerate(new + carried, 1)
    )
    return rekeyed, tuple(one.words for one in carried)


def is_out_of_date(state: FeedbackState) -> bool:
    """A requirement in scope changed after the thinker of the plan in force read it.

    The spec version tells what no entry of this log can: edits before a fork of it.
    """
    return state.edited_seq > state.plan_claimed or state.spec != state.plan_spec


def untried(state: FeedbackState, recommended: str = "") -> str:
    """The worker that a REASSIGN takes; "" if this plan has tried them all.

    The recommended one if known; else the plan's alternatives in order; else the pool's order.
    """
    pool = state.config.pool
    for name in (recommended, *(state.plan.alternative_workers if state.plan else ()), *pool):
        if name in pool and name not in state.tried and name != state.worker:
            return name
    return ""


def substitute(state: FeedbackState) -> str:
    """Who takes the step of a worker that is no longer in the pool."""
    pool = state.config.pool
    selected = state.plan.selected_worker if state.plan else ""
    if selected in pool and selected not in state.tried:
        return selected
    return untried(state) or (pool[0] if pool else "")


def next_verifier(state: FeedbackState) -> str:
    """Who still has to judge the current attempt, in order; "" if all have."""
    heard = {one.verifier for one in state.given}
    return next(
        (
            verifier.name
            for verifier in state.config.verifiers
            if verifier.policy is not Policy.RESERVE and verifier.name not in heard
        ),
        "",
    )


def next_reserve(state: FeedbackState) -> str:
    """A verifier of the reserve that has not judged the current attempt; "" if there is none."""
    heard = {one.verifier for one in state.given}
    return next(
        (
            verifier.name
            for verifier in state.config.verifiers
            if verifier.policy is Policy.RESERVE and verifier.name not in heard
        ),
        "",
    )
