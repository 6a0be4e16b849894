"""When the Maker-Verifier loop asks a person, and what a decision does to it (RULES 3 and 6)."""

from __future__ import annotations

from dataclasses import replace

from loops.engine.bounds import idles_too_long
from loops.engine.decisions import end_by, with_grants, with_words
from loops.engine.faults import after_fault, trouble
from loops.engine.maker_effects import frozen, left_open, making
from loops.engine.maker_rules import Rule
from loops.engine.maker_state import MakerState
from loops.engine.run_state import limit_of
from loops.engine.values import (
    AskHuman,
    Choice,
    Decided,
    EndReason,
    Finish,
    Kind,
    LimitName,
    Role,
    Snapshot,
)

_FAULTS = (Kind.INFRASTRUCTURE, Kind.AUTH)


def question_due(state: MakerState) -> AskHuman | None:
    """What has to be asked before the next step; limits and gates are not among it. A verdict's
    question is kept in the state, the others follow from the counts."""
    if state.question is not None:
        return state.question
    asked = trouble(state) or _before_making(state)
    return asked and replace(asked, shown=shown_for(state, asked.kind))


def shown_for(state: MakerState, kind: Kind) -> Snapshot | None:
    """The tree that a person would approve: the best one at the ceiling, else the last attempt's;
    None before the first."""
    if kind is Kind.CEILING and state.best is not None:
        return state.best.tree
    return state.current


def _before_making(state: MakerState) -> AskHuman | None:
    if state.step.role is not Role.MAKER:
        return None
    if not state.attempts_left:
        text = f"{state.attempts} attempts ran and none was approved.{_best(state)}"
        return AskHuman(rule=Rule.ASK_CEILING, kind=Kind.CEILING, question=text)
    allowed = limit_of(state, LimitName.NO_PROGRESS)
    if allowed is not None and idles_too_long(state.idle, allowed):
        text = f"{state.idle} attempts in a row changed nothing."
        return AskHuman(rule=Rule.ASK_IDLE, kind=Kind.NO_PROGRESS, question=text)
    return None


def _best(state: MakerState) -> str:
    if state.best is None:
        return ""
    score = f" (score {state.best.score} of 10)" if state.best.score else ""
    return f" The best is attempt {state.best.attempt}{score}."


# --- decisions -----------------------------------------------------------------------------------


def decide(state: MakerState, decided: Decided) -> MakerState:
    """The state after a person's decision. Raises ValueError for a grant that raises no limit.

    A decision on another question than the open one ends the session, or leaves its words, attempts
    and criteria; the open question stays.
    """
    asked = question_due(state)
    fits = asked is None or asked.kind is decided.kind
    state = state.but(
        seq=decided.seq,
        granted=with_grants(state.granted, decided),
        notes=with_words(state.notes, decided, (Role.MAKER,)),
    )
    if (end := _end(state, decided)) is not None:
        return state.but(end=end, question=None)
    match decided.choice:
        case Choice.REJECT:
            return _after_reject(state, decided, fits)
        case Choice.AMEND:
            return _after_amend(state, decided, fits)
        case _ if decided.kind is Kind.GATE and asked is None:
            return _after_gate(state, decided)
        case _ if asked is not None and fits:
            return _go_on(state, asked.kind)
    return state  # a limit, or an entry answered before it blocked anything: the step stands


def _end(state: MakerState, decided: Decided) -> Finish | None:
    if decided.choice is Choice.REJECT and decided.attempts < 1:
        return Finish(
            rule=Rule.EXHAUSTED,
            reason=EndReason.EXHAUSTED,
            sentence="A person allowed no more attempts; the best one is kept and not verified.",
            result=state.best.tree if state.best else state.current,
        )
    end = end_by(state, decided)
    if end is None or decided.choice is Choice.STOP:
        return end and replace(end, result=None)  # stopped: whatever stands
    return replace(end, result=decided.result or shown_for(state, decided.kind))


def _after_reject(state: MakerState, decided: Decided, fits: bool) -> MakerState:
    state = state.but(extra=state.extra + decided.attempts)
    if not fits:
        return state
    calm = _calm(state, decided.kind)
    return making(calm, Rule.AFTER_REJECT, "a person rejected the attempt")


def _after_amend(state: MakerState, decided: Decided, fits: bool) -> MakerState:
    """What was judged by the old criteria is judged no further, whatever else is still open."""
    question = state.question
    state = frozen(state, decided.criteria, decided.seq).but(extra=state.extra + 1)
    calm = _calm(state, decided.kind) if fits else state
    state = making(calm, Rule.AFTER_AMEND, "a person amended a requirement")
    return state if fits else state.but(question=question)


def _calm(state: MakerState, kind: Kind) -> MakerState:
    """What led to the question is counted anew."""
    if kind in _FAULTS:
        return after_fault(state)
    return state.but(idle=0) if kind is Kind.NO_PROGRESS else state


def _go_on(state: MakerState, kind: Kind) -> MakerState:
    """Table "After a decision" (RULES 6), the rows of this pattern; a verdict's question takes no
    other decision than those above, so it stays."""
    state = _calm(state, kind)
    if kind is Kind.NO_PROGRESS:
        return making(state, Rule.AFTER_NO_PROGRESS, "a person let it go on")
    return state


def _after_gate(state: MakerState, decided: Decided) -> MakerState:
    """Allowed: this one iteration runs. Refused: without a verifier a person has to judge; a maker
    that may not run is asked about again."""
    if decided.choice is Choice.ALLOW:
        return state.but(gate_passed=state.iterations)
    if decided.choice is Choice.DENY and state.is_verifying:
        return left_open(state, f"A person did not let {state.step.agent} judge it")
    return state
