"""The demo's worker: fixes what ruff can fix, and asks a person about what it cannot."""

from __future__ import annotations

from typing import Any

from loops.agents.ruff_demo import findings
from loops.agents.ruff_demo.reviewer import TO_DO, code_of
from loops.agents.scripted.tools import Tools

Entry = dict[str, Any]


def work(tools: Tools) -> None:
    """Take the first open entry; with nothing left, say done."""
    if tools.git("status", "--porcelain").out:
        tools.say("an earlier iteration left changes without a commit: taken back")
        tools.git("reset", "-q", "--hard")
        tools.git("clean", "-fdq")
    entries = [entry for entry in tools.ask("bug", "list") if entry["state"] in TO_DO]
    entries.sort(key=lambda entry: str(entry["priority"]))
    if not entries:
        tools.say("nothing is open: done")
        tools.loopwatch("done")
        return
    _take(tools, entries[0])
    if len(entries) > 1:
        tools.say(f"{len(entries) - 1} left")
        tools.loopwatch("not-done")


def _take(tools: Tools, entry: Entry) -> None:
    key, title = entry["key"], entry["title"]
    tools.say(f"{key}: {title}")
    if entry["state"] != "IN_PROGRESS":
        tools.loopwatch("bug", "start", key)
    code = code_of(tools, entry)
    if not code:
        _block(tools, key, "It names no rule of ruff, and ruff's fixes are all I can make.")
        return
    findings.fix(tools, code)
    left = findings.worst_first(findings.find(tools, [code]))
    if left:
        tools.git("reset", "-q", "--hard")  # half a fix is none
        _block(
            tools,
            key,
            f"ruff has no safe automatic fix for {len(left)} of these places, "
            f"the first is {left[0].place}. A person has to write it or accept it as it is.",
        )
        return
    tools.commit(f"Fix {code} ({key})\n\n{title}")
    if tools.loopwatch("bug", "fixed", key).code == 0:
        tools.say(f"{key}: fixed, ruff {code} finds nothing any more")


def _block(tools: Tools, key: str, why: str) -> None:
    tools.say(f"{key}: blocked. {why}")
    tools.loopwatch("bug", "blocked", key, "--why", why)
