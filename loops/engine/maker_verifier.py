"""The Maker-Verifier controller: attempts by a maker, each judged by verifiers (RULES 3).

`apply` folds one log entry in constant time, `direct` says what is due. Choices made where RULES 3
leaves room:
- Every verifier that is not of the reserve judges each attempt, advisers too, in the configured
  order; only then is the verdict formed. Each judges the attempt's own tree, and a report on
  another tree is UNCERTAIN.
- Ceiling and no progress are asked before the next attempt, so that an attempt which proves done
  ends the session; they follow from the counts, as limits do.
- An attempt is idle if it left the tree's content as it was; a commit alone is no progress.
- A requirement edited after the proof, but before the end, takes the end back.
- The criteria of a session are never empty: without them any OK would prove everything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loops.engine.decisions import due, grants_kept, in_order, left_of_iterations
from loops.engine.faults import CONTEXT_FULLS_ASK, FAULTS_ASK, HOLDS_ASK
from loops.engine.maker_asking import decide, question_due, shown_for
from loops.engine.maker_effects import (
    ask_spec_changed,
    attempted,
    classify,
    explain,
    frozen,
    interrupted,
    judged,
    notes_after,
    weighed,
)
from loops.engine.maker_rules import Rule
from loops.engine.maker_state import MakerState, is_awaited, reserve, waiting
from loops.engine.run_state import Step, counted, limits_now
from loops.engine.values import (
    REQUIREMENT_EDITED,
    AskHuman,
    Config,
    Configured,
    Decided,
    Directive,
    EndReason,
    Entry,
    Forked,
    HumanEvent,
    Opened,
    Outcome,
    Policy,
    Recorded,
    Role,
    RunRole,
    Why,
)

__all__ = [
    "apply",
    "at_most",
    "attempts_at_most",
    "classify",
    "direct",
    "explain",
    "initial",
    "limits_now",
    "needs_script",
    "why_not_done",
]

# So often can one step be interrupted or held before a person is asked.
_INTERRUPTIONS = FAULTS_ASK - 1 + HOLDS_ASK - 1 + CONTEXT_FULLS_ASK - 1


def initial(config: Config) -> MakerState:
    """The state of an empty log: the maker is due."""
    return MakerState(config=config, step=Step(Role.MAKER, Rule.START, "the session starts"))


def apply(state: MakerState, entry: Entry) -> MakerState:
    """The state after one more entry. Raises ValueError if it does not come after the last one."""
    in_order(state, entry)
    match entry:
        case Recorded():
            return _recorded(state, entry)
        case HumanEvent():
            return _human_event(state, entry)
        case Decided():
            return decide(state, entry)
        case Opened():
            return _opened(state, entry)
        case Configured():
            return _configured(state, entry)
        case Forked():
            return _forked(state, entry)
        case _:
            assert_never(entry)


def direct(state: MakerState) -> Directive:
    """What is due: an end before a question before a limit before the next role (RULES 1, 3)."""
    if state.end is not None:
        return state.end
    found = question_due(state) or due(state)
    if isinstance(found, AskHuman) and found.shown is None:
        found = replace(found, shown=shown_for(state, found.kind))
    return found


def at_most(state: MakerState) -> int:
    """At most so many more iterations until an end or a question, whatever agents do: each turn
    that is left, and the interruptions before it."""
    if not isinstance(direct(state), RunRole):
        return 0
    verifiers = state.config.verifiers
    in_reserve = sum(v.policy is Policy.RESERVE for v in verifiers)
    again = min(in_reserve, max(0, state.config.reverifications))
    turns = state.attempts_left * (1 + len(verifiers) - in_reserve + again)
    if state.is_verifying:
        turns += len(waiting(state)) + len(reserve(state))
    return min(left_of_iterations(state), turns * (1 + _INTERRUPTIONS))


def attempts_at_most(state: MakerState) -> int:
    """At most so many more attempts, unless a person adds some: N + g less those that ran."""
    return 0 if state.end is not None else state.attempts_left


def needs_script(state: MakerState, *, rev: str, head: str, spec: str) -> bool:
    """Never: the verifiers judge, this pattern has no done script."""
    return False


def why_not_done(
    state: MakerState,
    *,
    rev: str,
    head: str,
    spec: str,
    blockers: tuple[str, ...],
    unjudged: tuple[str, ...],
    blocked: tuple[str, ...],
) -> tuple[Why, ...]:
    """What stands between this session and a proved end, in words; empty once it is proved.

    rev: the tree that stands now. Tracker entries are no condition of this pattern (RULES 3).
    """
    if state.end is not None and state.end.reason in (EndReason.DONE, EndReason.NO_OP):
        return ()
    found = [_verdict_missing(state)]
    if state.current is not None and rev != state.current.rev:
        found.append(Why(Rule.NEEDS_TREE, f"The tree is not that of attempt {state.attempts}."))
    if state.is_outdated:
        text = f"A requirement was edited since criteria version {state.criteria_version}."
        found.append(Why(Rule.NEEDS_CRITERIA, text))
    return tuple(why for why in found if why is not None)


def _verdict_missing(state: MakerState) -> Why | None:
    question = state.question
    if state.current is None:
        return Why(Rule.NEEDS_ATTEMPT, "No attempt has been handed in yet.")
    if question is not None and question.rule == Rule.ASK_SPEC_CHANGED:
        return None
    if state.is_verifying and question is None:
        names = ", ".join(v.name for v in waiting(state)) or state.step.agent
        text = f"Attempt {state.attempts} still has to be judged by {names}."
        return Why(Rule.NEEDS_VERDICTS, text)
    return Why(Rule.NEEDS_APPROVAL, f"Attempt {state.attempts} was not approved.")


# --- entries -------------------------------------------------------------------------------------


def _opened(state: MakerState, entry: Opened) -> MakerState:
    if not entry.criteria and not state.criteria:
        raise ValueError("A Maker-Verifier session needs criteria before its first attempt.")
    state = frozen(state, entry.criteria, entry.seq)
    return state.but(
        seq=entry.seq,
        base_rev=entry.base_rev,
        base_head=entry.base_head,
        rev=entry.base_rev,
        head=entry.base_head,
        spec=entry.spec,
    )


def _configured(state: MakerState, entry: Configured) -> MakerState:
    """A new configuration from the next step; a verifier that has gone is waited for no longer."""
    if entry.config.pattern is not state.config.pattern:
        raise ValueError("A session's pattern cannot change.")
    granted = grants_kept(state.granted, state.config.limits, entry.config.limits)
    state = state.but(seq=entry.seq, config=entry.config, granted=granted)
    is_open = state.end is None and state.question is None
    if is_open and state.is_verifying and not is_awaited(state):
        return weighed(state)
    return state


def _forked(state: MakerState, entry: Forked) -> MakerState:
    """What was learnt are criteria, reasons and notes; attempts and spending start at 0."""
    base = entry.base
    reason = f"forked from S-{entry.parent}/{entry.iteration}"
    return initial(state.config).but(
        seq=entry.seq,
        human_seq=entry.seq,
        base_rev=base.rev,
        base_head=base.head,
        rev=base.rev,
        head=base.head,
        spec=state.spec,
        notes=state.notes,
        criteria=state.criteria,
        criteria_version=state.criteria_version,
        frozen_seq=state.frozen_seq,
        edited_seq=state.edited_seq,
        rejections=tuple(replace(one, attempt=0) for one in state.rejections),
        start=base,
        step=Step(Role.MAKER, Rule.FORKED, reason, start_from=base),
    )


def _human_event(state: MakerState, entry: HumanEvent) -> MakerState:
    state = state.but(seq=entry.seq, human_seq=entry.seq, idle=0)
    if entry.what != REQUIREMENT_EDITED:
        return state
    state = state.but(edited_seq=entry.seq)
    if state.end is not None and state.end.rule == Rule.PROVED:
        return ask_spec_changed(state)
    return state


def _recorded(state: MakerState, entry: Recorded) -> MakerState:
    evidence = entry.evidence
    outcome = classify(state, evidence)
    notes = notes_after(state.notes, evidence, outcome)
    state = state.but(**counted(state, entry.seq, evidence), notes=notes)
    if state.end is not None:  # a person ended it while this ran
        return state
    if outcome is Outcome.INTERRUPTED:
        return interrupted(state, evidence)
    return attempted(state, evidence) if outcome is Outcome.ATTEMPT else judged(state, evidence)
