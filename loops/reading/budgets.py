"""What is used of each limit, how far the loop can still go, and what each role cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any

from loops.engine.run_state import LimitNow
from loops.engine.values import LimitName, Role, State
from loops.models import Agent
from loops.pages.limits import Budget, LimitsPart, budget
from loops.pages.session import CostPart, RoleCost
from loops.pages.states import role_word
from loops.reading.reading import Noted, Reading
from tracker.pages.words import duration, money, plural, quantity

_NAMES: dict[LimitName, tuple[str, Callable[[float], str]]] = {
    LimitName.ITERATIONS: ("Iterations", lambda used: f"{used:g}"),
    LimitName.WALL_SECONDS: ("Time", duration),
    LimitName.NO_PROGRESS: ("Without a change", lambda used: f"{used:g}"),
    LimitName.TOKENS: ("Tokens", lambda used: quantity(int(used))),
    LimitName.MONEY: ("Money", money),
}


NOTHING_YET = "none yet"  # $0.00 would be a claim: unknown is not free


def limits_part(reading: Reading) -> LimitsPart:
    number = at_most(reading)
    return LimitsPart(budgets=budgets(reading), bound_number=number, bound=_bound(reading, number))


def budgets(reading: Reading) -> tuple[Budget, ...]:
    if reading.fold is None:
        limits = reading.session.config["limits"]
        now: Iterable[LimitNow] = (LimitNow(name, 0, limits.get(name.value)) for name in _NAMES)
    else:
        now = reading.fold.controller.limits_now(reading.fold.state)
    by_name = {one.name: one for one in now}
    return tuple(_budget(reading, by_name[name]) for name in _NAMES if name in by_name)


def _budget(reading: Reading, now: LimitNow) -> Budget:
    name, words = _NAMES[now.name]
    unknown = _unknown(reading, now.name)
    if unknown and not now.used:
        return Budget(name=name, used="", note=f"not reported by {plural(unknown, 'iteration')}")
    if not now.used and now.limit is None:
        return Budget(name=name, used="", note="no limit set")
    most = "" if now.limit is None else words(now.limit)
    return budget(name, used=now.used, most=now.limit, used_words=words(now.used), most_words=most)


def _unknown(reading: Reading, name: LimitName) -> int:
    """Iterations that did not say what they used of it."""
    if reading.fold is None:
        return 0
    return int(getattr(reading.fold.state, f"{name.value}_unknown", 0))


def at_most(reading: Reading) -> int:
    if reading.is_ended:
        return 0
    if reading.fold is None:
        return int(reading.session.config["limits"]["iterations"])
    return int(reading.fold.controller.at_most(reading.fold.state))


def _bound(reading: Reading, number: int) -> str:
    if reading.is_ended:
        return "It has ended: no more iterations can run."
    if reading.state is State.WAITING_HUMAN and not number:
        return "No iteration runs until somebody decides. What you decide can allow more."
    verb = "can run" if reading.state is not State.DRAFT else "can run once it is started"
    only_you = "No setting or agent reply can raise this; only you can."
    return f"At most {plural(number, 'more iteration')} {verb}. {only_you}"


def spent(reading: Reading) -> str:
    """What the session has cost: "$1.20", "at least $1.20" where some of it is not priced."""
    if reading.fold is None:
        return NOTHING_YET if not reading.iterations else money(None)
    state = reading.fold.state
    if not state.iterations:
        return NOTHING_YET
    if not state.money_unknown:
        return money(state.money)
    return f"at least {money(state.money)}" if state.money else money(None)


def cost_part(reading: Reading) -> CostPart:
    """One row for each agent: of a role, of the pool, of the verifiers."""
    by_agent: dict[tuple[Role, str], list[Noted]] = {who: [] for who in members(reading)}
    for one in reading.iterations:
        if one.number in reading.noted:
            by_agent.setdefault((Role(one.role), one.agent), []).append(reading.noted[one.number])
    rows = tuple(
        RoleCost(
            f"{role_word(role)} {name}".rstrip(),
            agent_name(reading.agent_of(role, name)),
            cost(used),
        )
        for (role, name), used in by_agent.items()
    )
    free = any(one.money is None for used in by_agent.values() for one in used)
    note = "Iterations that report no price are not in these sums." if free else ""
    return CostPart(rows=rows, note=note)


def members(reading: Reading) -> tuple[tuple[Role, str], ...]:
    """Everybody who plays a part in the configuration in force: (role, name of the worker or
    verifier, "" where one agent plays the role)."""
    names: dict[Role, tuple[str, ...]] = {}
    if Role.VERIFIER in reading.roles:
        names = {Role.VERIFIER: tuple(reading.verifiers)}
    if reading.pool:
        names[Role.WORKER] = reading.pool
    return tuple((role, name) for role in reading.roles for name in names.get(role, ("",)))


def cost(used: list[Noted]) -> str:
    """Money where it is reported, else tokens, else "not priced"."""
    dollars = [one.money for one in used if one.money is not None]
    tokens = [one.tokens for one in used if one.tokens is not None]
    if not used:
        return NOTHING_YET
    if dollars:
        return money(sum(dollars))
    return f"{quantity(sum(tokens))} tokens" if tokens else money(None)


def agent_name(frozen: dict[str, Any]) -> str:
    """The stored agent whose settings a session froze, else the program or CLI that it runs; ""
    for {}."""
    if not frozen:
        return ""
    for name, settings in Agent.objects.order_by("name").values_list("name", "settings"):
        if settings and settings.items() <= frozen.items():
            return str(name)
    adapter = str(frozen.get("adapter", "command"))
    return PurePath(frozen["argv"][0]).name if adapter == "command" else adapter
