"""Collects what the prompts of the patterns with verifiers are made of, beside the folded state."""

from __future__ import annotations

from typing import Any

from loops.engine import feedback_prompts, maker_prompts
from loops.engine.background import Background
from loops.engine.prompt_parts import Requirement
from loops.engine.values import Pattern, Role, RunRole
from loops.models import Session
from loops.sight import Sight, scope_of
from tracker import services as tracker
from tracker.engine.citations import lines_of
from tracker.models import Project

_BUILD = {
    Pattern.FEEDBACK: feedback_prompts.build,
    Pattern.MAKER_VERIFIER: maker_prompts.build,
}


def prompt(state: Any, session: Session, due: RunRole, sight: Sight, project: Project) -> str:
    """The whole prompt of one iteration; a verifier's holds only what RULES 3 allows it to see."""
    is_verifier = due.role is Role.VERIFIER
    background = Background(
        session=session.ref,
        goal=sight.goal(project),
        requirements=requirements(sight, project),
        tasks=() if is_verifier else _tasks(session, sight, project),
        check=project.check_command,
        workdir=project.subpath,
        instruction_files=tuple((session.preflight or {}).get("instruction_files", ())),
        artefact=sight.artefact if is_verifier else None,
    )
    return _BUILD[Pattern(session.pattern)](state, due, background)


def requirements(sight: Sight, project: Project) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(
            key=need.key,
            version=need.version,
            lines=tuple(lines_of(need.text)),
            document=need.document,
        )
        for need in sight.facts(project).requirements
    )


def _tasks(session: Session, sight: Sight, project: Project) -> tuple[str, ...]:
    wanted = set(sight.facts(project).blockers)
    if not wanted:
        return ()
    found = tracker.bugs(
        project, scope_of(session), session.ref, kinds=("code", "task"),
    )  # fmt: skip
    return tuple(
        f"{bug.key} {bug.priority} {bug.title}: {bug.text or bug.contradiction}"
        for bug in found
        if bug.key in wanted
    )
