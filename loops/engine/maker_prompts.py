"""What the roles of the Maker-Verifier loop read at the start of an iteration. Pure.

Same input, same prompt.
"""

from __future__ import annotations

from loops.engine import prompt_texts as texts
from loops.engine import verifier_prompts
from loops.engine.background import Background
from loops.engine.maker_state import MakerState, Rejection
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
from loops.engine.values import Role, RunRole

REASON, REASON_SHORTER = 16_000, 3_000
TASKS, TASKS_SHORTER = 30, 10

_GOAL = (
    "Make every criterion below hold in this repository. When you exit, what stands here is your"
    " attempt: verifiers that see nothing but the tree judge it."
)
_RULES = (
    "The attempts are counted. Check your work yourself before you exit.",
    "Commit your work with git. What is not committed is judged too.",
    "The criteria are frozen. What they leave open, the requirements say.",
    "Change only what a criterion, a requirement or a task asks for.",
)
_COMMANDS = (
    "loopwatch req list",
    "loopwatch req show R-2",
    "loopwatch bug list",
    "loopwatch bug show B-7",
    "loopwatch bug start B-7  # before you work on it",
    "loopwatch bug fixed B-7  # after the commit; --commit SHA for an older one",
    "loopwatch bug blocked B-7 --why 'why it is impossible or wrong'",
    "loopwatch bug file --spec --cites R-2 --text 'what is unclear, and why' 'TITLE'",
)
_ENDING = (
    "Exit when the criteria hold as far as you can tell. There is nothing to signal: the verifiers"
    " judge the tree, and if they reject it, their reason comes with the next attempt."
)
_GOES_ON = "The tree holds the last attempt: go on from it."


def build(state: MakerState, due: RunRole, background: Background) -> str:
    """The prompt of the role that is due. Raises ValueError for a role that the loop lacks, and for
    a verifier without an artefact."""
    if due.role is Role.VERIFIER:
        if background.artefact is None:
            raise ValueError("A verifier needs something to judge.")
        return verifier_prompts.build(
            state.criteria,
            state.criteria_version,
            background.artefact,
            background,
            due.agent,
            due.shorter,
        )
    if due.role is not Role.MAKER:
        raise ValueError(f"The Maker-Verifier loop has no {due.role.value}.")
    return _maker(state, due, background)


def _maker(state: MakerState, due: RunRole, background: Background) -> str:
    shorter = due.shorter
    parts = (
        f"# You are the maker of session {background.session}",
        _GOAL,
        _rules(background),
        requirements(background.requirements, goal=background.goal, shorter=shorter),
        verifier_prompts.criteria_section(state.criteria, state.criteria_version),
        _attempt(state, due),
        _rejections(state, shorter),
        listed("Notes since your last attempt", due.notes, NOTES_SHORTER if shorter else NOTES),
        listed("Open tasks and bugs", background.tasks, TASKS_SHORTER if shorter else TASKS),
        f"## Commands\n{indented(_COMMANDS)}\nAll of them: `loopwatch --help`.",
        f"## How this iteration ends\n{_ENDING}",
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _rules(background: Background) -> str:
    rules = [*texts.RULES, *_RULES]
    about = []
    if background.workdir:
        rules.append(texts.FOLDER)
        about.append(f"folder: {line(background.workdir, SHORT_TEXT)}")
    if background.check:
        rules.append(texts.CHECK)
        about.append(f"check: {line(background.check, NOTE_TEXT)}")
    about += [
        f"instruction file: {line(name, SHORT_TEXT)}"
        for name in background.instruction_files[:NOTES]
    ]
    lines = "\n".join(f"- {rule}" for rule in rules)
    block = f"\n\nAbout this project:\n{fence(chr(10).join(about))}" if about else ""
    return f"## Rules\n{lines}{block}"


def _attempt(state: MakerState, due: RunRole) -> str:
    on = f" {_GOES_ON}" if state.attempts and due.start_from is not None else ""
    text = f"This is attempt {state.attempts + 1} of at most {state.attempts_allowed}.{on}"
    return f"## This attempt\n{text}"


def _rejections(state: MakerState, shorter: bool) -> str:
    """Newest last, each marked with the version of the criteria that it was judged by."""
    if not state.rejections:
        return ""
    shown = state.rejections[-1:] if shorter else state.rejections
    most = REASON_SHORTER if shorter else REASON
    blocks = [
        f"{_head(one, state.criteria_version)}\n{fence(cut(clean(one.reason), most))}"
        for one in shown
    ]
    return "## Why attempts were rejected\n" + "\n\n".join(blocks)


def _head(one: Rejection, version: int) -> str:
    which = f"Attempt {one.attempt}" if one.attempt else "An attempt of the parent session"
    old = "" if one.criteria_version == version else ", an older one than yours"
    return f"{which}, by version {one.criteria_version} of the criteria{old}:"
