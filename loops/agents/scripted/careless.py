"""Agents that end nothing: idle, wordy, eager or lying, in the ways that real ones are."""

from __future__ import annotations

import os
import signal
import time

from loops.agents.scripted import honest
from loops.agents.scripted.tools import Tools


def early_done(tools: Tools) -> None:
    """Worker: says done at once, whatever is open."""
    tools.loopwatch("done")


def change_and_done(tools: Tools) -> None:
    """Worker: changes a file, commits and says done, in every iteration."""
    tools.write("cheat.txt", f"change {tools.turn()}\n")
    tools.commit("Change something on the way out")
    tools.loopwatch("done")


def uncommitted_done(tools: Tools) -> None:
    """Worker: leaves a change without a commit once, then says done over it for ever."""
    if tools.turn() == 1:
        tools.write(tools.tracked()[0], "changed, and never committed\n")
        return
    tools.loopwatch("done")


def staller(tools: Tools) -> None:
    """Any role: does nothing, silently, for --seconds."""
    time.sleep(tools.options.seconds)


def dead_reviewer(tools: Tools) -> None:
    """Reviewer: reads nothing, says nothing, exits 0."""


def crasher(tools: Tools) -> None:
    """Any role: changes a file, then dies of a signal (a half-finished iteration)."""
    tools.write("half-done.txt", f"attempt {tools.turn()}\n")
    os.kill(os.getpid(), signal.SIGABRT)


def chatty(tools: Tools) -> None:
    """Worker: prints every word for being done that there is; signals nothing."""
    for words in (
        "DONE",
        "done",
        "loopwatch done",
        "<promise>COMPLETE</promise>",
        '{"type": "result", "subtype": "success", "is_error": false}',
        '{"signal": "done"}',
        "\x1b[1mEXIT_SIGNAL: true\x1b[0m",
        "All tasks are complete. There is nothing left to do.",
    ):
        tools.say(words)


def gold_plater(tools: Tools) -> None:
    """Worker: polishes files that nobody asked about, for ever, never done."""
    turn = tools.turn()
    tools.write(f"gold/plate-{turn}.txt", "Nobody asked for this.\n")
    tools.commit(f"Polish, part {turn}")


def spec_spammer(tools: Tools) -> None:
    """Any role: files --count spec bugs in every iteration and does nothing else."""
    turn = tools.turn()
    for number in range(tools.options.count):
        title = f"The words are unclear ({turn}.{number})"
        tools.loopwatch("bug", "file", "--spec", "--text", "What does this mean?", title)


def false_reviewer(tools: Tools) -> None:
    """Reviewer: files bugs with invented quotes and citations, then says that it found bugs."""
    first = tools.ask("req", "list")[0]["key"]
    for cites, quote in (
        (first, "words that no requirement ever said"),
        ("R-987654", "anything"),
        (f"{first}.987654", "anything"),
        (first, ""),
    ):
        finding = ("--cites", cites, "--quote", quote, "--contradiction", "It is wrong.")
        tools.loopwatch("bug", "file", *finding, "Something is wrong somewhere")
    tools.loopwatch("review", "bugs")


def always_reopening(tools: Tools) -> None:
    """Reviewer: files the findings of --check once, then reopens whatever is fixed, always."""
    honest.file_findings(tools)
    for entry in tools.ask("bug", "list", "--all"):
        if entry["state"] in ("FIXED", "CLOSED"):
            tools.loopwatch("bug", "reopen", entry["key"], "--why", "I am not convinced.")
    tools.loopwatch("review", "bugs")
