"""Collects what a role's prompt says; the words themselves are the engine's (engine.prompts)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from loops import backdrop
from loops.engine import prompt_parts, prompts
from loops.engine.values import Pattern, Role, RunRole
from loops.models import Iteration, Session
from loops.sight import Sight, scope_of
from tracker import services as tracker
from tracker.engine.rules import Verb
from tracker.models import Bug, Move, Project

_HISTORY = 20
_build = lru_cache(maxsize=2)(prompts.build)  # roles take turns, and often nothing else changed
_TELLING = (Verb.REOPEN, Verb.UNBLOCK, Verb.DISPUTE)
_LIVE = ("OPEN", "IN_PROGRESS", "REOPENED", "FIXED", "STALE", "BLOCKED")


def prompt(state: Any, session: Session, directive: RunRole, sight: Sight, project: Project) -> str:
    """The whole prompt of one iteration, from the facts as the claim's transaction sees them.

    state: the controller's, which holds what the roles told each other."""
    if session.pattern != Pattern.SINGLE_THREAD.value:
        return backdrop.prompt(state, session, directive, sight, project)
    role = directive.role
    known = _materials(session, sight, project)
    return _build(
        prompts.PromptInput(
            role=role,
            session=session.ref,
            goal=known.goal,
            requirements=known.requirements,
            entries=known.for_worker if role is Role.WORKER else known.for_others,
            marks_missing=sight.marks_missing(project) if role is Role.REVIEWER else (),
            guidance=known.guidance,
            notes=directive.notes,
            history=_history(session) if role is Role.COACH else (),
            check=project.check_command,
            workdir=project.subpath,
            instruction_files=tuple((session.preflight or {}).get("instruction_files", ())),
            shorter=directive.shorter,
        )
    )


@dataclass(frozen=True, slots=True)
class Materials:
    """What prompts are made of, as long as neither tracker nor tree moved."""

    goal: str
    requirements: tuple[prompt_parts.Requirement, ...]
    for_worker: tuple[prompts.Entry, ...]
    for_others: tuple[prompts.Entry, ...]
    guidance: prompts.Guidance | None


def _materials(session: Session, sight: Sight, project: Project) -> Materials:
    facts = sight.facts(project)
    if sight.materials is None:
        entries = _entries(project, session, sight)
        sight.materials = Materials(
            goal=sight.goal(project),
            requirements=backdrop.requirements(sight, project),
            for_worker=tuple(entry for entry in entries if entry.key in facts.blockers),
            for_others=entries,
            guidance=_guidance(project),
        )
    known: Materials = sight.materials
    return known


def _guidance(project: Project) -> prompts.Guidance | None:
    now = tracker.current_guidance(project)
    return prompts.Guidance(now.number, now.text) if now and now.text else None


def _entries(project: Project, session: Session, sight: Sight) -> tuple[prompts.Entry, ...]:
    unjudged = set(sight.unjudged(project))
    facts = sight.facts(project)
    if not (unjudged or facts.blockers or facts.blocked):
        return ()
    live = tracker.bugs(
        project,
        scope_of(session),
        session.ref,
        states=(*_LIVE, "CLOSED") if unjudged else _LIVE,
        kinds=("code", "task"),
    )
    wanted = {*facts.blockers, *unjudged}
    shown = [bug for bug in live if bug.key in wanted]
    said = _last_words(shown)
    return tuple(
        _entry(bug, is_unjudged=bug.key in unjudged, note=_note(bug, said, sight)) for bug in shown
    )


def _last_words(bugs: list[Bug]) -> dict[int, str]:
    """Why each was last reopened or what a person answered: the worker must know."""
    told = Move.objects.filter(bug__in=bugs, verb__in=_TELLING).exclude(note="").order_by("pk")
    return dict(told.values_list("bug_id", "note"))


def _note(bug: Bug, said: dict[int, str], sight: Sight) -> str:
    if bug.commit and bug.commit in sight.absent:
        return "its commit is not in HEAD"
    return said.get(bug.pk, "")


def _entry(bug: Bug, *, is_unjudged: bool, note: str) -> prompts.Entry:
    cites = f"{bug.requirement.key}.{bug.line}" if bug.requirement and bug.line else ""
    return prompts.Entry(
        key=bug.key,
        kind=bug.kind,
        state=bug.state,
        title=bug.title,
        priority=bug.priority,
        cites=cites,
        quote=bug.quote,
        contradiction=bug.contradiction,
        place=bug.place,
        text=bug.text,
        commit=bug.commit,
        unjudged=is_unjudged,
        note=note,
    )


def _history(session: Session) -> tuple[str, ...]:
    rows = (
        Iteration.objects.filter(session=session)
        .exclude(outcome=None)
        .order_by("-number")
        .values_list("number", "role", "outcome", "detail")[:_HISTORY]
    )
    return tuple(
        f"{number} {role}: {outcome}" + (f" ({detail})" if detail else "")
        for number, role, outcome, detail in reversed(rows)
    )
