"""Honest agents: with these three roles a loop ends `done` and asks nobody."""

from __future__ import annotations

from typing import Any

from loops.agents.scripted import checks
from loops.agents.scripted.tools import Tools

Entry = dict[str, Any]
_TO_DO = ("OPEN", "REOPENED", "IN_PROGRESS")


def finisher(tools: Tools) -> None:
    """Worker: fixes the first open entry, commits, marks it fixed; says done when none is left."""
    turn = tools.turn()
    if turn == 1 and tools.options.begin_with:
        tools.write(tools.options.begin_with, "The first piece of work.\n")
        tools.commit("Begin")
        return
    fix_some(tools, 1) or tools.loopwatch("done")


def batch_worker(tools: Tools) -> None:
    """Worker: fixes several open entries (--count) in one iteration, else as the finisher."""
    fix_some(tools, tools.options.count) or tools.loopwatch("done")


def formatter(tools: Tools) -> None:
    """Worker: as the finisher, but runs a formatter over all files before every done."""
    if fix_some(tools, 1):
        return
    for path in tools.tracked():
        text = tools.read(path)
        tidy = "\n".join(line.rstrip() for line in text.rstrip().split("\n")) + "\n"
        if tidy != text:
            tools.write(path, tidy)
    tools.commit("Format")
    tools.loopwatch("done")


def leftover_maker(tools: Tools) -> None:
    """Worker: as the finisher, but its tests leave untracked files behind before every done."""
    if fix_some(tools, 1):
        return
    turn = tools.turn()
    tools.write(f"test-output-{turn}/report.txt", f"run {turn}\n")
    tools.write("coverage.data", f"run {turn}\n")
    tools.loopwatch("done")


def fix_some(tools: Tools, most: int) -> bool:
    """Work off up to `most` entries, one commit each. False: there was none."""
    entries = [entry for entry in tools.ask("bug", "list") if entry["state"] in _TO_DO]
    for entry in entries[:most]:
        _fix(tools, entry)
    return bool(entries)


def _fix(tools: Tools, entry: Entry) -> None:
    key = entry["key"]
    tools.say(f"{key}: {entry['title']}")
    if entry["state"] != "IN_PROGRESS":
        tools.loopwatch("bug", "start", key)
    check = checks.of(entry)
    if check is None:
        tools.write(f"work/{key}.txt", f"{entry['title']}, time {tools.count(key)}\n")
    elif not check.holds(tools):
        check.make_hold(tools)
    tools.commit(f"{key}: {entry['title']}")
    tools.loopwatch("bug", "fixed", key)


def reviewer(tools: Tools) -> None:
    """Reviewer: judges every entry, checks (--check), marks what holds, and says what it found."""
    judge(tools)
    wrong = file_findings(tools)
    for requirement in tools.ask("req", "list"):
        key = requirement["key"]
        if key not in wrong:
            tools.loopwatch("review", "mark", key, "holds", "--where", _where(tools, key))
    still_open = [entry for entry in tools.ask("bug", "list") if entry["state"] in _TO_DO]
    tools.loopwatch("review", "bugs" if wrong or still_open else "clean")


def judge(tools: Tools) -> None:
    for entry in tools.ask("bug", "list", "--all"):
        key, check = entry["key"], checks.of(entry)
        if is_lost(tools, entry):
            tools.loopwatch("bug", "reopen", key, "--why", "Its commit is not in HEAD.")
        elif entry["state"] not in ("FIXED", "STALE"):
            continue
        elif check is None or check.holds(tools):
            tools.loopwatch("bug", "close", key)
        elif entry["state"] == "FIXED":
            tools.loopwatch("bug", "reopen", key, "--why", "It still does not hold.")
        else:
            quote = _first_line(tools, str(entry["cites"]).partition(".")[0])
            tools.loopwatch("bug", "confirm", key, "--quote", quote)


def is_lost(tools: Tools, entry: Entry) -> bool:
    """Whether an entry waits for judgement because its commit is not in HEAD. A closed one of an
    older session may lack it rightly, so the prompt has to name those."""
    if entry["state"] == "CLOSED" and entry["key"] not in tools.listed_to_judge():
        return False
    if entry["state"] not in ("FIXED", "CLOSED") or not entry["commit"]:
        return False
    return tools.git("merge-base", "--is-ancestor", entry["commit"], "HEAD").code != 0


def file_findings(tools: Tools) -> set[str]:
    """File a bug for each check that fails and is not known yet; the requirements they cite."""
    known = {entry["title"] for entry in tools.ask("bug", "list")}
    wrong = [check for check in checks.checks(tools) if not check.holds(tools)]
    for check in wrong:
        if check.title not in known:
            _file(tools, check)
    return {check.key for check in wrong}


def _file(tools: Tools, check: checks.Check) -> None:
    quote = ("--quote", _first_line(tools, check.key))
    finding = ("--cites", check.key, *quote, "--place", check.place(tools))
    contradiction = f"It is not so that {check.title}."
    tools.loopwatch("bug", "file", *finding, "--contradiction", contradiction, check.title)


def _first_line(tools: Tools, key: str) -> str:
    text = str(tools.ask("req", "show", key)["text"])
    return next((line for line in text.split("\n") if line.strip()), text)


def _where(tools: Tools, key: str) -> str:
    mine = [check.place(tools) for check in checks.checks(tools) if check.key == key]
    return next(iter([*mine, *(f"{path}:1" for path in tools.tracked())]), "README.md:1")


def coach(tools: Tools) -> None:
    """Coach: writes guidance about the entries that are open."""
    keys = " ".join(entry["key"] for entry in tools.ask("bug", "list")) or "no entry"
    text = f"Advice {tools.turn()}: open are {keys}. One entry, one commit, then mark it fixed.\n"
    tools.loopwatch("guidance", "set", "-", stdin=text)
