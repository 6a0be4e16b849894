"""Faults of a call, the same in every pattern (table "Faults by role", RULES 1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from loops.engine.rules import Rule
from loops.engine.run_state import RunState
from loops.engine.values import AskHuman, Evidence, Fault, Kind

S = TypeVar("S", bound=RunState)

# The agent ran and failed at its task: its role's own kind of failure.
AGENT_FAULTS = frozenset({Fault.WALL_CLOCK, Fault.SILENCE, Fault.CRASH, Fault.UNPARSEABLE})

FAULT_WORDS = {
    Fault.WALL_CLOCK: "it ran into its time limit",
    Fault.SILENCE: "it was silent for too long",
    Fault.CRASH: "it crashed",
    Fault.UNPARSEABLE: "its reply could not be read",
    Fault.API_ERROR: "the model's service failed",
    Fault.REFUSED: "the model refused to answer",
    Fault.CANNOT_START: "the agent could not be started",
    Fault.WORKER_LOST: "the machine or process that ran it was lost",
    Fault.AGENT_LIMIT: "the agent's own usage limit was reached",
    Fault.CONTEXT_FULL: "the prompt did not fit into the model's context",
    Fault.AUTH: "the agent's credentials were refused",
}

_AGAIN = "the same step again: "
FAULTS_ASK = 3
HOLDS_ASK = 20
CONTEXT_FULLS_ASK = 2  # once more with a shorter prompt, then a person
BACK_OFF_SECONDS = (5.0, 30.0)  # after the first and the second interruption in a row
HOLD_DEFAULT_SECONDS = 300.0  # the agent did not say when its limit resets
HOLD_SHORTEST_SECONDS = 1.0
HOLD_LONGEST_SECONDS = 24 * 3600.0

# The fields that a success sets back.
NO_FAULTS = {"faults": 0, "holds": 0, "context_fulls": 0}


def repeated(state: S, evidence: Evidence) -> S:
    """After INTERRUPTED: the same step again, with back-off where that helps."""
    fault = evidence.fault
    assert fault is not None  # INTERRUPTED is classed from a fault only
    reason = f"{_AGAIN}{FAULT_WORDS[fault]}"
    step = replace(state.step, reason=reason, after_seconds=0.0, rule=Rule.FAULT_AGAIN)
    match fault:
        case Fault.AGENT_LIMIT:
            resets_in = evidence.resets_in
            wait = HOLD_DEFAULT_SECONDS if resets_in is None else resets_in
            wait = min(max(wait, HOLD_SHORTEST_SECONDS), HOLD_LONGEST_SECONDS)
            return state.but(
                holds=state.holds + 1,
                reset_far=resets_in is not None and resets_in > HOLD_LONGEST_SECONDS,
                step=replace(step, rule=Rule.HELD, after_seconds=wait),
            )
        case Fault.CONTEXT_FULL:
            fulls = state.context_fulls + 1
            return state.but(context_fulls=fulls, step=replace(step, rule=Rule.SHORTER))
        case Fault.AUTH:
            return state.but(auth_failed=True, step=step)
        case _:
            wait = BACK_OFF_SECONDS[min(state.faults, len(BACK_OFF_SECONDS) - 1)]
            if fault is Fault.WORKER_LOST:
                wait = 0.0  # our own death says nothing against trying at once; the third asks
            return state.but(faults=state.faults + 1, step=replace(step, after_seconds=wait))


def trouble(state: RunState) -> AskHuman | None:
    """The question that faults in a row call for."""
    role = state.step.role.value
    if state.auth_failed:
        return _ask(Rule.AUTH, Kind.AUTH, f"The {role}'s credentials were refused.")
    if state.faults >= FAULTS_ASK:
        text = f"The {role} was interrupted {state.faults} times in a row: {_why(state)}."
        return _ask(Rule.FAULT_THRICE, Kind.INFRASTRUCTURE, text)
    if state.reset_far:
        text = f"The {role}'s own limit resets in more than 24 hours."
        return _ask(Rule.HELD_TOO_LONG, Kind.INFRASTRUCTURE, text)
    if state.holds >= HOLDS_ASK:
        text = f"The {role} ran into its own limit {state.holds} times in a row."
        return _ask(Rule.HELD_TOO_LONG, Kind.INFRASTRUCTURE, text)
    if state.context_fulls >= CONTEXT_FULLS_ASK:
        text = f"The {role}'s prompt does not fit its model, not even shortened."
        return _ask(Rule.CONTEXT_FULL, Kind.INFRASTRUCTURE, text)
    return None


def _why(state: RunState) -> str:
    """Of the last time, as repeated() gave the reason."""
    return state.step.reason.removeprefix(_AGAIN)


def after_fault(state: S) -> S:
    """A person decided on a question of `trouble`: the same step, faults in a row at 0."""
    step = replace(
        state.step,
        rule=Rule.AFTER_FAULT,
        reason="a person let the step be repeated",
        after_seconds=0.0,
    )
    return state.but(**NO_FAULTS, auth_failed=False, reset_far=False, step=step)


def _ask(rule: Rule, kind: Kind, text: str) -> AskHuman:
    return AskHuman(rule=rule, kind=kind, question=text)
