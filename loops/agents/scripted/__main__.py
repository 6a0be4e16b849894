"""python -m loops.agents.scripted NAME [--option ...]: one turn of a scripted agent."""

from __future__ import annotations

import argparse
import fcntl
import os
import sys
import time
from pathlib import Path

if not __package__:  # run by the folder's path, from a clone that knows nothing of Loopwatch
    sys.path[0] = str(Path(__file__).resolve().parents[3])

from loops.agents.scripted.catalogue import BEHAVIOURS, overview
from loops.agents.scripted.tools import Failed, Tools

TWO_AT_ONCE = 99


def main(words: list[str]) -> int:
    """Play one turn; 0, 1 when something it relies on failed, 99 when --lock was held already."""
    options = parser().parse_args(words)
    if options.list:
        print(overview())
        return 0
    if options.name not in BEHAVIOURS:
        print(f"There is no scripted agent {options.name!r}; --list names them.", file=sys.stderr)
        return 2
    if options.lock and not _only_one(options.lock):
        return TWO_AT_ONCE
    prompt = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
    tools = Tools(options, prompt)
    end = time.monotonic() + options.pause
    while time.monotonic() < end:
        tools.say("thinking")
        time.sleep(min(0.5, options.pause))
    try:
        BEHAVIOURS[options.name](tools)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def _only_one(path: str) -> bool:
    """Hold the lock until this process ends; if somebody has it, leave a note that tests find."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        Path(f"{path}.two-at-once").touch()
        return False
    return True


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="loops.agents.scripted", description=__doc__)
    made.add_argument("name", nargs="?", metavar="NAME")
    made.add_argument("--list", action="store_true", help="name all agents")
    made.add_argument("--pause", type=float, default=0.0, help="seconds of work before acting")
    made.add_argument("--lock", default="", help="file that only one agent may hold")
    made.add_argument("--check", action="append", default=[], help="'R-1 app.txt lacks TODO'")
    made.add_argument("--begin-with", default="", help="finisher: file of the first turn's work")
    made.add_argument("--count", type=int, default=3, help="how many (batch, spam)")
    made.add_argument("--seconds", type=float, default=0.0, help="how long (staller, daemon)")
    made.add_argument("--file", default="REQUIREMENTS.md", help="spec-editor: file to rewrite")
    made.add_argument("--worker", default="", help="planner: whom to choose")
    made.add_argument("--action", default="RETRY", help="never-satisfied: what it recommends")
    made.add_argument("--marker", default="", help="git-attacker: file that proves the attack")
    made.add_argument("--manage", default="", help="self-approver: another manage.py")
    made.add_argument("--data", default="", help="self-approver: the data folder, as if guessed")
    return made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
