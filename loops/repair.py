"""A reply that did not come: what is missing, and the one repair try in the iteration (RULES 1).

A thinker without a plan or a verifier without a verdict is called once more, with its own prompt
and a sentence about what is missing; after that it is the fault UNPARSEABLE.
"""

from __future__ import annotations

from loops.engine.values import Role
from loops.interface import Collected


def missing(role: Role, collected: Collected) -> str:
    """What the call should have handed in and did not, as a sentence; "" if nothing is missing."""
    if role is Role.THINKER and collected.plan is None:
        what, verb = "plan", "plan submit"
    elif role is Role.VERIFIER and collected.report is None:
        what, verb = "verdict", "verdict submit"
    else:
        return ""
    if collected.refused:
        return f"The last {what} was refused: {collected.refused}"
    return f"No {what} was handed in with `loopwatch {verb} -`."


def prompt_again(prompt: str, sentence: str) -> str:
    return f"{prompt}\n## This is your second and last try\n{sentence} Hand it in now.\n"
