"""Budgets as bars: what is used of each limit (part loops/_limits.html)."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.pages.atoms import Bar, Tone


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """used, most: in words ("58", "90"; "8 h 38 min", "12 h"). bar: None when there is no limit.

    note: instead of a bar, e.g. "no limit set" or "3.1 M tokens are not priced".
    """

    name: str
    used: str
    most: str = ""
    bar: Bar | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsPart:
    """bound: sentence on how many iterations can still run at most; number: the count in it."""

    budgets: tuple[Budget, ...]
    bound_number: int
    bound: str


def bar(used: float, most: float, label: str) -> Bar:
    """Return the bar of a budget: blue, amber from 80 %, orange when the limit is reached."""
    percent = 100.0 if most <= 0 else min(100.0, 100.0 * used / most)
    tone: Tone = "lim" if percent >= 100 else "warn" if percent >= 80 else "run"
    return Bar(percent=round(percent, 1), tone=tone, label=label)


def budget(
    name: str, *, used: float, most: float | None, used_words: str, most_words: str = ""
) -> Budget:
    """Return one budget. most: None is an explicit "none"; then there is no bar."""
    if most is None:
        return Budget(name=name, used=used_words, note="no limit set")
    label = f"{name}: {used_words} of {most_words}"
    return Budget(name=name, used=used_words, most=most_words, bar=bar(used, most, label))


def nearest(budgets: tuple[Budget, ...]) -> Budget | None:
    """Return the fullest budget: the one the loop reaches first by share."""
    barred = [one for one in budgets if one.bar]
    return max(barred, key=lambda one: one.bar.percent if one.bar else 0.0, default=None)
