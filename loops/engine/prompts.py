"""What a role of the single-threaded loop reads at the start of its iteration. Pure.

Everything that people, agents or tools wrote stands in a fence longer than any run of backticks in
it, so no text can end its own fence and speak as the loop. Same input, same prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loops.engine import prompt_texts as texts
from loops.engine.values import Role

ENTRIES, ENTRIES_SHORTER = 30, 10
NOTES, NOTES_SHORTER = 20, 8
HISTORY = 20
ENTRY_TEXT = 2_000
NOTE_TEXT = 2_000
GUIDANCE_TEXT = 64 * 1024
KEYS = 200
SHORT_TEXT = 300

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_KINDS = {"code": "bug", "task": "task", "spec": "spec bug"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One requirement in scope at its current version. lines: its text as the tracker numbers it,
    so that the m-th is cited as "R-n.m"."""

    key: str
    version: int
    lines: tuple[str, ...]
    document: str = ""


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
        _requirements(given),
        _entries(given),
        _marks(given),
        _guidance(given),
        _list("Decisions by people since the last prompt", given.decisions, _most_notes(given)),
        _list("Notes on the last iterations", given.notes, _most_notes(given)),
        _list("Recent iterations", _recent(given), HISTORY),
        f"## Commands\n{_indented(role.commands)}\nAll of them: `loopwatch --help`.",
        f"## How this iteration ends\n{role.ending}",
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def fence(text: str) -> str:
    """`text` as a block that nothing inside it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    bar = "`" * max(3, longest + 1)
    return f"{bar}data\n{text}\n{bar}"


def _rules(given: PromptInput, role: texts.RoleText) -> str:
    rules = [*texts.RULES, *role.rules]
    about = []
    if given.workdir:
        rules.append(texts.FOLDER)
        about.append(f"folder: {_line(given.workdir, SHORT_TEXT)}")
    if given.check:
        rules.append(texts.CHECK)
        about.append(f"check: {_line(given.check, NOTE_TEXT)}")
    about += [
        f"instruction file: {_line(name, SHORT_TEXT)}" for name in given.instruction_files[:NOTES]
    ]
    lines = "\n".join(f"- {rule}" for rule in rules)
    block = f"\n\nAbout this project:\n{fence(chr(10).join(about))}" if about else ""
    return f"## Rules\n{lines}{block}"


def _requirements(given: PromptInput) -> str:
    title = "## Requirements in scope"
    if not given.requirements:
        return f"{title}\nNone."
    if given.shorter:
        rows = [f"{_head(each, given)}: {_first(each)}" for each in given.requirements[:KEYS]]
        more = _more(len(given.requirements) - KEYS, "loopwatch req list")
        return f"{title}\n{texts.FIRST_LINES}\n{fence(chr(10).join(rows))}{more}"
    blocks = [f"### {_head(each, given)}\n{fence(_numbered(each))}" for each in given.requirements]
    return f"{title}\n{texts.CITING}\n\n" + "\n\n".join(blocks)


def _head(each: Requirement, given: PromptInput) -> str:
    document = f", {_line(each.document, SHORT_TEXT)}" if each.document else ""
    goal = ", the goal of this session" if each.key == given.goal else ""
    return f"{each.key} (version {each.version}{document}{goal})"


def _first(each: Requirement) -> str:
    return _line(next((line for line in each.lines if line.strip()), ""), SHORT_TEXT)


def _numbered(each: Requirement) -> str:
    """Blank lines are counted, but not shown."""
    return "\n".join(
        f"{each.key}.{number} | {_clean(line)}"
        for number, line in enumerate(each.lines, 1)
        if line.strip()
    )


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
    more = _more(len(entries) - most, "loopwatch bug list")
    return f"## {title}\n{fence(shown)}{more}"


def _entry(entry: Entry, shorter: bool) -> str:
    kind = _KINDS.get(entry.kind, entry.kind)
    head = " ".join(word for word in (entry.key, kind, entry.state, entry.priority) if word)
    lines = [f"{head}: {_line(entry.title, SHORT_TEXT)}"]
    if entry.cites:
        quote = f', "{_line(entry.quote, SHORT_TEXT)}"' if entry.quote else ""
        lines.append(f"cites {_line(entry.cites, SHORT_TEXT)}{quote}")
    if entry.place:
        lines.append(f"place {_line(entry.place, SHORT_TEXT)}")
    if entry.commit:
        lines.append(f"fixed by commit {_line(entry.commit, SHORT_TEXT)}")
    if entry.note:
        lines.append(f"note: {_line(entry.note, SHORT_TEXT)}")
    if not shorter:
        if entry.contradiction:
            lines.append(f"contradiction: {_line(entry.contradiction, ENTRY_TEXT)}")
        if entry.text:
            lines.append(f"text: {_line(entry.text, ENTRY_TEXT)}")
    return "\n    ".join(lines)


def _marks(given: PromptInput) -> str:
    if given.role is not Role.REVIEWER:
        return ""
    keys = " ".join(given.marks_missing[:KEYS]) or "None: every mark holds."
    more = _more(len(given.marks_missing) - KEYS, "loopwatch req list")
    return f"## Requirements that still need your mark\n{keys}{more}"


def _guidance(given: PromptInput) -> str:
    if given.guidance is None:
        return ""
    most = ENTRY_TEXT if given.shorter else GUIDANCE_TEXT
    text = _cut(_clean(given.guidance.text), most)
    return f"## Guidance, version {given.guidance.number}\n{texts.GUIDANCE}\n{fence(text)}"


def _list(title: str, items: Sequence[str], most: int) -> str:
    """The newest `most` items, one line each."""
    if not items:
        return ""
    dropped = len(items) - most
    rows = [f"({dropped} older ones left out)"] if dropped > 0 else []
    rows += [f"- {_line(item, NOTE_TEXT)}" for item in items[-most:]]
    return f"## {title}\n{fence(chr(10).join(rows))}"


def _more(count: int, command: str) -> str:
    return f"\nand {count} more: `{command}`" if count > 0 else ""


def _most_notes(given: PromptInput) -> int:
    return NOTES_SHORTER if given.shorter else NOTES


def _recent(given: PromptInput) -> tuple[str, ...]:
    return given.history if given.role is Role.COACH else ()


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _line(text: str, most: int) -> str:
    return _cut(" ".join(_clean(text).split()), most)


def _clean(text: str) -> str:
    """Without control characters and lone surrogates; tabs and line feeds stay."""
    return _UNSAFE.sub("", text)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} [{len(text) - most} characters left out]"
