"""Kinds and states of entries as words, icons and chips (design/ui.md 3)."""

from __future__ import annotations

from tracker.engine.rules import DISPUTED_AFTER, Kind, State
from tracker.models import Bug
from tracker.pages.atoms import Chip

_KINDS = {
    Kind.CODE: ("Code bug", "bug"),
    Kind.TASK: ("Task", "task"),
    Kind.SPEC: ("Spec bug", "doc"),
}
_STATES = {
    State.OPEN: Chip("off", "queued", "Open"),
    State.REOPENED: Chip("bad", "undo", "Reopened"),
    State.IN_PROGRESS: Chip("run", "run", "In progress"),
    State.FIXED: Chip("wait", "eye", "Fixed, to confirm"),
    State.STALE: Chip("warn", "warn", "Citation stale"),
    State.BLOCKED: Chip("wait", "person", "Blocked, waits for an answer"),
    State.CLOSED: Chip("ok", "ok", "Closed"),
}
_DISMISSED = Chip("off", "x", "Dismissed")
_PEOPLE_ONLY = Chip("off", "lock", "People only", title="Agents never work on spec bugs")
_DISPUTED = Chip("warn", "q", "Disputed", title="A person says that the citation does not carry it")


def kind_word(bug: Bug) -> str:
    return _KINDS[Kind(bug.kind)][0]


def kind_icon(bug: Bug) -> str:
    return _KINDS[Kind(bug.kind)][1]


def chip(bug: Bug) -> Chip:
    return _DISMISSED if bug.is_dismissed else _STATES[State(bug.state)]


def tags(bug: Bug, *, shows_state: bool) -> tuple[Chip, ...]:
    """Return what is special about an entry. shows_state: also states that the place where it is
    shown does not tell."""
    found = []
    if bug.kind == Kind.SPEC:
        found.append(_PEOPLE_ONLY)
    if shows_state and bug.state in (State.STALE, State.REOPENED):
        found.append(chip(bug))
    if shows_state and bug.state == State.BLOCKED:
        found.append(Chip("wait", "person", "Blocked"))
    if bug.is_disputed and bug.state != State.CLOSED:
        found.append(_DISPUTED)
    if bug.count > 1:
        found.append(Chip("off", "copy", f"Found {bug.count} times"))
    return tuple(found)


def cites(bug: Bug) -> str:
    """Return "R-12.3 v4", the version being the one that was cited; "" without a citation."""
    if bug.requirement is None or bug.version is None:
        return ""
    line = f".{bug.line}" if bug.line else ""
    return f"{bug.requirement.key}{line} v{bug.version.number}"


def needs_person(bug: Bug) -> bool:
    """Return whether only a person can move it on."""
    if bug.state == State.CLOSED:
        return False
    return bug.kind == Kind.SPEC or bug.state == State.BLOCKED or bug.reopen_count >= DISPUTED_AFTER
