"""The demo's coach: reads how the last iterations went and writes what helps the next ones."""

from __future__ import annotations

import re

from loops.agents.scripted.tools import Tools

_HISTORY = re.compile(r"^## Recent iterations\n(`{3,})data\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)
_ADVICE = {
    "STALL": "{count} iterations came to nothing. Take one entry, make one commit, mark it fixed.",
    "CONFLICT": "{count} times done came with a change. Commit first; say done in the next turn.",
    "REJECTED": "{count} times done was rejected. Look at the list before you say done.",
    "REVIEW_STALL": "{count} reviews gave no verdict. A requirement may name no rule of ruff.",
}


def advise(tools: Tools) -> None:
    """Write guidance if it says something new."""
    lines = [*_from_history(tools.prompt), *_from_entries(tools)]
    known = tools.ask("guidance", "show")
    text = "\n".join(f"- {line}" for line in lines)
    if not lines or (known and known["text"].strip() == text):
        tools.say("no new guidance is needed")
        return
    tools.say(f"guidance:\n{text}")
    tools.loopwatch("guidance", "set", "-", stdin=text)


def _from_history(prompt: str) -> list[str]:
    """One line of advice for each outcome that says something went wrong lately."""
    found = _HISTORY.search(prompt)
    words = re.findall(r"\b[A-Z_]{4,}\b", found[2]) if found else []
    counts = {outcome: words.count(outcome) for outcome in _ADVICE}
    return [_ADVICE[outcome].format(count=count) for outcome, count in counts.items() if count]


def _from_entries(tools: Tools) -> list[str]:
    entries = tools.ask("bug", "list")
    blocked = [entry["key"] for entry in entries if entry["state"] == "BLOCKED"]
    if not blocked:
        return []
    return [f"{' '.join(blocked)}: a person decides about it; go on with the others."]
