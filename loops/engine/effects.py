"""What one iteration does to the state, by role (columns "effect" and "next" of RULES 4)."""

from __future__ import annotations

from loops.engine.bounds import OSCILLATION_COACH, swing_on
from loops.engine.outcomes import FAULT_WORDS, explain, has_changed
from loops.engine.rules import Rule
from loops.engine.thread_state import NOTES_KEPT, Note, Step, ThreadState
from loops.engine.values import Evidence, Fault, Outcome, Role, Signal

STALLS_TO_COACH = 3
BACK_OFF_SECONDS = (5.0, 30.0)  # after the first and the second interruption in a row
HOLD_DEFAULT_SECONDS = 300.0  # the agent did not say when its limit resets
HOLD_SHORTEST_SECONDS = 1.0
HOLD_LONGEST_SECONDS = 24 * 3600.0

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
        faults=0,
        holds=0,
        context_fulls=0,
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
        faults=0,
        holds=0,
        context_fulls=0,
        step=Step(role, _RULE[outcome], reason),
    )


def coached(state: ThreadState) -> ThreadState:
    return state.but(
        workers_since_coach=0,
        coach_due=False,
        stalls=0,
        faults=0,
        holds=0,
        context_fulls=0,
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
    return _repeated(state, evidence)


def _repeated(state: ThreadState, evidence: Evidence) -> ThreadState:
    role, fault = evidence.role, evidence.fault
    assert fault is not None  # INTERRUPTED is classed from a fault only
    reason = f"the same step again: {FAULT_WORDS[fault]}"
    match fault:
        case Fault.AGENT_LIMIT:
            resets_in = evidence.resets_in
            wait = HOLD_DEFAULT_SECONDS if resets_in is None else resets_in
            wait = min(max(wait, HOLD_SHORTEST_SECONDS), HOLD_LONGEST_SECONDS)
            return state.but(
                holds=state.holds + 1,
                reset_far=resets_in is not None and resets_in > HOLD_LONGEST_SECONDS,
                step=Step(role, Rule.HELD, reason, wait),
            )
        case Fault.CONTEXT_FULL:
            step = Step(role, Rule.SHORTER, reason)
            return state.but(context_fulls=state.context_fulls + 1, step=step)
        case Fault.AUTH:
            return state.but(auth_failed=True, step=Step(role, Rule.FAULT_AGAIN, reason))
        case _:
            wait = BACK_OFF_SECONDS[min(state.faults, len(BACK_OFF_SECONDS) - 1)]
            if fault is Fault.WORKER_LOST:
                wait = 0.0  # our own death says nothing against trying at once; the third asks
            step = Step(role, Rule.FAULT_AGAIN, reason, wait)
            return state.but(faults=state.faults + 1, step=step)
