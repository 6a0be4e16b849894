"""The configurations of two sessions, line by line: what is the same is told in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loops.engine.values import Pattern, Role
from loops.pages.compare import Fact
from loops.pages.states import role_word
from loops.reading.budgets import agent_name
from loops.reading.reading import Reading
from tracker.pages.words import duration, money, quantity

PATTERNS = {
    Pattern.SINGLE_THREAD: "Worker, Reviewer, Coach",
    Pattern.FEEDBACK: "Thinker, Worker, Verifier",
    Pattern.MAKER_VERIFIER: "Maker, Verifier",
}
_APART = ("pattern", "agents", "limits", "pool", "verifiers")
_LIMITS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "iterations": ("Iterations", str),
    "wall_seconds": ("Time", duration),
    "no_progress": ("Without a change", str),
    "tokens": ("Tokens", quantity),
    "money": ("Money", money),
}
_NONE = "none"


def pattern_word(pattern: str) -> str:
    return PATTERNS[Pattern(pattern)]


def setup(a: Reading, b: Reading) -> tuple[tuple[Fact, ...], int]:
    """(lines, how many settings differ)."""
    facts: list[Fact] = []
    same: list[str] = []
    for name, one, other, words in _settings(a, b):
        if one == other:
            same.append(name)
        else:
            facts.append(Fact(name, words(one), words(other), differs=True))
    changed = len(facts)
    players = _players(a, b)
    changed += sum(fact.differs for fact in players)
    begun = Fact("Started from", *(r.session.base_head[:7] or "not begun" for r in (a, b)))
    together = (Fact(_listed(same), "same", "same"),) if same else ()
    return (*together, *players, *facts, begun), changed


def _listed(names: list[str]) -> str:
    text = ", ".join(names[:3]).lower()
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{text[:1].upper()}{text[1:]}{more}"


def _settings(a: Reading, b: Reading) -> list[tuple[str, Any, Any, Callable[[Any], str]]]:
    """(name, its value here, its value there, how a value is told)."""
    one, other = a.session, b.session
    found: list[tuple[str, Any, Any, Callable[[Any], str]]] = [
        ("Project", a.project.name, b.project.name, str),
        ("Pattern", one.pattern, other.pattern, pattern_word),
        ("Goal", one.goal, other.goal, _short),
        ("Scope", one.scope, other.scope, _scope),
    ]
    for name, (word, words) in _LIMITS.items():
        limits = (s.config["limits"].get(name) for s in (one, other))
        found.append((word, *limits, _or_none(words)))
    for name in sorted({*one.config, *other.config} - {*_APART}):
        values = (s.config.get(name) for s in (one, other))
        found.append((name.replace("_", " ").capitalize(), *values, _value))
    return found


def _or_none(words: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: _NONE if value is None else words(value)


def _short(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else _NONE
    return first if len(first) <= 40 else f"{first[:39]}…"


def _scope(scope: dict[str, Any]) -> str:
    chosen = [*scope.get("documents", ()), *scope.get("requirements", ())]
    if chosen:
        return _short(", ".join(chosen))
    return "the whole spec" if scope.get("everything", True) else "the goal only"


def _value(value: Any) -> str:
    if value in (None, "", [], {}):
        return _NONE
    return _short(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def _players(a: Reading, b: Reading) -> list[Fact]:
    known = [_agents(reading.session.config) for reading in (a, b)]
    facts = []
    for who in dict.fromkeys([*known[0], *known[1]]):
        one, other = (agents.get(who) for agents in known)
        names = [agent_name(frozen) if frozen else _NONE for frozen in (one, other)]
        if one != other and names[0] == names[1]:
            names[1] = f"{names[1]}, other settings"
        facts.append(Fact(who, names[0], names[1], differs=one != other))
    return facts


def _agents(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {role_word(Role(role)): agent for role, agent in config["agents"].items()}
    for kind, word in (("pool", "Worker"), ("verifiers", "Verifier")):
        found |= {f"{word} {one['name']}": one["agent"] for one in config.get(kind, ())}
    return found
