"""What can play a role, and its settings: a command, a coding CLI, or a model's endpoint."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from loops.agents import tally

MONTH = 31 * 24 * 3600
Seconds = Annotated[float, Field(gt=0, le=MONTH, allow_inf_nan=False)]
AdapterName = Literal[
    "command", "claude", "codex", "gemini", "opencode", "qwen", "pi", "openai", "anthropic"
]
CLIS = ("claude", "codex", "gemini", "opencode", "qwen", "pi")
ENDPOINTS = ("openai", "anthropic")
_URL = re.compile(r"https?://[^\s/]+\S*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = ("PATH", "RUN_MARK", "HOME", "TMPDIR")


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AgentConfig(Strict):
    """What plays a role: any command, a coding CLI, or a model behind an endpoint.

    argv: of a command, its template ({workdir}, {prompt_file}, {session}, {iteration}, {role}); of
    a CLI, arguments that a person adds. program: of a CLI, where it lies; "" = found on PATH.
    prompt: how a command gets it. secret_env: environment name -> name of a stored secret. model:
    as the agent and the price table name it, "" where none is known. base_url: of the model's
    endpoint, "" = the vendor's. key: name of the stored secret that holds the API key, "" = none,
    or signed in by `logins`: files under the person's HOME which that person consented to copy.
    instructions: whether a CLI reads the repository's own (CLAUDE.md ...); by_role: workers and
    makers do. subscription: paid by the month, so never priced. context_tokens: of the model's
    window. retry_seconds: how long the agent may spend on its own retries. memory_mb: of all its
    processes together. usage: of a command, patterns that find its tokens
    in its output (agents.tally).
    """

    adapter: AdapterName = "command"
    model: Annotated[str, Field(max_length=100)] = ""
    argv: list[str] = []
    program: Annotated[str, Field(max_length=1000)] = ""
    prompt: Literal["stdin", "file"] = "stdin"
    base_url: Annotated[str, Field(max_length=500)] = ""
    key: Annotated[str, Field(max_length=60)] = ""
    logins: Annotated[list[str], Field(max_length=8)] = []
    instructions: Literal["by_role", "read", "ignore"] = "by_role"
    subscription: bool = False
    context_tokens: Annotated[int, Field(ge=1000, le=100_000_000)] = 128_000
    usage: dict[Literal["input", "cached", "output"], Annotated[str, Field(max_length=300)]] = {}
    env: dict[str, str] = {}
    secret_env: dict[str, str] = {}
    wall_seconds: Seconds = 1800
    silence_seconds: Seconds = 600
    retry_seconds: Seconds = 90
    memory_mb: Annotated[int, Field(ge=64, le=1_000_000)] | None = None

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

    @field_validator("usage")
    @classmethod
    def _finds(cls, patterns: dict[str, str]) -> dict[str, str]:
        for name, pattern in patterns.items():
            if wrong := tally.fault(pattern):
                raise ValueError(f"the pattern for {name} tokens: {wrong}")
        return patterns

    @model_validator(mode="after")
    def _is_whole(self) -> AgentConfig:
        if self.adapter == "command" and not self.argv:
            raise ValueError("a command agent needs a command: name a program")
        if self.adapter in ENDPOINTS and not self.model:
            raise ValueError("a model endpoint needs a model: write its name")
        if self.adapter == "openai" and not self.base_url:
            raise ValueError("an OpenAI-compatible endpoint needs its address, such as .../v1")
        if self.base_url and not _URL.fullmatch(self.base_url):
            raise ValueError("the address of the endpoint starts with http:// or https://")
        return self
