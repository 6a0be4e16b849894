"""A session's configuration at the edge: what a person may write, checked and made complete."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from loops.agent_settings import ENDPOINTS, MONTH, AgentConfig, Seconds, Strict
from loops.engine.bounds import check_config
from loops.engine.contracts import Verifier
from loops.engine.values import ROLES, Config, DoneMode, Limits, Pattern, Policy, Role
from tracker.errors import Invalid

Count = Annotated[int, Field(gt=0, le=10_000)]  # a bound that nobody reaches bounds nothing
Budget = Annotated[int, Field(ge=0, le=1000)]
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
Name = Annotated[str, Field(pattern=f"^{NAME.pattern}$")]
RoleName = Literal["thinker", "worker", "verifier", "maker", "reviewer", "coach"]
Model = TypeVar("Model", bound=BaseModel)


class LimitsConfig(Strict):
    """tokens and money must be said: a positive number, or null for none."""

    iterations: Count = 40
    wall_seconds: Annotated[int, Field(gt=0, le=MONTH)] = 8 * 3600
    no_progress: Count = 6
    tokens: Annotated[int, Field(gt=0, le=10**12)] | None = None
    money: Annotated[float, Field(gt=0, le=10**6, allow_inf_nan=False)] | None = None


class MemberConfig(Strict):
    """One worker of the pool. A list holds them, for their order decides (RULES 2)."""

    name: Name
    agent: AgentConfig


class VerifierConfig(MemberConfig):
    """policy: reserve = asked only when the others leave an attempt open. mechanical: it measures,
    it does not judge: what it says cannot be talked away."""

    policy: Literal["required", "advising", "reserve"] = "required"
    mechanical: bool = False


class SessionConfig(Strict):
    """agents: by role, for roles that one agent plays; pool and verifiers: by name, in order.
    judges_itself: a person knows that a verifier runs the model that it judges."""

    pattern: Literal["single_thread", "thinker_worker_verifier", "maker_verifier"] = "single_thread"
    limits: LimitsConfig = LimitsConfig()
    gates: list[RoleName] = []
    review_every: Count = 3
    coach_every: Count = 8
    done_mode: Literal["agent", "script", "both"] = "agent"
    script: str = ""
    script_seconds: Seconds = 600
    agents: dict[RoleName, AgentConfig] = {}
    pool: list[MemberConfig] = []
    verifiers: list[VerifierConfig] = []
    retries: Budget = 2
    reassigns: Budget = 2
    replans: Budget = 2
    self_calls: Budget = 1
    reverifications: Budget = 1
    nested: bool = False
    attempts: Count = 4
    judges_itself: bool = False

    def engine(self) -> Config:
        """The part that the controller decides by."""
        return Config(
            pattern=Pattern(self.pattern),
            limits=Limits(**self.limits.model_dump()),
            gates=tuple(Role(role) for role in self.gates),
            review_every=self.review_every,
            coach_every=self.coach_every,
            has_coach="coach" in self.agents,
            done_mode=DoneMode(self.done_mode),
            pool=tuple(worker.name for worker in self.pool),
            retries=self.retries,
            reassigns=self.reassigns,
            replans=self.replans,
            self_calls=self.self_calls,
            is_nested=self.nested,
            attempts=self.attempts,
            verifiers=tuple(
                Verifier(name=one.name, policy=Policy(one.policy), is_mechanical=one.mechanical)
                for one in self.verifiers
            ),
            reverifications=self.reverifications,
        )

    def agent(self, role: Role, name: str = "") -> AgentConfig:
        """Who plays the role; name: which worker of the pool or which verifier.

        Raises Invalid when the configuration in force has no such agent (any more)."""
        if not name:
            found = self.agents.get(role.value)
        else:
            members = self.verifiers if role is Role.VERIFIER else self.pool
            found = next((one.agent for one in members if one.name == name), None)
        if found is None:
            who = f"{role.value} {name}".rstrip()
            raise Invalid(f"The configuration names no agent for the {who}.")
        return found


# Roles that one agent plays: those that must be named, and those that may be.
_ROLES = {
    Pattern.SINGLE_THREAD: (("worker", "reviewer"), ("coach",)),
    Pattern.FEEDBACK: (("thinker",), ()),
    Pattern.MAKER_VERIFIER: (("maker",), ()),
}
WORDS = {
    Pattern.SINGLE_THREAD: "single-threaded loop",
    Pattern.FEEDBACK: "Thinker-Worker-Verifier loop",
    Pattern.MAKER_VERIFIER: "Maker-Verifier loop",
}


def parse_agent(raw: dict[str, Any]) -> dict[str, Any]:
    """An agent's settings, checked and complete. Raises Invalid."""
    return _checked(AgentConfig, raw, "agent").model_dump(mode="json")


