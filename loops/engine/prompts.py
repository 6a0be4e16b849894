"""What a role of the single-threaded loop reads at the start of its iteration. Pure.

Same input, same prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loops.engine import prompt_texts as texts
from loops.engine.prompt_parts import (
    KEYS,
    NOTE_TEXT,
    NOTES,
    NOTES_SHORTER,
    SHORT_TEXT,
    Requirement,
    clean,
    cut,
    fence,
    indented,
    line,
    listed,
    more,
    requirements,
)
from loops.engine.values import Role

ENTRIES, ENTRIES_SHORTER = 30, 10
HISTORY = 20
ENTRY_TEXT = 2_000
GUIDANCE_TEXT = 64 * 1024

_KINDS = {"code": "bug", "task": "task", "spec": "spec bug"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One tracker entry. kind: "code", "task" or "spec". cites: "R-2.3" or "". unjudged: the
    reviewer must judge it. note: what the engine knows about it ("its commit is not in HEAD")."""

    key: str
    kind: str
    state: str
    title: str
    priority: str = ""
    cites: str = ""
    quote: str = ""
    contradiction: str = ""
    place: str = ""
    text: str = ""
    commit: str = ""
    unjudged: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Guidance:
    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInput:
    """All that a prompt is made of.

    session: "S-3". goal: key of the requirement that the session owns, "" if none.
    requirements: those in scope. entries: blockers (worker), unjudged and blockers (reviewer),
    open ones (coach); in tracker order. marks_missing: keys without a holding mark (reviewer).
    notes: sentences from the engine about the last iterations. decisions: what people decided since
    the last prompt. history: one line per recent iteration, oldest first (coach).
    check: the project's check command. workdir: path inside the repository that is to be worked on.
    instruction_files: the repository's own, named so that the loop's rules win over them.
    shorter: the last prompt overflowed the agent's context.
    """

    role: Role
    session: str
    goal: str = ""
    requirements: tuple[Requirement, ...] = ()
    entries: tuple[Entry, ...] = ()
    marks_missing: tuple[str, ...] = ()
    guidance: Guidance | None = None
    notes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    check: str = ""
    workdir: str = ""
    instruction_files: tuple[str, ...] = ()
    shorter: bool = False


def build(given: PromptInput) -> str:
    """The whole prompt. Raises ValueError for a role that the single-threaded loop lacks."""
    if given.role not in texts.ROLES:
        raise ValueError(f"The single-threaded loop has no {given.role.value}.")
    role = texts.ROLES[given.role]
    parts = (
        f"# You are the {given.role.value} of session {given.session}",
        role.goal,
        _rules(given, role),
        requirements(given.requirements, goal=given.goal, shorter=given.shorter),
        _entries(given),
        _marks(given),
        _guidance(given),
        listed("Decisions by people since the last prompt", given.decisions, _most_notes(given)),
        listed("Notes on the last iterations", given.notes, _most_notes(given)),
        listed("Recent iterations", _recent(given), HISTORY),
        f"## Commands\n{indented(role.commands)}\nAll of them: `loopwatch --help`.",
        f"## How this iteration ends\n{role.ending}",
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _rules(given: PromptInput, role: texts.RoleText) -> str:
    rules = [*texts.RULES, *role.rules]
    about = []
    if given.workdir:
        rules.append(texts.FOLDER)
        about.append(f"folder: {line(given.workdir, SHORT_TEXT)}")
    if given.check:
        rules.append(texts.CHECK)
        about.append(f"check: {line(given.check, NOTE_TEXT)}")
    about += [
        f"instruction file: {line(name, SHORT_TEXT)}" for name in given.instruction_files[:NOTES]
    ]
    lines = "\n".join(f"- {rule}" for rule in rules)
    block = f"\n\nAbout this project:\n{fence(chr(10).join(about))}" if about else ""
    return f"## Rules\n{lines}{block}"


def _entries(given: PromptInput) -> str:
    entries = list(given.entries)
    if given.role is Role.WORKER:
        entries = [entry for entry in entries if entry.kind != "spec"]  # RULES 5
    entries.sort(key=lambda entry: (not entry.unjudged, entry.priority or "P9"))
    if given.role is not Role.REVIEWER:
        return _block("Open entries", entries, given)
    judge = [entry for entry in entries if entry.unjudged]
    rest = [entry for entry in entries if not entry.unjudged]
    first = _block("Entries that you must judge", judge, given)
    return f"{first}\n\n{_block('Other open entries', rest, given)}"


def _block(title: str, entries: Sequence[Entry], given: PromptInput) -> str:
    if not entries:
        return f"## {title}\nNone."
    most = ENTRIES_SHORTER if given.shorter else ENTRIES
    shown = "\n".join(_entry(entry, given.shorter) for entry in entries[:most])
    rest = more(len(entries) - most, "loopwatch bug list")
    return f"## {title}\n{fence(shown)}{rest}"


def _entry(entry: Entry, shorter: bool) -> str:
    kind = _KINDS.get(entry.kind, entry.kind)
    head = " ".join(word for word in (entry.key, kind, entry.state, entry.priority) if word)
    lines = [f"{head}: {line(entry.title, SHORT_TEXT)}"]
    if entry.cites:
        quote = f', "{line(entry.quote, SHORT_TEXT)}"' if entry.quote else ""
        lines.append(f"cites {line(entry.cites, SHORT_TEXT)}{quote}")
    if entry.place:
        lines.append(f"place {line(entry.place, SHORT_TEXT)}")
    if entry.commit:
        lines.append(f"fixed by commit {line(entry.commit, SHORT_TEXT)}")
    if entry.note:
        lines.append(f"note: {line(entry.note, SHORT_TEXT)}")
    if not shorter:
        if entry.contradiction:
            lines.append(f"contradiction: {line(entry.contradiction, ENTRY_TEXT)}")
        if entry.text:
            lines.append(f"text: {line(entry.text, ENTRY_TEXT)}")
    return "\n    ".join(lines)


def _marks(given: PromptInput) -> str:
    if given.role is not Role.REVIEWER:
        return ""
    keys = " ".join(given.marks_missing[:KEYS]) or "None: every mark holds."
    rest = more(len(given.marks_missing) - KEYS, "loopwatch req list")
    return f"## Requirements that still need your mark\n{keys}{rest}"


def _guidance(given: PromptInput) -> str:
    if given.guidance is None:
        return ""
    most = ENTRY_TEXT if given.shorter else GUIDANCE_TEXT
    text = cut(clean(given.guidance.text), most)
    return f"## Guidance, version {given.guidance.number}\n{texts.GUIDANCE}\n{fence(text)}"


def _most_notes(given: PromptInput) -> int:
    return NOTES_SHORTER if given.shorter else NOTES


def _recent(given: PromptInput) -> tuple[str, ...]:
    return given.history if given.role is Role.COACH else ()
