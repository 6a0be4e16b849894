"""Bounds of a loop: positive limits, no progress, oscillation, and how far it can still go."""

from __future__ import annotations

import math
from dataclasses import dataclass

from loops.engine.values import Config, LimitName, Limits

OSCILLATION_COACH = 4  # the same two trees in turn twice: A B A B
OSCILLATION_ASK = 6  # three times: A B A B A B

_MANDATORY = (LimitName.ITERATIONS, LimitName.WALL_SECONDS, LimitName.NO_PROGRESS)
_MAY_BE_NONE = (LimitName.TOKENS, LimitName.MONEY)
_WORDS = {
    LimitName.ITERATIONS: "iterations",
    LimitName.WALL_SECONDS: "wall time in seconds",
    LimitName.NO_PROGRESS: "iterations without progress",
    LimitName.TOKENS: "tokens",
    LimitName.MONEY: "money",
}


def check_limits(limits: Limits, *, priced: bool = True) -> None:
    """Raise ValueError with a sentence unless every limit is positive (RULES 1).

    priced: every agent of the session reports what it costs; without that a money limit alone
    would never be reached.
    """
    for name in _MANDATORY:
        _check_positive(name, getattr(limits, name.value))
    for name in _MAY_BE_NONE:
        value = getattr(limits, name.value)
        if value is not None:
            _check_positive(name, value)
    if limits.money is not None and limits.tokens is None and not priced:
        raise ValueError(
            "An agent of this session reports no price, so a money limit needs a token limit too."
        )


def check_config(config: Config, *, priced: bool = True) -> None:
    """check_limits, and the two rhythms must be positive as well. Raises ValueError."""
    check_limits(config.limits, priced=priced)
    for value, words in (
        (config.review_every, "worker iterations between reviews"),
        (config.coach_every, "worker iterations between visits of the coach"),
    ):
        if not _is_positive(value) or value != int(value):
            raise ValueError(f"The number of {words} must be a whole number of at least 1.")


def _check_positive(name: LimitName, value: object) -> None:
    if not _is_positive(value):
        raise ValueError(f"The limit for {_WORDS[name]} must be a positive number, not {value!r}.")
    if name not in (LimitName.MONEY, LimitName.WALL_SECONDS) and not isinstance(value, int):
        raise ValueError(f"The limit for {_WORDS[name]} must be a whole number, not {value!r}.")


def _is_positive(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value > 0 and math.isfinite(value)


def idles_too_long(idle: int, limit: float) -> bool:
    """True when `idle` worker iterations in a row without a change reach the limit."""
    return idle >= limit


@dataclass(frozen=True, slots=True)
class Swing:
    """The last two different trees, and how many trees the alternation of just those two spans.

    turns: 1 for A, 2 for A B, 3 for A B A, and so on; a third tree starts it anew at 2. This is all
    that oscillation needs, so the state stays small however long the log is.
    """

    previous: str = ""
    current: str = ""
    turns: int = 0


def swing_on(swing: Swing, rev: str) -> Swing:
    """The swing after the tree `rev` was seen; an unchanged tree is no turn."""
    if rev == swing.current:
        return swing
    if not swing.turns:
        return Swing("", rev, 1)
    turns = swing.turns + 1 if rev == swing.previous else 2
    return Swing(swing.current, rev, turns)


def calm(swing: Swing) -> Swing:
    """The count starts anew from the tree that stands."""
    return Swing("", swing.current, 1 if swing.turns else 0)


def worst_case(limit: float, used: int) -> int:
    """Most iterations that can still run before an end or a question, whatever agents do.

    Every recorded iteration counts against the limit, faults and holds too, so what is left of it
    is the bound; an agent that changes the tree each time meets it exactly.
    """
    return max(0, math.ceil(limit) - used)
