"""Moves of an entry's state; the table is `engine.rules.MOVES`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import F

from tracker.engine import citations, rules
from tracker.engine.rules import Kind, Refused, State, Verb
from tracker.errors import Conflict, Invalid, NotAllowed
from tracker.models import Bug
from tracker.services.actors import By, described
from tracker.services.citing import Citation, requote
from tracker.services.writing import Write, allowed, given, optional, writing

_COMMIT = re.compile(r"[0-9a-f]{4,64}")


def start(bug: Bug, by: By) -> Bug:
    """Take an entry to work on it. Of many at once one wins; the others get Conflict, who won."""
    with _moving(bug, by, Verb.START) as (write, bug, state):
        return write.change(
            bug, Verb.START, state, started_by=by.actor, started_reference=by.reference
        )


def mark_fixed(bug: Bug, by: By, commit: str) -> Bug:
    """Say that `commit` (hexadecimal id) fixes the entry; again with another commit if need be."""
    commit = commit.strip().lower()
    if not _COMMIT.fullmatch(commit):
        raise Invalid(f'"{commit}" is no commit: name the id of the commit that fixes it.')
    with _moving(bug, by, Verb.FIX) as (write, bug, state):
        if bug.state == State.FIXED and bug.commit == commit:
            raise Conflict(f"{bug.key} is FIXED with {commit} already.")
        return write.change(bug, Verb.FIX, state, commit=commit, fixed_in=by.session_ref)


def block(bug: Bug, by: By, why: str) -> Bug:
    """Take an entry out of the worker's list: impossible, or not right. A person answers."""
    why = given(why, "The reason why it is blocked")
    with _moving(bug, by, Verb.BLOCK) as (write, bug, state):
        return write.change(bug, Verb.BLOCK, state, note=why)


def unblock(bug: Bug, by: By, text: str) -> Bug:
    """Answer a BLOCKED entry; it is OPEN again."""
    text = given(text, "The answer")
    with _moving(bug, by, Verb.UNBLOCK) as (write, bug, state):
        return write.change(bug, Verb.UNBLOCK, state, note=text)


def close(bug: Bug, by: By, why: str = "") -> Bug:
    """Judge a fix as good, or a STALE entry as settled by the new text."""
    why = optional(why, "The reason")
    with _moving(bug, by, Verb.CLOSE) as (write, bug, state):
        return write.change(bug, Verb.CLOSE, state, note=why)


def reopen(bug: Bug, by: By, why: str, *, commit_missing: bool = False) -> Bug:
    """Judge a fix as not good. What a person dismissed only a person reopens.

    A closed entry whose quoted words were edited away since is STALE at once: there is nothing
    that it could be worked on against before somebody confirms it.

    commit_missing: the reason is that the fix's commit is not in the session's HEAD; that says
    nothing about the fix and does not count towards `disputed_fix`.
    """
    why = given(why, "The reason why it is reopened")
    with _moving(bug, by, Verb.REOPEN) as (write, bug, state):
        if bug.is_dismissed and not by.is_person:
            raise NotAllowed(
                f"{bug.key} was dismissed by a person: {bug.dismiss_reason}. If you disagree, file"
                " a spec bug."
            )
        changes = {"dismiss_reason": "", "dismissed_by": None}
        if bug.kind != Kind.SPEC:
            try:
                changes |= _cited_again(bug, "")
            except Invalid:
                state = State.STALE
        if bug.state != State.BLOCKED:
            changes |= {"commit": "", "fixed_in": ""}
            if not commit_missing:
                changes["reopen_count"] = F("reopen_count") + 1
        return write.change(
            bug, Verb.REOPEN, state, note=why, commit_missing=commit_missing, **changes
        )


def confirm(bug: Bug, by: By, note: str = "", *, quote: str = "") -> Bug:
    """Say that a STALE entry holds against the new text too; it is OPEN again.

    quote: words of the new text, needed for a code bug whose old quote does not stand there.
    """
    note = optional(note, "The note")
    with _moving(bug, by, Verb.CONFIRM) as (write, bug, state):
        changes = _cited_again(bug, optional(quote, "The quote"))
        changes |= {"commit": "", "fixed_in": ""}
        return write.change(bug, Verb.CONFIRM, state, note=note, **changes)


def dismiss(bug: Bug, by: By, reason: str, *, blob: str = "") -> Bug:
    """Close an entry without a fix, as a person's decision; the reason is shown.

    blob: content id of the file at its place now, if known. Until the file or the cited words
    change, the finding cannot be filed again.
    """
    reason = given(reason, "The reason why it is dismissed")
    with _moving(bug, by, Verb.DISMISS) as (write, bug, state):
        if bug.is_dismissed:
            raise Conflict(f"{bug.key} was dismissed already: {bug.dismiss_reason}")
        return write.change(
            bug,
            Verb.DISMISS,
            state,
            dismiss_reason=reason,
            dismissed_by=by.actor,
            blob=blob,
            note=reason,
        )


@contextmanager
def _moving(bug: Bug, by: By, verb: Verb) -> Iterator[tuple[Write, Bug, State]]:
    """Open the write, with the entry as it is under the lock and the state that `verb` leads to."""
    with writing(bug.project, by) as write:
        bug = write.current(bug)
        state = rules.move(verb, Kind(bug.kind), State(bug.state), by.party, bug.key)
        if isinstance(state, Refused):
            if bug.state == State.IN_PROGRESS and verb is Verb.START and not state.lacks_right:
                raise Conflict(_taken(bug))
            allowed(state)
        yield write, bug, state


def _taken(bug: Bug) -> str:
    winner = described(bug.started_by, bug.started_reference)
    return (
        f"{bug.key} is IN_PROGRESS: {winner} started it. Once that iteration is over, go on with"
        " it and mark it as fixed."
    )


def _cited_again(bug: Bug, words: str) -> dict[str, Any]:
    """Return the changes that make an entry cite the current version of its requirement."""
    if bug.requirement_id is None:
        return {}
    if bug.kind == Kind.CODE:
        return _requoted(bug, requote(bug, words), words)
    if bug.requirement.removed_at is not None:
        return {"requirement": None, "version": None, "line": None}
    return {"version": bug.requirement.current, "line": None}


def _requoted(bug: Bug, citation: Citation, words: str) -> dict[str, Any]:
    if citation.version.pk == bug.version_id and not words:
        return {}
    return {
        "version": citation.version,
        "line": citation.line,
        "quote": words or bug.quote,
        "finding": citations.finding(
            citation.requirement.number, citation.line_text, bug.place, bug.title
        ),
    }
