"""What one call was shown of what the session remembers, as it stood when the call was claimed."""

from __future__ import annotations

from typing import Any

from loops.engine import memory
from loops.engine.feedback_state import FeedbackState
from loops.engine.maker_state import MakerState
from loops.engine.values import Pattern, Role
from loops.models import Iteration
from loops.pages.judging import SeenPart, SeenScope
from loops.reading import links
from loops.reading.past import fold_at
from loops.reading.reading import Reading

SHORT = 7
_NAMES = {
    "input": "Words of people and of the engine",
    "plan": "Plan and criteria",
    "verification": "What was said about the attempts",
    "workers": "Its own memory",
}
_LEADS = {
    Role.THINKER: "A thinker recalls what the whole session remembers, and no worker's own memory.",
    Role.WORKER: "A worker recalls what the session remembers and its own memory, no other "
    "worker's. It writes neither itself.",
    Role.MAKER: "A maker sees the criteria, why attempts were rejected, and notes for it.",
    Role.VERIFIER: "A verifier sees only this list: the criteria, the work itself and how to check "
    "it. Nothing that was said about the work, no plan, no notes and no other verdict.",
}


def seen_part(reading: Reading, one: Iteration) -> SeenPart | None:
    """None in the single-threaded loop, whose roles remember nothing beside their prompt."""
    if reading.pattern is Pattern.SINGLE_THREAD:
        return None
    role, state = Role(one.role), fold_at(one.session, one.claimed_at_seq).state
    if role is Role.VERIFIER:
        scopes = _allowed(reading, one, state)
    elif isinstance(state, FeedbackState):
        scopes = _recalled(state, role, one)
    else:
        scopes = _of_maker(state)
    return SeenPart(_LEADS[role], scopes)


def _recalled(state: FeedbackState, role: Role, one: Iteration) -> tuple[SeenScope, ...]:
    found = memory.view(state, role, one.agent, session=one.session.ref)
    return tuple(SeenScope(_NAMES[scope.name], scope.path, scope.items) for scope in found)


def _of_maker(state: MakerState) -> tuple[SeenScope, ...]:
    said = (
        f"attempt {one.attempt or 'of the parent session'}, by version {one.criteria_version} of "
        f"the criteria\n{one.reason}"
        for one in state.rejections
    )
    notes = (note.text for note in state.notes if note.to in (None, Role.MAKER))
    return (
        _criteria(state, state.criteria_version),
        SeenScope("Why attempts were rejected", "", tuple(said)),
        SeenScope("Notes for this call", "", tuple(notes)),
    )


def _allowed(reading: Reading, one: Iteration, state: Any) -> tuple[SeenScope, ...]:
    """RULES 3: the verifier's input, item by item. Requirements and diff stand in the prompt."""
    is_feedback = isinstance(state, FeedbackState)
    number = state.plan_number if is_feedback else state.criteria_version
    path = f"/twv/session/{one.session_id}/plan" if is_feedback else ""
    rev, head = one.before.get("rev", ""), one.before.get("head", "")
    work = f"tree {rev[:SHORT]} on commit {head[:SHORT]}"
    base = f"its difference from the base, commit {one.session.base_head[:SHORT]}"
    diff = f"{links.iteration(one.session_id, one.number)}?show=diff"
    check = reading.project.check_command
    needs = "the requirements in scope, as they read when it was claimed"
    return (
        SeenScope("The task", "", (needs,)),
        _criteria(state, number, path),
        SeenScope("The work", "", (work, base), diff),
        SeenScope("How to check", "", (check,) if check else ()),
    )


def _criteria(state: Any, number: int, path: str = "") -> SeenScope:
    lines = tuple(memory.criterion_line(one) for one in state.criteria)
    return SeenScope(f"Criteria, version {number}", path, lines)
