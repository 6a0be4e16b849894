"""What people say about an entry without moving it."""

from __future__ import annotations

from typing import Any

from tracker.engine import rules
from tracker.engine.rules import Verb
from tracker.errors import Invalid
from tracker.models import Bug
from tracker.services.actors import By
from tracker.services.filing import priority_of
from tracker.services.writing import allowed, given, optional, title_of, writing


def reword(bug: Bug, by: By, title: str, text: str) -> Bug:
    """Change title and text; the citation stays."""
    changes = {"title": title_of(title), "text": optional(text, "The text")}
    return _annotate(bug, by, Verb.REWORD, note=changes["title"], **changes)


def dispute(bug: Bug, by: By, why: str) -> Bug:
    """Say that the citation does not carry what the entry claims."""
    if bug.requirement_id is None:
        raise Invalid(f"{bug.key} cites nothing that could be disputed.")
    return _annotate(bug, by, Verb.DISPUTE, note=given(why, "The reason"), is_disputed=True)


def set_priority(bug: Bug, by: By, priority: str) -> Bug:
    return _annotate(
        bug, by, Verb.PRIORITIZE, note=priority_of(priority), priority=priority_of(priority)
    )


def comment(bug: Bug, by: By, text: str) -> Bug:
    return _annotate(bug, by, Verb.COMMENT, note=given(text, "The comment"))


def reset_disputes(bug: Bug, by: By) -> Bug:
    """Count reopenings anew, once a person has decided about them (RULES 6, `disputed_fix`)."""
    return _annotate(bug, by, Verb.RESET, reopen_count=0)


def _annotate(bug: Bug, by: By, verb: Verb, **changes: Any) -> Bug:
    allowed(rules.act(verb, by.party, bug.key))
    with writing(bug.project, by) as write:
        return write.change(write.current(bug), verb, **changes)
