"""From an agent's settings to what runs its call."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from django.conf import settings

from loops import secrets
from loops.agent_settings import CLIS, ENDPOINTS, AgentConfig
from loops.agents.base import Agent
from loops.agents.cli import find
from loops.agents.cli.known import ADAPTERS
from loops.agents.cli.logins import Logins
from loops.agents.cli.run import KEY, CliAgent
from loops.agents.command import CommandAgent, Prompt
from loops.agents.endpoint import Contract, EndpointAgent
from loops.agents.events import Usage
from loops.engine.values import Role
from loops.interface import Used, replies
from tracker.errors import Invalid

_READS_INSTRUCTIONS = (Role.WORKER, Role.MAKER)
_CONTRACTS = {
    Role.THINKER: (replies.plan_schema, ("plan", "submit", "-")),
    Role.VERIFIER: (replies.report_schema, ("verdict", "submit", "-")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Where an agent plays. command: of the agents' interface, as on the agent's PATH. resume: a
    conversation to go on with. remember: takes the conversation as soon as it is known. hand_in:
    what an agent without tools hands in, as a command and its standard input -> "" or the sentence
    of refusal."""

    role: Role
    command: Path
    resume: str
    remember: Callable[[str], None]
    hand_in: Callable[[Sequence[str], str], str]


def player(agent: AgentConfig, seat: Seat) -> Agent:
    """Raises Invalid where it cannot play: a CLI that is not there, a key that is gone."""
    if agent.adapter in CLIS:
        return _cli(agent, seat)
    if agent.adapter in ENDPOINTS:
        return _endpoint(agent, seat)
    return CommandAgent(
        argv=tuple(agent.argv),
        prompt=Prompt(agent.prompt),
        model=agent.model,
        usage={str(name): pattern for name, pattern in agent.usage.items()},
    )


def _cli(agent: AgentConfig, seat: Seat) -> CliAgent:
    program = find.find(agent.adapter, agent.program)
    if program is None:
        if agent.program:
            raise Invalid(f"There is no program {agent.program}; correct the agent's settings.")
        raise Invalid(
            f"{agent.adapter} is not on this host's PATH: install it, or name the program's path "
            "in the agent's settings."
        )
    by_role = seat.role in _READS_INSTRUCTIONS
    return CliAgent(
        adapter=ADAPTERS[agent.adapter],
        program=program,
        version=find.version(program),
        model=agent.model,
        base_url=agent.base_url,
        loads_instructions={"read": True, "ignore": False}.get(agent.instructions, by_role),
        context=agent.context_tokens,
        extra=tuple(agent.argv),
        mcp=(str(seat.command), "mcp"),
        resume=seat.resume,
        remember=seat.remember,
        retry_seconds=agent.retry_seconds,
        logins=logins(agent),
    )


def _endpoint(agent: AgentConfig, seat: Seat) -> EndpointAgent:
    schema, command = _CONTRACTS[seat.role]
    return EndpointAgent(
        kind=agent.adapter,
        model=agent.model,
        base_url=agent.base_url,
        key=secrets.reveal(agent.key) if agent.key else "",
        context_tokens=agent.context_tokens,
        retry_seconds=agent.retry_seconds,
        contract=Contract(schema=schema(), submit=lambda text: seat.hand_in(command, text)),
    )


def logins(agent: AgentConfig) -> Logins | None:
    """The sign-in files that the person consented to lend."""
    if not agent.logins:
        return None
    person = Path(os.path.expanduser("~"))
    return Logins(person=person, names=agent.logins, lock=Path(settings.DATA) / "logins.lock")


def secret_values(agent: AgentConfig) -> tuple[dict[str, str], tuple[str, ...]]:
    """(environment name -> value for the call that needs it, further values to withhold)."""
    named = {name: secrets.reveal(secret) for name, secret in agent.secret_env.items()}
    if agent.key and agent.adapter in CLIS:
        named[KEY] = secrets.reveal(agent.key)
    lent = logins(agent)
    withheld = lent.values() if lent else ()
    if agent.key and agent.adapter in ENDPOINTS:
        withheld = (*withheld, secrets.reveal(agent.key))
    return named, withheld


def used(usages: Sequence[Usage], agent: AgentConfig) -> tuple[Used, ...]:
    """For the ledger. A CLI may name its model otherwise than the price table: where it used one
    only, that is the model of the settings."""
    name = agent.model if len(usages) == 1 else ""
    return tuple(
        Used(
            name or one.model or agent.model,
            one.input,
            one.output,
            one.cached,
            reasoning=one.reasoning,
            reported=None if one.reported is None else Decimal(str(round(one.reported, 8))),
            by_subscription=agent.subscription,
        )
        for one in usages
    )


class Conversations:
    """Which conversation each player of a session was last in; outside what agents can write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def last(self, player: str) -> str:
        try:
            kept = json.loads((self._folder / f"{player}.json").read_text("utf-8"))
            return str(kept["conversation"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def keep(self, player: str, conversation: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._folder / f".{player}"
        draft.write_text(json.dumps({"conversation": conversation}), "utf-8")
        draft.replace(self._folder / f"{player}.json")
