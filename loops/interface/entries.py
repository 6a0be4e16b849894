"""How an entry of the tracker looks to an agent."""

from __future__ import annotations

from typing import Any

from loops.interface.words import shown
from tracker.models import Bug


def data(bug: Bug) -> dict[str, Any]:
    """The stable value for --json."""
    return {
        "key": bug.key,
        "kind": bug.kind,
        "state": bug.state,
        "priority": bug.priority,
        "title": bug.title,
        "cites": _cites(bug),
        "quote": bug.quote,
        "contradiction": bug.contradiction,
        "place": bug.place,
        "text": bug.text,
        "commit": bug.commit,
        "count": bug.count,
        "reopen_count": bug.reopen_count,
        "dismiss_reason": bug.dismiss_reason,
    }


def line(bug: Bug) -> str:
    """One line: key, state, priority, citation, place, title."""
    cells = (bug.key, bug.state, bug.priority, _cites(bug), shown(bug.place, 120))
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


def _cites(bug: Bug) -> str:
    if bug.requirement is None:
        return ""
    return f"{bug.requirement.key}.{bug.line}" if bug.line else bug.requirement.key
