"""When the single-threaded loop asks a person, and what a decision does to it (RULES 4 and 6)."""

from __future__ import annotations

from loops.engine.bounds import OSCILLATION_ASK, calm, idles_too_long
from loops.engine.decisions import end_by, with_grants, with_words
from loops.engine.faults import after_fault, trouble
from loops.engine.outcomes import names
from loops.engine.rules import Rule
from loops.engine.run_state import Step, limit_of
from loops.engine.thread_state import ThreadState
from loops.engine.values import AskHuman, Choice, Decided, Kind, LimitName, Role

CONFLICTS_ASK = 4
REVIEW_STALLS_ASK = 3  # the first and two repeats


def question_due(state: ThreadState) -> AskHuman | None:
    """The question that the counts call for, by precedence; limits are not among them.

    Questions about entries (blocked, disputed) go before these and are set by the record itself.
    """
    return _no_progress(state) or _review_stall(state) or trouble(state)


def _no_progress(state: ThreadState) -> AskHuman | None:
    allowed = limit_of(state, LimitName.NO_PROGRESS)
    if allowed is not None and idles_too_long(state.idle, allowed):
        text = f"{state.idle} worker iterations in a row changed nothing."
        return _ask(Rule.ASK_IDLE, Kind.NO_PROGRESS, text)
    if state.swing.turns >= OSCILLATION_ASK:
        text = "The loop went back and forth between the same two trees three times."
        return _ask(Rule.ASK_OSCILLATION, Kind.NO_PROGRESS, text)
    if state.conflicts >= CONFLICTS_ASK:
        text = (
            f"{state.conflicts} times in a row the worker signalled done and changed files:"
            f" {names(state.conflict_paths)}."
        )
        return _ask(Rule.ASK_CONFLICTS, Kind.NO_PROGRESS, text)
    return None


def _review_stall(state: ThreadState) -> AskHuman | None:
    if state.review_stalls < REVIEW_STALLS_ASK:
        return None
    text = f"{state.review_stalls} reviews in a row gave no usable verdict."
    return _ask(Rule.ASK_REVIEW_STALL, Kind.REVIEW_STALL, text)


def _ask(rule: Rule, kind: Kind, text: str) -> AskHuman:
    return AskHuman(rule=rule, kind=kind, question=text)


def ask_blocked(keys: tuple[str, ...]) -> AskHuman:
    text = f"Everything else is done. What is to become of {names(keys)}?"
    return AskHuman(rule=Rule.ASK_BLOCKED, kind=Kind.BLOCKED, question=text, subjects=keys)


def ask_disputed(keys: tuple[str, ...]) -> AskHuman:
    text = f"Worker and reviewer do not agree: reopened three times: {names(keys)}."
    return AskHuman(rule=Rule.ASK_DISPUTED, kind=Kind.DISPUTED_FIX, question=text, subjects=keys)


_AGAIN = {Kind.BLOCKED: ask_blocked, Kind.DISPUTED_FIX: ask_disputed}

# --- decisions -----------------------------------------------------------------------------------


def decide(state: ThreadState, decided: Decided) -> ThreadState:
    """The state after a person's decision. Raises ValueError for a grant that raises no limit.

    A decision on a question with several entries clears its own entry; without an entry it is about
    all of them.
    """
    state = state.but(
        seq=decided.seq,
        granted=with_grants(state.granted, decided),
        notes=with_words(state.notes, decided, (Role.WORKER, Role.REVIEWER)),
    )
    if (end := end_by(state, decided)) is not None:
        return state.but(end=end, question=None)
    if decided.kind is Kind.GATE:
        return _after_gate(state, decided)
    asked = state.question
    if asked is None or asked.kind is not decided.kind:
        # A limit (it follows from the counts), or an entry answered before it blocked anything:
        # the pending step stands.
        return state
    left = tuple(key for key in asked.subjects if decided.subject and key != decided.subject)
    if left == asked.subjects and left:
        return state
    all_dismissed = state.all_dismissed and decided.disposition == "dismiss"
    if left:
        again = _AGAIN[asked.kind](left)
        return state.but(question=again, all_dismissed=all_dismissed)
    state = _reset(state.but(question=None, all_dismissed=all_dismissed), decided.kind)
    return state.but(question=question_due(state), all_dismissed=True)


def _reset(state: ThreadState, kind: Kind) -> ThreadState:
    """Table "After a decision" (RULES 6), the rows of this pattern."""
    match kind:
        case Kind.NO_PROGRESS:
            step = Step(Role.WORKER, Rule.AFTER_NO_PROGRESS, "a person let it go on")
            return state.but(
                idle=0, swing=calm(state.swing), conflicts=0, conflict_paths=(), step=step
            )
        case Kind.REVIEW_STALL:
            step = Step(Role.REVIEWER, Rule.AFTER_REVIEW_STALL, "a person let it go on")
            return state.but(review_stalls=0, step=step)
        case Kind.INFRASTRUCTURE | Kind.AUTH:
            return after_fault(state)
        case Kind.DISPUTED_FIX:
            step = Step(Role.WORKER, Rule.AFTER_DISPUTED, "a person settled the dispute")
            return state.but(step=step)
        case Kind.BLOCKED:
            return _after_blocked(state)
        case _:
            raise ValueError(f"A single-threaded loop never asks {kind.value!r}.")


def _after_blocked(state: ThreadState) -> ThreadState:
    if state.all_dismissed:
        step = Step(Role.REVIEWER, Rule.AFTER_BLOCKED, "every blocked entry was dismissed")
    else:
        step = Step(Role.WORKER, Rule.AFTER_BLOCKED, "a person answered")
    return state.but(step=step)


def _after_gate(state: ThreadState, decided: Decided) -> ThreadState:
    """Allowed: this one iteration runs. Refused: the worker goes on without the role; a worker
    that may not run is asked about again."""
    if decided.choice is Choice.ALLOW:
        return state.but(gate_passed=state.iterations)
    step = Step(Role.WORKER, Rule.AFTER_GATE, f"a person did not let the {state.step.role} run")
    return state.but(step=step)
