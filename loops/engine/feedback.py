"""The controller of Thinker-Worker-Verifier (RULES 2).

A thinker plans and freezes criteria, a worker of the pool attempts, verifiers judge, and one table
says what follows. Choices made where RULES 2 leaves room:
- The outcome is classed from the evidence each time; a recorded outcome is never trusted.
- Every verifier but those of the reserve judges each attempt, in order; then one pass over the
  table. An interrupted step is repeated before anything is judged.
- A person's replan, reassignment or amendment moves no counter and opens no new round of
  reassignments: the workers tried so far stay tried, so it adds exactly one attempt to the bound.
- Idle attempts are asked about after the verdict: an attempt that changes nothing may be right.
- An edit of any requirement in scope makes the criteria out of date, also of one that no criterion
  traces: nothing would prove it. Edited after a proved end, it takes the end back.
- A worker's own memory holds facts of its iterations; nobody else is shown them.
"""

from __future__ import annotations

from typing import assert_never

from loops.engine import feedback_asking
from loops.engine.decisions import (
    due,
    grants_kept,
    in_order,
    is_ended_by_person,
    left_of_iterations,
)
from loops.engine.feedback_effects import attempted, first_step, interrupted, planned, refitted
from loops.engine.feedback_effects import reported as judged_by
from loops.engine.feedback_ends import PROVED, attempts_at_most, why_not_done
from loops.engine.feedback_outcomes import classify, explain
from loops.engine.feedback_plans import is_out_of_date
from loops.engine.feedback_rules import Rule
from loops.engine.feedback_state import FeedbackState
from loops.engine.feedback_verdict import accepted
from loops.engine.run_state import Step, counted, limits_now
from loops.engine.values import (
    REQUIREMENT_EDITED,
    Config,
    Configured,
    Decided,
    Directive,
    Entry,
    Forked,
    HumanEvent,
    Opened,
    Outcome,
    Recorded,
    Role,
    RunRole,
)

__all__ = [
    "apply",
    "at_most",
    "attempts_at_most",
    "classify",
    "direct",
    "explain",
    "initial",
    "is_out_of_date",
    "limits_now",
    "needs_script",
    "why_not_done",
]


def initial(config: Config) -> FeedbackState:
    """The state of an empty log: the thinker is due."""
    return FeedbackState(config=config, step=Step(Role.THINKER, Rule.START, "the session starts"))


def apply(state: FeedbackState, entry: Entry) -> FeedbackState:
    """The state after one more entry. Raises ValueError if it does not come after the last one."""
    in_order(state, entry)
    match entry:
        case Recorded():
            return _recorded(state, entry)
        case HumanEvent():
            return _human_event(state, entry)
        case Decided():
            return feedback_asking.decide(state, entry)
        case Opened():
            return _opened(state, entry)
        case Configured():
            return _configured(state, entry)
        case Forked():
            return _forked(state, entry)
        case _:
            assert_never(entry)


def direct(state: FeedbackState) -> Directive:
    """What is due: an end before a question before a limit before the next role."""
    if state.end is not None:
        return state.end
    return due(state)


def at_most(state: FeedbackState) -> int:
    """At most so many more iterations until an end or a question, whatever agents do."""
    return left_of_iterations(state) if isinstance(direct(state), RunRole) else 0


def needs_script(state: FeedbackState, *, rev: str, head: str, spec: str) -> bool:
    """Never: verifiers judge here."""
    return False


def _opened(state: FeedbackState, entry: Opened) -> FeedbackState:
    return state.but(
        seq=entry.seq,
        base_rev=entry.base_rev,
        base_head=entry.base_head,
        rev=entry.base_rev,
        head=entry.base_head,
        spec=entry.spec,
    )


def _configured(state: FeedbackState, entry: Configured) -> FeedbackState:
    """A new configuration from the next step; the pool and the verifiers may be others."""
    if entry.config.pattern is not state.config.pattern:
        raise ValueError("A session's pattern cannot change.")
    granted = grants_kept(state.granted, state.config.limits, entry.config.limits)
    state = state.but(seq=entry.seq, config=entry.config, granted=granted)
    return state if state.end else refitted(state)


def _human_event(state: FeedbackState, entry: HumanEvent) -> FeedbackState:
    state = state.but(seq=entry.seq, human_seq=entry.seq, idle=0)
    if entry.what != REQUIREMENT_EDITED:
        return state
    state = state.but(edited_seq=entry.seq)
    if state.end is not None and state.end.reason in PROVED:
        return accepted(state)
    return state


def _forked(state: FeedbackState, entry: Forked) -> FeedbackState:
    """What was learnt stays: the plan, its criteria, feedback and notes. Counts start at 0."""
    base = entry.base
    fresh = initial(state.config).but(
        seq=entry.seq,
        human_seq=state.human_seq,
        base_rev=base.rev,
        base_head=base.head,
        rev=base.rev,
        head=base.head,
        spec=state.spec,
        notes=state.notes,
        plan=state.plan,
        draft=state.draft,
        plan_number=state.plan_number,
        plan_claimed=state.plan_claimed,
        plan_spec=state.plan_spec,
        edited_seq=state.edited_seq,
        criteria=state.criteria,
        feedback=state.feedback,
        own=state.own,
    )
    if fresh.plan is None:
        return fresh
    worker = fresh.plan.selected_worker
    reason = f"the fork goes on with plan {fresh.plan_number}"
    return refitted(fresh.but(step=first_step(fresh, Rule.FORKED, reason, worker)))


def _recorded(state: FeedbackState, entry: Recorded) -> FeedbackState:
    evidence = entry.evidence
    outcome = classify(state, evidence)
    state = state.but(**counted(state, entry.seq, evidence))
    if is_ended_by_person(state):
        return state
    state = state.but(question=None, end=None)
    match outcome:
        case Outcome.INTERRUPTED:
            return interrupted(state, evidence)
        case Outcome.PLAN:
            return planned(state, evidence)
        case Outcome.ATTEMPT:
            return attempted(state, evidence)
        case _:
            return judged_by(state, evidence)
