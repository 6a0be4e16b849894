"""python -m loops.agents.ruff_demo reviewer|worker|coach: one turn of a demo agent."""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run by the folder's path, from a clone that knows nothing of Loopwatch
    sys.path[0] = str(Path(__file__).resolve().parents[3])

from loops.agents.ruff_demo import coach, reviewer, worker
from loops.agents.scripted.tools import Failed, Tools

ROLES = {"reviewer": reviewer.review, "worker": worker.work, "coach": coach.advise}


def main(words: list[str]) -> int:
    """Play one turn; 0, 1 when something it relies on failed, 2 for no such role."""
    if len(words) != 1 or words[0] not in ROLES:
        print(f"Name one role: {', '.join(ROLES)}.", file=sys.stderr)
        return 2
    prompt = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
    try:
        ROLES[words[0]](Tools(prompt=prompt))
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
