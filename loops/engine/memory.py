"""What a call of Thinker-Worker-Verifier may see of what the session remembers (RULES 2).

Scopes: /twv/session/<id>/input, plan and verification are the session's; workers/<worker> is that
worker's own. The thinker recalls the session's scopes, a worker these and its own, a verifier the
criteria and nothing else. Read only: agents write none of them themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loops.engine.contracts import Criterion, Plan
from loops.engine.feedback_state import Feedback, FeedbackState, Own
from loops.engine.values import Role


@dataclass(frozen=True, slots=True)
class Scope:
    """One scope as a call is shown it. items: texts, oldest first; each may have several lines."""

    path: str
    items: tuple[str, ...]

    @property
    def name(self) -> str:
        """ "input", "plan", "verification", or the worker's own: "workers"."""
        return self.path.split("/")[4]


def view(state: FeedbackState, role: Role, agent: str, *, session: str) -> tuple[Scope, ...]:
    """All that this call may recall. session: "S-3". Raises ValueError for another pattern's role.

    input: words of people and of the engine to this role.
    """
    root = f"/twv/session/{session.removeprefix('S-')}"
    shared = (
        Scope(f"{root}/input", tuple(note.text for note in state.notes if note.to is role)),
        Scope(f"{root}/plan", tuple(_plan(state, role))),
        Scope(f"{root}/verification", tuple(_said(one, state) for one in state.feedback)),
    )
    match role:
        case Role.THINKER:
            return shared
        case Role.WORKER:
            own = (f"iteration {one.iteration}: {one.text}" for one in _own(state, agent))
            return (*shared, Scope(f"{root}/workers/{agent}", tuple(own)))
        case Role.VERIFIER:
            return (Scope(f"{root}/plan", tuple(map(criterion_line, state.criteria))),)
        case _:
            raise ValueError(
                f"A {role.value} recalls nothing of a Thinker-Worker-Verifier session."
            )


def criterion_line(criterion: Criterion) -> str:
    traces = f" (from {criterion.traces})" if criterion.traces else ""
    return f"{criterion.key}{traces}: {criterion.words}"


def _own(state: FeedbackState, agent: str) -> Iterator[Own]:
    return (one for one in state.own if one.worker == agent)


def _plan(state: FeedbackState, role: Role) -> Iterator[str]:
    if state.plan is not None:
        yield f"plan {state.plan_number}: {state.plan.summary}"
        yield from _details(state.plan)
        yield f"criteria, version {state.plan_number}:"
        yield from map(criterion_line, state.criteria)
    if state.draft is not None and role is Role.THINKER:
        yield f"the plan so far, not in force yet: {state.draft.summary}"
        yield from _details(state.draft)
        yield from (f"criterion: {one.words}" for one in state.draft.success_criteria)


def _details(plan: Plan) -> Iterator[str]:
    yield from (f"step: {step}" for step in plan.decomposition)
    yield from (f"risk: {risk}" for risk in plan.risks)
    others = ", ".join(plan.alternative_workers) or "none"
    yield f"worker: {plan.selected_worker}; alternatives: {others}"
    if plan.thinker_notes:
        yield f"notes: {plan.thinker_notes}"


def _said(one: Feedback, state: FeedbackState) -> str:
    older = "" if one.plan == state.plan_number else ", an older plan"
    score = f", score {one.score}" if one.score else ""
    who = "" if one.by == "verification" else f", said {one.by}"
    head = f"attempt {one.attempt} by {one.worker}, on plan {one.plan}{older}"
    return f"{head}: {one.verdict.value}{score}{who}\n{one.text}".rstrip()
