"""A session's configuration at the edge: what a person may write, checked and made complete."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from loops.engine.values import Config, DoneMode, Limits, Pattern
from tracker.errors import Invalid

MONTH = 31 * 24 * 3600
Seconds = Annotated[float, Field(gt=0, le=MONTH, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0, le=10_000)]  # a bound that nobody reaches bounds nothing
Model = TypeVar("Model", bound=BaseModel)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = ("PATH", "RUN_MARK")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AgentConfig(_Strict):
    """argv: a template ({workdir}, {prompt_file}, {session}, {iteration}, {role}). prompt: how it
    is handed over. secret_env: environment name -> name of a stored secret."""

    adapter: Literal["command"] = "command"
    argv: list[str] = Field(min_length=1)
    prompt: Literal["stdin", "file"] = "stdin"
    env: dict[str, str] = {}
    secret_env: dict[str, str] = {}
    wall_seconds: Seconds = 1800
    silence_seconds: Seconds = 600

    @field_validator("env", "secret_env")
    @classmethod
    def _is_free(cls, variables: dict[str, str]) -> dict[str, str]:
        for name, value in variables.items():
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name!r} is no name of an environment variable")
            if name in _OURS or name.startswith("LOOPWATCH_"):
                raise ValueError(f"{name} is set by Loopwatch; choose another name")
            if "\0" in value:
                raise ValueError(f"the value of {name} holds a NUL character")
        return variables


class LimitsConfig(_Strict):
    """tokens and money must be said: a positive number, or null for none."""

    iterations: Count = 40
    wall_seconds: Annotated[int, Field(gt=0, le=MONTH)] = 8 * 3600
    no_progress: Count = 6
    tokens: Annotated[int, Field(gt=0, le=10**12)] | None = None
    money: Annotated[float, Field(gt=0, le=10**6, allow_inf_nan=False)] | None = None


class SessionConfig(_Strict):
    pattern: Literal["single_thread"] = "single_thread"
    limits: LimitsConfig = LimitsConfig()
    review_every: Count = 3
    coach_every: Count = 8
    done_mode: Literal["agent", "script", "both"] = "agent"
    script: str = ""
    script_seconds: Seconds = 600
    agents: dict[Literal["worker", "reviewer", "coach"], AgentConfig]

    def engine(self) -> Config:
        """The part that the controller decides by."""
        return Config(
            pattern=Pattern(self.pattern),
            limits=Limits(**self.limits.model_dump()),
            review_every=self.review_every,
            coach_every=self.coach_every,
            has_coach="coach" in self.agents,
            done_mode=DoneMode(self.done_mode),
        )


NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def parse_agent(raw: dict[str, Any]) -> dict[str, Any]:
    """An agent's settings, checked and complete. Raises Invalid."""
    return _checked(AgentConfig, raw, "agent").model_dump(mode="json")


def parse(raw: dict[str, Any]) -> SessionConfig:
    """Raises Invalid with one sentence per fault: where it is and what is wrong there."""
    config = _checked(SessionConfig, raw, "configuration")
    for role in ("worker", "reviewer"):
        if role not in config.agents:
            raise Invalid(f"The single-threaded loop needs a {role}: name an agent for it.")
    if config.done_mode != "agent" and not config.script:
        raise Invalid(f"Done mode {config.done_mode} needs a script: say which command judges.")
    if config.limits.money is not None and config.limits.tokens is None:
        raise Invalid(
            "These agents are not priced, so a money limit alone cannot hold: add a token limit."
        )
    return config


def _checked(kind: type[Model], raw: dict[str, Any], what: str) -> Model:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, e['loc']))}: {_plain(e['msg'])}" for e in error.errors())
        raise Invalid(f"The {what} cannot be used. " + "; ".join(faults) + ".") from None


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")