def parse(raw: dict[str, Any]) -> SessionConfig:
    """Raises Invalid with one sentence per fault: where it is and what is wrong there."""
    config = _checked(SessionConfig, raw, "configuration")
    _refuse_roles(config)
    if config.done_mode != "agent" and not config.script:
        raise Invalid(f"Done mode {config.done_mode} needs a script: say which command judges.")
    try:
        check_config(config.engine())
    except ValueError as fault:
        raise Invalid(str(fault)) from None
    return config


def refuse_unpriced(config: SessionConfig, *, priced: bool) -> None:
    """A money limit alone holds nothing where an agent is unpriced (RULES 1). Raises Invalid."""
    try:
        check_config(config.engine(), priced=priced)
    except ValueError as fault:
        raise Invalid(str(fault)) from None


def changed(
    raw: dict[str, Any], agents: Mapping[str, dict[str, Any]], limits: Mapping[str, float | None]
) -> dict[str, Any]:
    """The configuration with other agents (role, worker or verifier -> settings) and limits.

    Raises Invalid for a name that the configuration does not have, or when nothing changes."""
    new = deepcopy(raw)
    members = {one["name"]: one for one in (*new.get("pool", ()), *new.get("verifiers", ()))}
    for who, settings in agents.items():
        if who in members:
            members[who]["agent"] = settings
        elif who in new["agents"] or who == "coach":
            new["agents"][who] = settings
        else:
            known = ", ".join([*new["agents"], *members])
            raise Invalid(f"This session has no {who!r}; it has {known}.")
    for name in limits:
        if name not in LimitsConfig.model_fields:
            known = ", ".join(LimitsConfig.model_fields)
            raise Invalid(f"{name!r} is no limit; the limits are {known}.")
    new["limits"] = {**new["limits"], **limits}
    if new == raw:
        raise Invalid("Nothing would change: name another agent or another limit.")
    return new


def _refuse_roles(config: SessionConfig) -> None:
    pattern = Pattern(config.pattern)
    needed, allowed = _ROLES[pattern]
    for role in needed:
        if role not in config.agents:
            raise Invalid(f"The {WORDS[pattern]} needs a {role}: name an agent for it.")
    for role in config.agents:
        if role not in (*needed, *allowed):
            raise Invalid(f"The {WORDS[pattern]} has no one {role}; leave it out.")
    if pattern is Pattern.SINGLE_THREAD and (config.pool or config.verifiers):
        raise Invalid(f"The {WORDS[pattern]} has neither a pool of workers nor verifiers.")
    for role, agent in _everybody(config):
        if agent.adapter in ENDPOINTS and role not in ("thinker", "verifier"):
            raise Invalid(
                f"The {role} needs an agent with tools; a model's endpoint can only be a thinker "
                "or a verifier."
            )
    for role in config.gates:
        if role not in ROLES[pattern]:
            known = ", ".join(ROLES[pattern])
            raise Invalid(f"The {WORDS[pattern]} has no {role} to ask before; it has {known}.")
    _refuse_names(config)


def _everybody(config: SessionConfig) -> list[tuple[str, AgentConfig]]:
    """(role, its agent), the pool as workers."""
    pool = [("worker", one.agent) for one in config.pool]
    return [*config.agents.items(), *pool, *(("verifier", one.agent) for one in config.verifiers)]


def _refuse_names(config: SessionConfig) -> None:
    """Decisions and forms name an agent by its role, its place in the pool, or as a verifier."""
    taken: set[str] = set(config.agents)
    for member in (*config.pool, *config.verifiers):
        if member.name in taken:
            raise Invalid(f"Two agents of the session are called {member.name!r}; rename one.")
        taken.add(member.name)


def _checked(kind: type[Model], raw: dict[str, Any], what: str) -> Model:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        faults = (": ".join(filter(None, (_place(e), _plain(e["msg"])))) for e in error.errors())
        raise Invalid(f"The {what} cannot be used. " + "; ".join(faults) + ".") from None


def _place(fault: ErrorDetails) -> str:
    return ".".join(map(str, fault["loc"]))


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")
