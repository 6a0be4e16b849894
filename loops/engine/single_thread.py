"""The single-threaded controller: one worker, a reviewer, a coach (RULES 4).

`apply` folds one log entry in constant time, `direct` says what is due. Choices made where RULES 4
leaves room:
- The outcome is classed from the evidence each time; a recorded outcome is never trusted
  (controllers.replay compares the two).
- A clean review falls with every change but that of a DONE row: committing leftovers moves HEAD,
  not the tree, and any bug that a worker moves there keeps the session from ending.
- REJECTED and STALL lead to the worker even when the coach is due by count; the coach comes after
  the next WORK or review. Without a coach every visit of the coach falls through to the worker.
- INTERRUPTED iterations count against the limit of iterations, but not as worker iterations:
  neither for idleness nor for the coach. Holds and full contexts are no faults in a row; a success
  ends all three rows.
- A human event after a proved end takes the end back; the ending transaction therefore has nothing
  to check but that no entry came after the record.
"""

from __future__ import annotations

from typing import assert_never

from loops.engine import asking, endings
from loops.engine.bounds import Swing, swing_on
from loops.engine.decisions import (
    due,
    grants_kept,
    in_order,
    is_ended_by_person,
    left_of_iterations,
)
from loops.engine.effects import coached, interrupted, notes_after, reviewed, worked
from loops.engine.endings import needs_script, why_not_done
from loops.engine.outcomes import classify, explain
from loops.engine.rules import Rule
from loops.engine.run_state import Step, counted, limits_now
from loops.engine.thread_state import Judged, ThreadState
from loops.engine.values import (
    Config,
    Configured,
    Decided,
    Directive,
    DoneMode,
    Entry,
    Evidence,
    Forked,
    HumanEvent,
    Opened,
    Outcome,
    Recorded,
    Role,
    RunRole,
    Why,
)

__all__ = [
    "apply",
    "at_most",
    "classify",
    "direct",
    "explain",
    "initial",
    "limits_now",
    "needs_script",
    "why_not_done",
]


def initial(config: Config) -> ThreadState:
    """The state of an empty log: the worker is due."""
    return ThreadState(config=config, step=Step(Role.WORKER, Rule.START, "the session starts"))


def apply(state: ThreadState, entry: Entry) -> ThreadState:
    """The state after one more entry. Raises ValueError if it does not come after the last one."""
    in_order(state, entry)
    match entry:
        case Recorded():
            return _recorded(state, entry)
        case HumanEvent():
            return _human_event(state, entry)
        case Decided():
            return asking.decide(state, entry)
        case Opened():
            return _opened(state, entry)
        case Configured():
            return _configured(state, entry)
        case Forked():
            return _forked(state, entry)
        case _:
            assert_never(entry)


def direct(state: ThreadState) -> Directive:
    """What is due: an end before a question before a limit before the next role (RULES 1, 4)."""
    if state.end is not None:
        return state.end
    return due(state)


def at_most(state: ThreadState) -> int:
    """At most so many more iterations until an end or a question, whatever agents do."""
    return left_of_iterations(state) if isinstance(direct(state), RunRole) else 0


# --- entries other than iterations ---------------------------------------------------------------


def _opened(state: ThreadState, entry: Opened) -> ThreadState:
    judged = state.judged
    if entry.script_exit is not None:
        verdict = Judged(entry.base_rev, entry.base_head, entry.spec, entry.script_exit)
        judged = endings.remember(judged, verdict)
    state = state.but(
        seq=entry.seq,
        base_rev=entry.base_rev,
        base_head=entry.base_head,
        rev=entry.base_rev,
        head=entry.base_head,
        spec=entry.spec,
        judged=judged,
        swing=swing_on(Swing(), entry.base_rev),
    )
    if state.config.done_mode is not DoneMode.SCRIPT or _missing(state, entry):
        return state
    return state.but(end=endings.proved(state))


def _configured(state: ThreadState, entry: Configured) -> ThreadState:
    """A new configuration from the next step. A limit whose number a person changed is meant as it
    reads, so what was granted on top of the old number is dropped; other grants stay."""
    if entry.config.pattern is not state.config.pattern:
        raise ValueError("A session's pattern cannot change.")
    step = state.step
    if step.role is Role.COACH and not entry.config.has_coach:
        step = Step(Role.WORKER, Rule.COACH, "there is no coach any more")
    old, new = state.config.limits, entry.config.limits
    granted = grants_kept(state.granted, old, new)
    return state.but(seq=entry.seq, config=entry.config, granted=granted, step=step)


def _forked(state: ThreadState, entry: Forked) -> ThreadState:
    """What was learnt are the notes; streak and clean review are to be earned anew (RULES 1)."""
    base = entry.base
    return initial(state.config).but(
        seq=entry.seq,
        human_seq=entry.seq,
        base_rev=base.rev,
        base_head=base.head,
        rev=base.rev,
        head=base.head,
        spec=state.spec,
        notes=state.notes,
        swing=swing_on(Swing(), base.rev),
    )


def _human_event(state: ThreadState, entry: HumanEvent) -> ThreadState:
    end = state.end if is_ended_by_person(state) else None
    return state.but(
        seq=entry.seq, human_seq=entry.seq, streak=0, clean_review=None, idle=0, end=end
    )


# --- iterations ----------------------------------------------------------------------------------


def _recorded(state: ThreadState, entry: Recorded) -> ThreadState:
    evidence = entry.evidence
    outcome = classify(state, evidence)
    state = _counted(state, entry.seq, evidence, outcome)
    if outcome is Outcome.INTERRUPTED:
        state = interrupted(state, evidence)
    elif evidence.role is Role.WORKER:
        state = worked(state, evidence, outcome)
    elif evidence.role is Role.REVIEWER:
        state = reviewed(state, evidence, outcome)
    else:
        state = coached(state)
    if is_ended_by_person(state):
        return state
    return _concluded(state, evidence, outcome)


def _concluded(state: ThreadState, evidence: Evidence, outcome: Outcome) -> ThreadState:
    """An end, or else a question, or neither: then the step stands."""
    if state.config.done_mode is DoneMode.SCRIPT or outcome is Outcome.DONE:
        missing = _missing(state, evidence)
        if not missing:
            return state.but(end=endings.proved(state), question=None)
        if endings.only_blocked(missing):
            return state.but(end=None, question=asking.ask_blocked(evidence.blocked))
    if evidence.disputed:
        return state.but(end=None, question=asking.ask_disputed(evidence.disputed))
    return state.but(end=None, question=asking.question_due(state))


def _missing(state: ThreadState, seen: Evidence | Opened) -> tuple[Why, ...]:
    return why_not_done(
        state,
        rev=state.rev,
        head=state.head,
        spec=state.spec,
        blockers=seen.blockers,
        unjudged=seen.unjudged,
        blocked=seen.blocked,
    )


def _counted(state: ThreadState, seq: int, evidence: Evidence, outcome: Outcome) -> ThreadState:
    """What every iteration leaves: spending, where things stand, notes for the prompts."""
    after, judged = evidence.after, state.judged
    if evidence.script_exit is not None:
        verdict = Judged(after.rev, after.head, after.spec, evidence.script_exit)
        judged = endings.remember(judged, verdict)
    notes = notes_after(state.notes, evidence, outcome)
    return state.but(**counted(state, seq, evidence), judged=judged, notes=notes)
