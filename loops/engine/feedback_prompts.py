"""What the roles of Thinker-Worker-Verifier read at the start of a call. Pure; same input, same
prompt. What thinker and worker recall is what `memory.view` grants them, and nothing beside.
"""

from __future__ import annotations

from collections.abc import Sequence

from loops.engine import feedback_texts as texts
from loops.engine import prompt_texts, verifier_prompts
from loops.engine.background import Background
from loops.engine.feedback_state import FeedbackState
from loops.engine.memory import Scope, view
from loops.engine.prompt_parts import (
    NOTE_TEXT,
    NOTES,
    NOTES_SHORTER,
    SHORT_TEXT,
    clean,
    cut,
    fence,
    indented,
    line,
    listed,
    requirements,
)
from loops.engine.prompt_texts import RoleText
from loops.engine.values import Role, RunRole

TASKS, TASKS_SHORTER = 30, 10
FEEDBACK_SHORTER = 5
ITEM_TEXT, ITEM_TEXT_SHORTER = 4_500, 600

_ROLES = {Role.THINKER: texts.THINKER, Role.WORKER: texts.WORKER}


def build(state: FeedbackState, due: RunRole, background: Background) -> str:
    """The whole prompt of the role that is due. Raises ValueError for a role of another pattern,
    and for a verifier without an artefact."""
    if due.role is Role.VERIFIER:
        return _of_verifier(state, due, background)
    role = _ROLES.get(due.role)
    if role is None:
        raise ValueError(f"Thinker-Worker-Verifier has no {due.role.value}.")
    seen = {
        scope.name: scope for scope in view(state, due.role, due.agent, session=background.session)
    }
    shorter = due.shorter
    name = f" {due.agent}" if due.agent else ""
    parts = (
        f"# You are the {due.role.value}{name} of session {background.session}",
        role.goal,
        _rules(role, background),
        listed("This call", _about(state, due), NOTES),
        requirements(background.requirements, goal=background.goal, shorter=shorter),
        listed("Open entries", background.tasks, TASKS_SHORTER if shorter else TASKS),
        _scope("Plan and criteria", seen["plan"], shorter),
        _scope("What was said about the attempts so far", _latest(seen, shorter), shorter),
        _scope("What you did before in this session", seen.get("workers"), shorter),
        listed("Notes for this call", seen["input"].items, NOTES_SHORTER if shorter else NOTES),
        f"## Commands\n{indented(role.commands)}\nAll of them: `loopwatch --help`.",
        _ending(state, role, due),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _of_verifier(state: FeedbackState, due: RunRole, background: Background) -> str:
    """Built without the state: it sees one version of the criteria, and the work itself."""
    if background.artefact is None:
        raise ValueError("A verifier needs an artefact to judge.")
    return verifier_prompts.build(
        state.criteria, state.plan_number, background.artefact, background, due.agent, due.shorter
    )


def _rules(role: RoleText, background: Background) -> str:
    rules, about = list(role.rules), []
    if background.workdir:
        rules.append(prompt_texts.FOLDER)
        about.append(f"folder: {line(background.workdir, SHORT_TEXT)}")
    if background.check:
        rules.append(prompt_texts.CHECK)
        about.append(f"check: {line(background.check, NOTE_TEXT)}")
    about += [
        f"instruction file: {line(name, SHORT_TEXT)}"
        for name in background.instruction_files[:NOTES]
    ]
    lines = "\n".join(f"- {rule}" for rule in rules)
    block = f"\n\nAbout this project:\n{fence(chr(10).join(about))}" if about else ""
    return f"## Rules\n{lines}{block}"


def _about(state: FeedbackState, due: RunRole) -> Sequence[str]:
    """Why this call comes, and what the files are that it finds."""
    why = f"why: {due.reason}"
    if due.role is Role.THINKER:
        return (f"this is to be plan {state.plan_number + 1}", why)
    return (f"this is attempt {state.attempts + 1}", why, f"the files: {_tree(state, due)}")


def _tree(state: FeedbackState, due: RunRole) -> str:
    if due.start_from is None:
        return "as an interrupted call left them; its changes are still there"
    if due.start_from == state.attempt:
        return "as the last attempt left them"
    if state.best is not None and due.start_from == state.best.tree:
        return f"as attempt {state.best.attempt} left them, the best so far"
    return "as they were at the start of the session"


def _latest(seen: dict[str, Scope], shorter: bool) -> Scope:
    said = seen["verification"]
    return Scope(said.path, said.items[-FEEDBACK_SHORTER:]) if shorter else said


def _scope(title: str, scope: Scope | None, shorter: bool) -> str:
    if scope is None or not scope.items:
        return ""
    most = ITEM_TEXT_SHORTER if shorter else ITEM_TEXT
    items = "\n".join(cut(clean(item), most) for item in scope.items)
    return f"## {title}\n{fence(items)}"


def _ending(state: FeedbackState, role: RoleText, due: RunRole) -> str:
    text = f"## How this call ends\n{role.ending}"
    if due.role is not Role.THINKER:
        return text
    left = state.config.self_calls - state.self_called
    again = (
        f"`requires_self_call: true` lets you think once more before anybody works ({left} left)."
        if left > 0
        else "`requires_self_call` has no effect any more: the next step is the worker."
    )
    pool = f"The pool: {', '.join(state.config.pool)}."
    return f"{text}\n{pool} {again}\n\n{indented(texts.PLAN_EXAMPLE)}"
