"""Collects what a role's prompt says; the words themselves are the engine's (engine.prompts)."""

from __future__ import annotations

from loops.engine import prompts
from loops.engine.values import Role, RunRole
from loops.models import Iteration, Session
from loops.sight import Sight, scope_of
from tracker import services as tracker
from tracker.engine.citations import lines_of
from tracker.models import Bug, Project

_HISTORY = 20
_LIVE = ("OPEN", "IN_PROGRESS", "REOPENED", "FIXED", "STALE", "BLOCKED")


def prompt(
    project: Project, session: Session, directive: RunRole, number: int, sight: Sight
) -> str:
    """The whole prompt of one iteration, from the facts as the claim's transaction sees them."""
    facts = sight.facts(project)
    role = directive.role
    guidance = tracker.current_guidance(project)
    return prompts.build(
        prompts.PromptInput(
            role=role,
            session=session.ref,
            iteration=number,
            goal=_goal(session, project),
            requirements=tuple(
                prompts.Requirement(
                    key=need.key,
                    version=need.version,
                    lines=tuple(lines_of(need.text)),
                    document=need.document,
                )
                for need in facts.requirements
            ),
            entries=_entries(project, session, role, sight),
            marks_missing=sight.marks_missing(project) if role is Role.REVIEWER else (),
            guidance=prompts.Guidance(guidance.number, guidance.text) if guidance else None,
            notes=directive.notes,
            history=_history(session) if role is Role.COACH else (),
            check=project.check_command,
            workdir=project.subpath,
            instruction_files=tuple((session.preflight or {}).get("instruction_files", ())),
            shorter=directive.shorter,
        )
    )


def _goal(session: Session, project: Project) -> str:
    if not session.goal:
        return ""
    own = project.requirements.filter(session_ref=session.ref).first()
    return own.key if own else ""


def _entries(
    project: Project, session: Session, role: Role, sight: Sight
) -> tuple[prompts.Entry, ...]:
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
    wanted = {*facts.blockers, *(() if role is Role.WORKER else unjudged)}
    return tuple(_entry(bug, bug.key in unjudged, sight) for bug in live if bug.key in wanted)


def _entry(bug: Bug, is_unjudged: bool, sight: Sight) -> prompts.Entry:
    lost = bool(bug.commit) and bug.commit in sight.absent
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
        note="its commit is not in HEAD" if lost else "",
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
