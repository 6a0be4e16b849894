"""What one iteration does to the state, by role (columns "effect" and "next" of RULES 4)."""

from __future__ import annotations

from loops.engine.bounds import OSCILLATION_COACH, swing_on
from loops.engine.faults import NO_FAULTS, repeated
from loops.engine.outcomes import explain, has_changed
from loops.engine.rules import Rule
from loops.engine.run_state import NOTES_KEPT, Note, Step
from loops.engine.thread_state import ThreadState
from loops.engine.values import Evidence, Outcome, Role, Signal

STALLS_TO_COACH = 3

_RULE = {
    Outcome.STALL: Rule.STALL,
    Outcome.CONFLICT: Rule.CONFLICT,
    Outcome.REJECTED: Rule.REJECTED,
    Outcome.DONE: Rule.DONE,
    Outcome.WORK: Rule.WORK,
    Outcome.REVIEW_STALL: Rule.REVIEW_STALL,
    Outcome.REVIEW_BUGS: Rule.REVIEW_BUGS,
    Outcome.REVIEW_CLEAN: Rule.REVIEW_CLEAN,
}
_TOLD = frozenset({Outcome.STALL, Outcome.CONFLICT, Outcome.REJECTED, Outcome.REVIEW_STALL})

Due = tuple[Role, str]


def notes_after(notes: tuple[Note, ...], evidence: Evidence, outcome: Outcome) -> tuple[Note, ...]:
    """Notes that a prompt has shown are gone, except that an interrupted step shows them again.

    What the boundary noted goes to whoever is next, and to the role it is about if that is another.
    """
    role = evidence.role
    if outcome is Outcome.INTERRUPTED:
        kept = list(notes)
        if has_changed(evidence):
            kept.append(Note(role, explain(evidence, outcome)))
    else:
        kept = [note for note in notes if note.to is not None and note.to is not role]
        if _is_for_the_next_prompt(evidence, outcome):
            kept.append(Note(role, explain(evidence, outcome)))
    for text in evidence.notes:
        kept += (Note(None, text), Note(role, text))
    return tuple(kept[-NOTES_KEPT:])


def _is_for_the_next_prompt(evidence: Evidence, outcome: Outcome) -> bool:
    # A review that calls open entries clean is told so; other findings stand in the tracker.
    contradicts = outcome is Outcome.REVIEW_BUGS and evidence.signal is Signal.REVIEW_CLEAN
    return outcome in _TOLD or contradicts


def worked(state: ThreadState, evidence: Evidence, outcome: Outcome) -> ThreadState:
    changed = has_changed(evidence)
    done = outcome is Outcome.DONE
    works = outcome is Outcome.WORK or outcome is Outcome.CONFLICT
    # A human event during the iteration has set the streak to 0, and this done does not count.
    streak = state.streak + (state.human_seq <= evidence.claimed_at) if done else 0
    stalls = state.stalls + 1 if outcome is Outcome.STALL else 0
    swing = swing_on(swing_on(state.swing, evidence.before.rev), evidence.after.rev)
    swings = state.swing.turns < OSCILLATION_COACH <= swing.turns
    conflicts = state.conflicts + 1 if outcome is Outcome.CONFLICT else 0
    state = state.but(
        streak=streak,
        clean_review=state.clean_review if done or not changed else None,
        stalls=0 if stalls >= STALLS_TO_COACH else stalls,
        works_since_review=state.works_since_review + works,
        workers_since_coach=state.workers_since_coach + 1,
        coach_due=state.coach_due or swings,
        idle=0 if changed else state.idle + 1,
        swing=swing,
        conflicts=conflicts,
        conflict_paths=evidence.changed_paths if conflicts else (),
        **NO_FAULTS,
    )
    role, reason = _after_worker(state, evidence, outcome, stalls)
    return state.but(step=Step(role, _RULE[outcome], reason))


def _after_worker(state: ThreadState, evidence: Evidence, outcome: Outcome, stalls: int) -> Due:
    match outcome:
        case Outcome.DONE:
            return Role.REVIEWER, "the worker signalled done"
        case Outcome.REJECTED:
            return Role.WORKER, "its done signal was refused"
        case Outcome.STALL if stalls >= STALLS_TO_COACH and state.config.has_coach:
            return Role.COACH, f"{stalls} stalls in a row"
        case Outcome.STALL:
            return Role.WORKER, "the last worker stalled"
        case _:
            return _after_work(state, evidence)


def _after_work(state: ThreadState, evidence: Evidence) -> Due:
    if state.works_since_review >= state.config.review_every:
        return Role.REVIEWER, f"{state.works_since_review} pieces of work since the last review"
    if evidence.unjudged and not evidence.blockers:
        return Role.REVIEWER, "nothing is left to do and fixes wait for a review"
    return _coach_or_worker(state, "the work goes on")


def _coach_or_worker(state: ThreadState, otherwise: str) -> Due:
    if state.config.has_coach:
        if state.coach_due:
            return Role.COACH, "the loop went back and forth between two trees"
        if state.workers_since_coach >= state.config.coach_every:
            return Role.COACH, f"{state.workers_since_coach} worker iterations since the last coach"
    return Role.WORKER, otherwise


def reviewed(state: ThreadState, evidence: Evidence, outcome: Outcome) -> ThreadState:
    found = bool(evidence.findings)
    falls = found or outcome is Outcome.REVIEW_BUGS
    clean_review = None if falls else state.clean_review
    # After a human event during the review its verdict is about what no longer stands.
    if outcome is Outcome.REVIEW_CLEAN and state.human_seq <= evidence.claimed_at:
        clean_review = (evidence.before.rev, evidence.before.spec)
    review_stalls = 0
    if outcome is Outcome.REVIEW_STALL:
        review_stalls = state.review_stalls + (evidence.marks_added == 0)
        role, reason = Role.REVIEWER, "the last review gave no usable verdict"
    elif outcome is Outcome.REVIEW_BUGS:
        role, reason = _coach_or_worker(state, "the review left something to do")
    else:
        role, reason = _coach_or_worker(state, "the review was clean")
    return state.but(
        streak=0 if falls else state.streak,
        clean_review=clean_review,
        works_since_review=0,
        idle=0 if found else state.idle,
        review_stalls=review_stalls,
        **NO_FAULTS,
        step=Step(role, _RULE[outcome], reason),
    )


def coached(state: ThreadState) -> ThreadState:
    return state.but(
        workers_since_coach=0,
        coach_due=False,
        stalls=0,
        **NO_FAULTS,
        step=Step(Role.WORKER, Rule.COACH, "the coach has been"),
    )


def interrupted(state: ThreadState, evidence: Evidence) -> ThreadState:
    """The same step again. What the interrupted agent left behind counts as a change."""
    found = bool(evidence.findings)
    if found or has_changed(evidence):
        by_worker = evidence.role is Role.WORKER
        swing = state.swing
        if by_worker:
            swing = swing_on(swing_on(swing, evidence.before.rev), evidence.after.rev)
        idle = 0 if found or by_worker else state.idle
        state = state.but(streak=0, clean_review=None, idle=idle, swing=swing)
    return repeated(state, evidence)
