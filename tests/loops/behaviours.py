"""How agents behave in the world in memory: the honest ones, and those that cheat."""

from __future__ import annotations

from loops.agents.base import Reply
from loops.engine.values import Fault, Role
from tests.loops.world import Tools


def honest_worker(tools: Tools) -> None:
    """Fix the first open entry and commit; with nothing left, say done."""
    for entry in tools.entries():
        if entry["state"] not in ("OPEN", "IN_PROGRESS", "REOPENED"):
            continue
        files = tools.workspace.files
        for path, text in files.items():
            files[path] = text.replace("bad", "good")
        tools.memory["fixes"] = tools.memory.get("fixes", 0) + 1
        files["changes.txt"] = str(tools.memory["fixes"])
        tools.workspace.commit()
        tools.loopwatch("bug", "start", entry["key"])
        code, _, err = tools.loopwatch("bug", "fixed", entry["key"])
        assert code == 0, err
        return
    if tools.workspace.files != tools.workspace.commits[tools.workspace.head][1]:
        tools.workspace.commit()
        return
    tools.loopwatch("done")


def honest_reviewer(tools: Tools) -> None:
    """Judge what is fixed, file what is wrong, mark what holds, and say so."""
    bad = [path for path, text in tools.workspace.files.items() if "bad" in text]
    for entry in tools.entries("--all"):
        if entry["state"] in ("FIXED", "STALE"):
            tools.loopwatch("bug", "close", entry["key"])
    for path in bad:
        tools.loopwatch(
            "bug", "file", "--cites", "R-2", "--quote", "the word bad", "--contradiction",
            "It is there.", "--place", f"{path}:1", f"{path} is bad",
        )  # fmt: skip
    for need in ["R-1", "R-2"]:
        tools.loopwatch("review", "mark", need, "holds", "--where", "a.txt:1")
    tools.loopwatch("review", "bugs" if bad else "clean")


def silent(tools: Tools) -> None:
    """Does nothing at all and exits 0."""


def crasher(tools: Tools) -> Reply:
    return Reply(fault=Fault.CRASH, detail="It crashed.", exit_code=1)


def liar(tools: Tools) -> None:
    tools.loopwatch("done")


def cheat(tools: Tools) -> None:
    """Changes something and says done in the same breath."""
    tools.memory["n"] = tools.memory.get("n", 0) + 1
    tools.workspace.files["a.txt"] = f"version {tools.memory['n']}"
    tools.workspace.commit()
    tools.loopwatch("done")


HONEST = {Role.WORKER: honest_worker, Role.REVIEWER: honest_reviewer}


def vandal(tools: Tools) -> None:
    """Changes files without committing and says nothing."""
    tools.memory["n"] = tools.memory.get("n", 0) + 1
    tools.workspace.files[f"left{tools.memory['n'] % 3}.txt"] = f"{tools.memory['n']}"


def blocker(tools: Tools) -> None:
    """Declares the first open entry impossible; says done when there is none."""
    for entry in tools.entries():
        if entry["state"] in ("OPEN", "IN_PROGRESS", "REOPENED"):
            tools.loopwatch("bug", "blocked", entry["key"], "--why", "It cannot be done.")
            return
    tools.loopwatch("done")


def rubber_stamp(tools: Tools) -> None:
    """Calls everything clean without looking."""
    for entry in tools.entries("--all"):
        if entry["state"] in ("FIXED", "STALE"):
            tools.loopwatch("bug", "close", entry["key"])
    for need in ["R-1", "R-2"]:
        tools.loopwatch("review", "mark", need, "holds", "--where", "a.txt:1")
    tools.loopwatch("review", "clean")


def reopener(tools: Tools) -> None:
    """Reopens whatever was fixed, every time."""
    for entry in tools.entries("--all"):
        if entry["state"] in ("FIXED", "STALE"):
            tools.loopwatch("bug", "reopen", entry["key"], "--why", "Not good enough.")
    tools.loopwatch("review", "bugs")


def worker_with_habits(*, batch: int, leaves: bool, formats: bool):
    """An honest worker with the habits of real ones: several entries in one go, test leftovers that
    nobody tracks, a formatter that runs before done and settles."""

    def work(tools: Tools) -> None:
        files = tools.workspace.files
        todo = [e for e in tools.entries() if e["state"] in ("OPEN", "IN_PROGRESS", "REOPENED")]
        for entry in todo[:batch]:
            for path, text in files.items():
                files[path] = text.replace("bad", "good", 1)
            tools.memory["fixes"] = tools.memory.get("fixes", 0) + 1
            files["changes.txt"] = str(tools.memory["fixes"])
            tools.workspace.commit()
            assert tools.loopwatch("bug", "fixed", entry["key"])[0] == 0
        if todo:
            return
        if formats and not files["a.txt"].endswith("\n"):
            files["a.txt"] += "\n"
            tools.workspace.commit()
        if leaves:
            tools.memory["n"] = tools.memory.get("n", 0) + 1
            files[f"test-output-{tools.memory['n']}.tmp"] = "noise"
        tools.loopwatch("done")

    return work
