"""Bounds of a loop: positive limits, no progress, oscillation, and how far it can still go."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from loops.engine.values import Config, LimitName, Limits, Pattern, Policy

OSCILLATION_COACH = 4  # the same two trees in turn twice: A B A B
OSCILLATION_ASK = 6  # three times: A B A B A B

_MANDATORY = (LimitName.ITERATIONS, LimitName.WALL_SECONDS, LimitName.NO_PROGRESS)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # it becomes part of a memory scope
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
    """check_limits, and what the session's pattern needs beside. Raises ValueError."""
    check_limits(config.limits, priced=priced)
    match config.pattern:
        case Pattern.SINGLE_THREAD:
            _check_whole(config.review_every, "worker iterations between reviews", 1)
            _check_whole(config.coach_every, "worker iterations between visits of the coach", 1)
        case Pattern.FEEDBACK:
            _check_names(config.pool, "worker")
            for value, words in (
                (config.retries, "retries"),
                (config.reassigns, "reassignments"),
                (config.replans, "replans"),
                (config.self_calls, "further calls of the thinker"),
            ):
                _check_whole(value, words, 0)
            _check_verifiers(config)
        case Pattern.MAKER_VERIFIER:
            _check_whole(config.attempts, "attempts", 1)
            _check_verifiers(config)


def _check_verifiers(config: Config) -> None:
    _check_names([verifier.name for verifier in config.verifiers], "verifier")
    if not any(verifier.policy is Policy.REQUIRED for verifier in config.verifiers):
        raise ValueError("At least one verifier must be required: nothing else decides.")
    _check_whole(config.reverifications, "re-verifications", 0)


def _check_names(names: Sequence[str], what: str) -> None:
    if not names:
        raise ValueError(f"At least one {what} is needed.")
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is no name of a {what}: letters, digits, '-', '_' and '.', at most 64."
            )
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise ValueError(f"There are two {what}s of the name {twice!r}.")


def _check_whole(value: object, words: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"The number of {words} must be a whole number of at least {least}.")


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


# --- Thinker-Worker-Verifier (RULES 2) -----------------------------------------------------------


def worker_attempts(config: Config) -> int:
    """The exact bound on worker attempts; what people grant comes on top.

    Global: R + min(A, (W-1)(P+1)) + P + 2. Nested: (R+1)(min(A, W-1)+1)(P+1) + 1.
    """
    others = max(0, len(config.pool) - 1)
    plans = config.replans + 1
    if config.is_nested:
        return (config.retries + 1) * (min(config.reassigns, others) + 1) * plans + 1
    return config.retries + min(config.reassigns, others * plans) + config.replans + 2


def thinker_calls(config: Config) -> int:
    """Most plans: the first, each replan, and each further call of the thinker's own wish."""
    return 1 + config.replans + config.self_calls


def verifier_calls(config: Config, attempts: int) -> int:
    """Most reports on so many attempts: every verifier each time, the reserve as often as U."""
    reserve = sum(verifier.policy is Policy.RESERVE for verifier in config.verifiers)
    each = len(config.verifiers) - reserve + min(config.reverifications, reserve)
    return attempts * each
