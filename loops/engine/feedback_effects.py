"""What one iteration does to the state, by role (RULES 2)."""

from __future__ import annotations

from dataclasses import replace

from loops.engine.bounds import idles_too_long
from loops.engine.contracts import Given
from loops.engine.faults import NO_FAULTS, repeated, trouble
from loops.engine.feedback_outcomes import explain, has_left_changes, report_of, with_fault
from loops.engine.feedback_plans import (
    criteria_of,
    next_verifier,
    plan_defect,
    substitute,
)
from loops.engine.feedback_rules import Rule
from loops.engine.feedback_state import OWN_KEPT, OWN_TEXT, FeedbackState, Own
from loops.engine.feedback_verdict import judged
from loops.engine.run_state import NOTES_KEPT, Note, Step, limit_of
from loops.engine.values import (
    AskHuman,
    Evidence,
    Kind,
    LimitName,
    Outcome,
    Role,
    Snapshot,
)


def planned(state: FeedbackState, evidence: Evidence) -> FeedbackState:
    """A plan in force, with its criteria frozen; or the thinker thinks once more."""
    plan = evidence.plan
    assert plan is not None  # PLAN is classed from a usable plan only
    state = state.but(notes=_notes_after(state, evidence), **NO_FAULTS)
    if plan.requires_self_call and state.self_called < state.config.self_calls:
        step = Step(Role.THINKER, Rule.SELF_CALL, "the thinker asked to think once more")
        return state.but(draft=plan, self_called=state.self_called + 1, step=step)
    criteria, carried = criteria_of(plan, state.criteria)
    number = state.plan_number + 1
    # An edit during the call is one that the thinker did not read.
    is_edited = state.edited_seq > evidence.claimed_at
    notes = tuple(
        Note(Role.THINKER, f"Carried over into plan {number}, which had dropped it: {words}")
        for words in carried
    )
    return state.but(
        plan=plan,
        draft=None,
        plan_number=number,
        plan_claimed=evidence.claimed_at,
        plan_spec=evidence.before.spec if is_edited else evidence.after.spec,
        criteria=criteria,
        tried=state.tried if state.keeps_tried else (),
        keeps_tried=False,
        notes=(*state.notes, *notes)[-NOTES_KEPT:],
        step=first_step(
            state,
            Rule.PLANNED,
            f"plan {number} selects {plan.selected_worker}",
            plan.selected_worker,
        ),
    )


def first_step(state: FeedbackState, rule: Rule, reason: str, worker: str) -> Step:
    """An attempt from the base."""
    return Step(Role.WORKER, rule, reason, agent=worker, start_from=state.base)


def attempted(state: FeedbackState, evidence: Evidence) -> FeedbackState:
    """One attempt more; its tree is what the verifiers judge."""
    worker = evidence.agent or state.step.agent
    is_idle = evidence.before.rev == evidence.after.rev
    number = state.attempts + 1
    state = state.but(
        attempts=number,
        worker=worker,
        tried=tuple(dict.fromkeys((*state.tried, worker))),
        attempt=Snapshot(evidence.after.rev, evidence.after.head),
        given=(),
        verdict=None,
        reverified=0,
        idle=state.idle + 1 if is_idle else 0,
        notes=tuple(note for note in state.notes if note.to is not Role.WORKER),
        own=_own_after(state, evidence, worker, f"Attempt {number}, plan {state.plan_number}:"),
        **NO_FAULTS,
    )
    return verified_next(state)


def verified_next(state: FeedbackState) -> FeedbackState:
    """The next verifier of the current attempt, or what their reports lead to together."""
    name = next_verifier(state)
    if not name:
        return with_idle_asked(judged(state))
    reason = f"attempt {state.attempts} is to be judged"
    return state.but(step=Step(Role.VERIFIER, Rule.VERIFY, reason, agent=name))


def reported(state: FeedbackState, evidence: Evidence) -> FeedbackState:
    """One verifier's report on the current attempt."""
    name = evidence.agent or state.step.agent
    given = Given(verifier=name, iteration=evidence.number, report=report_of(evidence))
    return verified_next(state.but(given=(*state.given, given), **NO_FAULTS))


def interrupted(state: FeedbackState, evidence: Evidence) -> FeedbackState:
    """The same step again. What an interrupted worker left behind stays, and it is told so."""
    outcome = Outcome.INTERRUPTED
    fault = with_fault(evidence)
    if evidence.role is Role.THINKER:
        notes = [Note(Role.THINKER, text) for text in evidence.notes]
        if evidence.fault is None:
            defect = plan_defect(evidence.plan, state.config.pool)
            notes.append(Note(Role.THINKER, f"The last plan was refused. {defect}"))
        state = state.but(notes=(*state.notes, *notes)[-NOTES_KEPT:])
    if evidence.role is Role.WORKER:
        worker = evidence.agent or state.step.agent
        state = state.but(own=_own_after(state, evidence, worker, explain(evidence, outcome)))
        if has_left_changes(evidence) and worker == state.step.agent:
            state = state.but(step=replace(state.step, start_from=None))
    state = refitted(repeated(state, fault))
    return state.but(question=trouble(state))


def refitted(state: FeedbackState) -> FeedbackState:
    """The pending step, or a sensible one if who was due is no longer part of the session."""
    step, config = state.step, state.config
    if step.role is Role.WORKER and step.agent not in config.pool:
        step = replace(
            step,
            rule=Rule.REPLACED,
            reason=f"{step.agent} is no longer in the pool",
            agent=substitute(state),
            start_from=step.start_from or state.base,
        )
        return state.but(step=step)
    names = {verifier.name for verifier in config.verifiers}
    if step.role is Role.VERIFIER and step.agent not in names and state.verdict is None:
        return verified_next(state.but(**NO_FAULTS, auth_failed=False, reset_far=False))
    return state


def with_idle_asked(state: FeedbackState) -> FeedbackState:
    """Asked before work goes on, never before an attempt is judged: it may be right as it is."""
    allowed = limit_of(state, LimitName.NO_PROGRESS)
    if state.end or state.question or state.step.role is Role.VERIFIER or allowed is None:
        return state
    if not idles_too_long(state.idle, allowed):
        return state
    text = f"{state.idle} attempts in a row left the tree as it was."
    asked = AskHuman(rule=Rule.ASK_IDLE, kind=Kind.NO_PROGRESS, question=text)
    return state.but(question=asked)


def _notes_after(state: FeedbackState, evidence: Evidence) -> tuple[Note, ...]:
    """What the thinker's prompt showed is gone; what its boundary noted is for its next call."""
    kept = [note for note in state.notes if note.to is not Role.THINKER]
    return (*kept, *(Note(Role.THINKER, text) for text in evidence.notes))


def _own_after(state: FeedbackState, evidence: Evidence, worker: str, what: str) -> tuple[Own, ...]:
    """Facts of one worker's iteration, for its own memory only."""
    paths = ", ".join(evidence.changed_paths[:20])
    number = len(evidence.changed_paths)
    more = f" and {number - 20} more" if number > 20 else ""
    changed = f"changed {paths}{more}" if paths else ""
    if not paths and evidence.before.rev == evidence.after.rev:
        changed = "changed nothing"
    texts = (f"{what} {changed}".strip(), *evidence.notes)
    lines = (Own(worker, evidence.number, text[:OWN_TEXT]) for text in texts)
    return (*state.own, *lines)[-OWN_KEPT:]
