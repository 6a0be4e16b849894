"""What one file per coding CLI says of it: how it is launched, and how its lines are read.

An adapter holds no state; a Reader is made for each call. Everything else (the process, limits,
faults, output, usage) is the same for all and stands in loops.agents.cli.run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from loops.agents.events import Event, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked of one call, apart from its prompt, which goes to standard input.

    program: absolute path of the CLI. model: "" = the CLI's own default. base_url: of the model's
    endpoint, "" = the CLI's own; without a path such as /v1. key: name of the environment variable
    of the call that holds the API key, "" = it signs in by files in its HOME. home, tmp, workdir,
    clone: as in agents.base.Places. mcp: argv of the tracker's MCP server; its environment is the
    call's (LOOPWATCH_SOCKET, LOOPWATCH_TOKEN). is_confined: our sandbox stands around the CLI, so
    its own may go. loads_instructions: the repository's instruction files (CLAUDE.md, AGENTS.md
    ...) are read. resume: the conversation to go on with, "" = a fresh one. retries: how often the
    CLI itself may repeat a failed request, where that can be set. context: tokens of the model's
    window, for CLIs that want it said. extra: arguments that a person added.
    """

    program: Path
    model: str = ""
    base_url: str = ""
    key: str = ""
    home: Path
    tmp: Path
    workdir: Path
    clone: Path
    mcp: tuple[str, ...] = ()
    is_confined: bool = True
    loads_instructions: bool = True
    resume: str = ""
    retries: int = 1
    context: int = 128_000
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """argv: arguments after the program. env: added to the fixed minimum. secret_env: names for a
    secret that the call holds already: {"ANTHROPIC_API_KEY": "the name in Wish.key"}. files: path
    relative to HOME -> text; written before the start, never in the clone."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    secret_env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


class Reader(Protocol):
    """Reads the JSON lines of one call, in order. Lenient: an unknown line is RAW, never an
    exception."""

    def read(self, line: dict[str, Any]) -> Iterable[Event]:
        """Events of one line; none for what says nothing new (a partial message repeated)."""

    def usages(self) -> tuple[Usage, ...]:
        """What the call used so far, one per model, each request counted once."""


class Adapter(Protocol):
    """name: of the adapter, and of its program on PATH. tested: the first and the last version that
    the tests ran against. logins: files under a person's HOME that hold a sign-in, which the
    person may consent to copy. instructions: files of a repository that the CLI reads by itself.
    state: folders and files of the CLI under HOME; a fresh conversation begins without them.
    obeyed: files and folders of a repository that the CLI obeys whatever its arguments say.
    own_sandbox: what its own sandbox was seen to do, "" = it has none."""

    name: str
    tested: tuple[str, str]
    logins: tuple[str, ...]
    instructions: tuple[str, ...]
    state: tuple[str, ...]
    obeyed: tuple[str, ...]
    own_sandbox: str

    def launch(self, wish: Wish) -> Launch: ...

    def reader(self) -> Reader: ...
