"""How an entry of the tracker looks to an agent."""

from __future__ import annotations

from typing import Any

from loops.interface.words import shown
from tracker.models import Bug, Move

MOST_NOTE = 4_000
"""Characters of one note in a history; people may write megabytes."""


def brief(bug: Bug) -> dict[str, Any]:
    """The stable value of one entry in a list, for --json."""
    return {
        "key": bug.key,
        "kind": bug.kind,
        "state": bug.state,
        "priority": bug.priority,
        "title": bug.title,
        "cites": cites(bug),
        "place": bug.place,
        "commit": bug.commit,
        "count": bug.count,
        "reopen_count": bug.reopen_count,
    }


def data(bug: Bug) -> dict[str, Any]:
    """The stable value of one entry, for --json: `brief` and its words."""
    return brief(bug) | {
        "quote": bug.quote,
        "contradiction": bug.contradiction,
        "text": bug.text,
        "dismiss_reason": bug.dismiss_reason,
    }


def line(bug: Bug) -> str:
    """One line: key, state, priority, citation, place, title."""
    cells = (bug.key, bug.state, bug.priority, cites(bug), shown(bug.place, 120))
    return "  ".join([cell for cell in cells if cell] + [shown(bug.title, 200)])


def whole(bug: Bug) -> str:
    labelled = (
        ("quote", bug.quote),
        ("contradiction", bug.contradiction),
        ("text", bug.text),
        ("commit", bug.commit),
        ("dismissed", bug.dismiss_reason),
        ("reopened", f"{bug.reopen_count} times" if bug.reopen_count else ""),
        ("filed", f"{bug.count} times" if bug.count > 1 else ""),
    )
    return "\n".join([line(bug)] + [f"{label}: {value}" for label, value in labelled if value])


def move(told: Move) -> dict[str, Any]:
    """The stable value of one line of an entry's history."""
    return {
        "verb": told.verb,
        "by": str(told.actor),
        "reference": told.reference,
        "state": told.to_state,
        "note": told.note[:MOST_NOTE],
        "at": told.at.isoformat(),
    }


def move_line(told: Move) -> str:
    where = f", {told.reference}" if told.reference else ""
    note = f": {told.note[:MOST_NOTE]}" if told.note else ""
    return f"- {told.verb} ({told.actor}{where}){note}"


def cites(bug: Bug) -> str:
    """The citation as an agent types it, "" if there is none."""
    if bug.requirement is None:
        return ""
    return f"{bug.requirement.key}.{bug.line}" if bug.line else bug.requirement.key
