"""Limits, gates and the part of a person's decision that is the same in every pattern (RULES 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace

from loops.engine.bounds import worst_case
from loops.engine.rules import Rule
from loops.engine.run_state import NOTES_KEPT, USED, Granted, Note, RunState, limit_of
from loops.engine.values import (
    AskHuman,
    Choice,
    Decided,
    EndReason,
    Entry,
    Finish,
    Kind,
    LimitName,
    Limits,
    Role,
    RunRole,
)

_ENDS = {
    Choice.APPROVE: Finish(
        rule=Rule.APPROVED,
        reason=EndReason.HUMAN_APPROVED,
        sentence="A person approved the result; it is not proved.",
    ),
    Choice.EDIT: Finish(
        rule=Rule.EDITED,
        reason=EndReason.HUMAN_EDITED,
        sentence="A person edited the result and approved it; it is not proved.",
    ),
    Choice.STOP: Finish(
        rule=Rule.STOPPED, reason=EndReason.STOPPED, sentence="A person stopped the session."
    ),
}
_REASONS_OF_PEOPLE = frozenset(finish.reason for finish in _ENDS.values())

_LIMIT_WORDS = {
    LimitName.ITERATIONS: "iterations",
    LimitName.WALL_SECONDS: "seconds of running time",
    LimitName.TOKENS: "tokens",
    LimitName.MONEY: "of the money",
}


def in_order(state: RunState, entry: Entry) -> None:
    """Raise ValueError if the entry does not come after the last one folded."""
    if entry.seq <= state.seq:
        raise ValueError(
            f"Log entry {entry.seq} comes after entry {state.seq}: the log is damaged."
        )


def left_of_iterations(state: RunState) -> int:
    """What the limit of iterations leaves: it bounds every pattern, whatever agents do."""
    return worst_case(limit_of(state, LimitName.ITERATIONS) or 0, state.iterations)


def end_by(state: RunState, decided: Decided) -> Finish | None:
    """The end that this decision is, if it is one. What was shown is what ends the session."""
    finish = _ENDS.get(decided.choice)
    if finish is None:
        return None
    shown = state.question.shown if state.question else None
    return replace(finish, result=decided.result or shown)


def is_ended_by_person(state: RunState) -> bool:
    return state.end is not None and state.end.reason in _REASONS_OF_PEOPLE


def due(state: RunState) -> RunRole | AskHuman:
    """What is due when nothing has ended: a question, a limit, a gate, or else the step."""
    asked = state.question or limit_reached(state) or _gate(state)
    if asked is not None:
        return asked
    step = state.step
    texts = [note.text for note in state.notes if note.to is None or note.to is step.role]
    return RunRole(
        rule=step.rule,
        role=step.role,
        reason=step.reason,
        agent=step.agent,
        start_from=step.start_from,
        after_seconds=step.after_seconds,
        shorter=state.context_fulls > 0,
        notes=tuple(dict.fromkeys(texts)),
    )


def limit_reached(state: RunState) -> AskHuman | None:
    """The question about the first limit used up; asked before a step, never before an end."""
    for name, words in _LIMIT_WORDS.items():
        limit, used = limit_of(state, name), getattr(state, USED[name])
        if limit is not None and used >= limit:
            text = f"The limit is reached: {used:.15g} of {limit:.15g} {words}."
            return AskHuman(rule=Rule.ASK_LIMIT, kind=Kind.LIMIT, question=text, limit=name)
    return None


def _gate(state: RunState) -> AskHuman | None:
    """The question before a role that a person wants to be asked about, once per iteration."""
    role = state.step.role
    if role not in state.config.gates or state.gate_passed == state.iterations:
        return None
    text = f"The {role.value} is due ({state.step.reason}). May it run?"
    return AskHuman(rule=Rule.ASK_GATE, kind=Kind.GATE, question=text, gate=role)


def with_grants(granted: Granted, decided: Decided) -> Granted:
    """Raises ValueError for a grant that raises no limit."""
    for name, amount in decided.grants.items():
        field = LimitName(name).value
        if not amount > 0:
            raise ValueError(f"A grant raises a limit; {amount:g} {field} raises nothing.")
        granted = replace(granted, **{field: getattr(granted, field) + amount})
    return granted


def with_words(
    notes: tuple[Note, ...], decided: Decided, roles: Iterable[Role]
) -> tuple[Note, ...]:
    """What the person said goes to each of `roles`, at the next prompt of each."""
    if not decided.text:
        return notes
    about = f" on {decided.subject}" if decided.subject else ""
    text = f"A person decided{about} ({decided.choice.value}): {decided.text}"
    return (*notes, *(Note(role, text) for role in roles))[-NOTES_KEPT:]


def grants_kept(granted: Granted, old: Limits, new: Limits) -> Granted:
    """Under a new configuration: a limit whose number a person changed is meant as it reads, so
    what was granted on top of the old number is dropped; other grants stay."""
    dropped = {
        field.name: 0.0
        for field in fields(Limits)
        if getattr(old, field.name) != getattr(new, field.name)
    }
    return replace(granted, **dropped)
