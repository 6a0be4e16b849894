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
        return "No plan was handed in with `loopwatch plan submit -`."
    if role is Role.VERIFIER and collected.report is None:
        return "No verdict was handed in with `loopwatch verdict submit -`."
    return ""


def prompt_again(prompt: str, sentence: str) -> str:
    return f"{prompt}\n## This is your second and last try\n{sentence} Hand it in now.\n"
