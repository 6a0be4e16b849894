"""What a person's decision does to Thinker-Worker-Verifier (RULES 6)."""

from __future__ import annotations

from loops.engine.decisions import due, end_by, with_grants, with_words
from loops.engine.faults import after_fault
from loops.engine.feedback_effects import first_step
from loops.engine.feedback_rules import Rule
from loops.engine.feedback_state import FeedbackState
from loops.engine.feedback_verdict import uncertain, with_extra_retry, with_feedback
from loops.engine.rules import Rule as SharedRule
from loops.engine.run_state import Step
from loops.engine.values import (
    AskHuman,
    Choice,
    Decided,
    EndReason,
    Finish,
    Kind,
    Role,
    Verdict,
)

# Questions about an attempt: what a person says about them is a verdict on it.
_ON_THE_ATTEMPT = frozenset(
    {Kind.UNCERTAIN, Kind.VERIFIER_CONFLICT, Kind.EXHAUSTED, Kind.SPEC_CHANGED}
)
_VERDICTS = frozenset({Choice.REJECT, Choice.REPLAN, Choice.AMEND, Choice.REASSIGN})


def decide(state: FeedbackState, decided: Decided) -> FeedbackState:
    """The state after a person's decision. One on a question that is not the open one changes
    nothing but grants and words.

    Raises ValueError for a grant that raises no limit and a worker outside the pool.
    """
    asked = _asked(state)
    state = state.but(
        seq=decided.seq,
        granted=with_grants(state.granted, decided),
        notes=with_words(state.notes, decided, (Role.THINKER, Role.WORKER)),
    )
    if (end := end_by(state, decided)) is not None:
        return state.but(end=end, question=None)
    if asked is None or asked.kind is not decided.kind:
        return state
    if decided.kind in _ON_THE_ATTEMPT and decided.choice not in _VERDICTS:
        return state
    return _effect(_reset(state, decided.kind), decided)


def _asked(state: FeedbackState) -> AskHuman | None:
    """The open question; limits and gates follow from the counts."""
    asked = None if state.end else due(state)
    return asked if isinstance(asked, AskHuman) else None


def _reset(state: FeedbackState, kind: Kind) -> FeedbackState:
    """Table "After a decision" (RULES 6): the pending step stands."""
    match kind:
        case Kind.NO_PROGRESS:
            return state.but(question=None, idle=0)
        case Kind.INFRASTRUCTURE | Kind.AUTH:
            return after_fault(state.but(question=None))
        case Kind.LIMIT | Kind.GATE:
            return state
        case _:
            return state.but(question=None)


def _effect(state: FeedbackState, decided: Decided) -> FeedbackState:
    match decided.choice:
        case Choice.REJECT:
            return _rejected(state, decided)
        case Choice.REPLAN:
            return _replanned(state, Rule.PERSON_REPLANS, "a person asked for a new plan")
        case Choice.AMEND:
            return _replanned(state, Rule.AMENDED, "a person amended a requirement")
        case Choice.REASSIGN:
            return _reassigned(state, decided)
        case Choice.ALLOW if decided.kind is Kind.GATE:
            return state.but(gate_passed=state.iterations)
        case Choice.DENY if decided.kind is Kind.GATE and state.step.role is Role.VERIFIER:
            why = f"A person did not let {state.step.agent} judge it."
            return uncertain(state, SharedRule.AFTER_GATE, why, Kind.UNCERTAIN)
        case _:
            return state


def _rejected(state: FeedbackState, decided: Decided) -> FeedbackState:
    if decided.attempts <= 0:
        return state.but(end=_given_up(state), question=None)
    state = state.but(
        extra=state.extra + decided.attempts, extras_given=state.extras_given + decided.attempts
    )
    if decided.kind not in _ON_THE_ATTEMPT:
        return state
    state = with_feedback(state, "a person", Verdict.FAIL, 0, decided.text)
    return with_extra_retry(state, f"a person rejected attempt {state.attempts}")


def _given_up(state: FeedbackState) -> Finish:
    best = state.best
    kept = f" The best output, attempt {best.attempt}, is kept; it is not verified." if best else ""
    return Finish(
        rule=Rule.REJECTED,
        reason=EndReason.EXHAUSTED,
        sentence=f"A person rejected the result and granted no further attempt.{kept}",
        result=best.tree if best else state.attempt,
    )


def _replanned(state: FeedbackState, rule: Rule, reason: str) -> FeedbackState:
    """No counter moves, so no new round of reassignments opens: one attempt more, exactly.

    A thinker that is due anyway stays as it is.
    """
    if state.step.role is Role.THINKER:
        return state
    return state.but(
        extras_given=state.extras_given + 1,
        keeps_tried=True,
        step=Step(Role.THINKER, rule, reason),
    )


def _reassigned(state: FeedbackState, decided: Decided) -> FeedbackState:
    """Before there is a plan there is nothing to work on: the thinker stays due."""
    pool = state.config.pool
    if decided.worker not in pool:
        raise ValueError(f"{decided.worker!r} is not in the pool: {', '.join(pool)}.")
    if state.plan is None:
        return state
    reason = f"a person chose {decided.worker}"
    step = first_step(state, Rule.PERSON_REASSIGNS, reason, decided.worker)
    return state.but(extras_given=state.extras_given + 1, step=step)
