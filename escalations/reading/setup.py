"""What a person may change of a session with a decision: its workers, agents and limits."""

from __future__ import annotations

from escalations.forms import Changeable, LimitField
from loops.engine.values import LimitName, Role
from loops.models import Agent
from loops.pages.states import role_word
from loops.reading.budgets import agent_name, members
from loops.reading.reading import Reading

# limit -> its label, units of the limit in one of the label's, whether it may be none.
_LIMITS = {
    LimitName.ITERATIONS: ("Iterations", 1, False),
    LimitName.WALL_SECONDS: ("Time, in minutes", 60, False),
    LimitName.NO_PROGRESS: ("Iterations without a change", 1, False),
    LimitName.TOKENS: ("Tokens, in millions", 1_000_000, True),
    LimitName.MONEY: ("Money, in dollars", 1, True),
}


def workers(reading: Reading) -> tuple[tuple[str, str], ...]:
    """The pool for a select: who made the last attempt, who has worked, who has not."""
    last = reading.attempts[-1].by if reading.attempts else ""
    worked = {one.by for one in reading.attempts}

    def label(name: str) -> str:
        if name == last:
            return f"{name}, made the last attempt"
        return f"{name}, has worked" if name in worked else f"{name}, has not worked yet"

    return tuple((name, label(name)) for name in reading.pool)


def changeable(reading: Reading) -> Changeable:
    return Changeable(
        agents=tuple(
            (name or role.value, _label(reading, role, name)) for role, name in members(reading)
        ),
        stored=tuple(Agent.objects.order_by("name").values_list("name", flat=True)),
        limits=tuple(_limit(reading, name) for name in _LIMITS),
    )


def _label(reading: Reading, role: Role, name: str) -> str:
    who = f"{role_word(role)} {name}".rstrip()
    now = agent_name(reading.agent_of(role, name))
    return f"{who}, now {now}" if now else who


def _limit(reading: Reading, name: LimitName) -> LimitField:
    label, scale, may_be_none = _LIMITS[name]
    now = reading.session.config["limits"].get(name.value)
    return LimitField(name.value, label, None if now is None else now / scale, scale, may_be_none)
