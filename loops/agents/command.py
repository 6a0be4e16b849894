"""The command agent: any program, its prompt by stdin or file, judged by how it ended."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from loops.agents.base import Call, Control, Reply
from loops.agents.confine import Confinement, confinement
from loops.agents.output import plain
from loops.agents.process import run_tree
from loops.agents.program import TAIL, Cause, Ending, Program
from loops.agents.redact import SHORTEST_SECRET, redact
from loops.agents.tally import Tally
from loops.engine.values import Fault
from tracker.errors import Invalid

_PLACEHOLDER = re.compile(r"\{(workdir|prompt_file|session|iteration|role)\}")
_LIMITS = {
    Cause.WALL_CLOCK: Fault.WALL_CLOCK,
    Cause.SILENCE: Fault.SILENCE,
    Cause.MEMORY: Fault.CRASH,
}


class Prompt(StrEnum):
    STDIN = "stdin"
    FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAgent:
    """Runs `argv` once per call, in the clone, in the sandbox.

    argv: a template; {workdir} {prompt_file} {session} {iteration} {role} are filled in, other
    braces stay. prompt: "stdin", or "file" (then argv names {prompt_file} and stdin is empty).
    mode: None = what confinement() says. network=False: no network at all. usage: patterns that
    find the tokens of `model` in its output (tally.py).
    """

    argv: tuple[str, ...]
    prompt: Prompt = Prompt.STDIN
    mode: Confinement | None = None
    network: bool = True
    model: str = ""
    usage: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise Invalid("The agent's command is empty; name a program.")
        if any("{prompt_file}" in part for part in self.argv) != (self.prompt == Prompt.FILE):
            raise Invalid(
                'The agent\'s command must name {prompt_file} if its prompt is "file", '
                "and only then."
            )

    def run(self, call: Call, control: Control) -> Reply:
        """Faults: CANNOT_START, WALL_CLOCK, SILENCE, CRASH (another exit code than 0, or a signal
        that is not ours), WORKER_LOST (control.must_stop(); the runner knows why)."""
        tally = Tally(control, self.usage, self.model) if self.usage else None
        try:
            with prompt_file(call) as (descriptor, path):
                reply = self._run(call, tally or control, descriptor, path)
            return replace(reply, usages=tally.usages()) if tally else reply
        except (OSError, ValueError, Invalid) as error:
            return Reply(fault=Fault.CANNOT_START, detail=clean(call, sentence_of(error)))

    def _run(self, call: Call, control: Control, descriptor: int, path: Path) -> Reply:
        argv = self._command(call, path)
        env = environment(call)
        ending = run_tree(
            program_of(
                call,
                [str(_find(argv[0], call.places.workdir, env["PATH"])), *argv[1:]],
                env,
                stdin=descriptor if self.prompt == Prompt.STDIN else subprocess.DEVNULL,
                mode=self.mode,
                network=self.network,
            ),
            control,
        )
        return reply_of(call, ending)

    def _command(self, call: Call, prompt_file: Path) -> list[str]:
        values = {
            "workdir": str(call.places.workdir),
            "prompt_file": str(prompt_file),
            "session": str(call.session),
            "iteration": str(call.iteration),
            "role": call.role.value,
        }
        argv = [_PLACEHOLDER.sub(lambda name: values[name[1]], part) for part in self.argv]
        for name, value in {**call.secrets, "LOOPWATCH_TOKEN": call.token}.items():
            if len(value) >= SHORTEST_SECRET and any(value in part for part in argv):
                raise Invalid(
                    f"The agent's command holds the value of {name}, which every process list "
                    "would show; let the program read it from its environment."
                )
        return argv


def environment(call: Call) -> dict[str, str]:
    """The whole environment of an agent: nothing of the worker's but PATH."""
    home, places = call.places.home, call.places
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(places.tmp),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        **call.env,
        **call.secrets,
        # Last: the tree is found by its mark, whatever the configuration says.
        "RUN_MARK": call.mark,
        "LOOPWATCH_SOCKET": str(call.socket),
        "LOOPWATCH_TOKEN": call.token,
    }


def program_of(
    call: Call,
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: int,
    mode: Confinement | None = None,
    network: bool = True,
) -> Program:
    """What an agent's process is to the tree that runs it. argv[0]: an absolute path."""
    places = call.places
    return Program(
        argv=argv,
        env=env,
        cwd=places.workdir,
        mark=call.mark,
        wall_seconds=call.wall_seconds,
        silence_seconds=call.silence_seconds,
        memory_mb=call.memory_mb,
        mode=mode or confinement(),
        stdin=stdin,
        writable=[places.clone, places.home, places.tmp],
        readable=[*places.readable, places.socket_dir],
        hidden=places.hidden,
        tmp=places.tmp,
        network=network,
    )


@contextlib.contextmanager
def prompt_file(call: Call) -> Iterator[tuple[int, Path]]:
    """The prompt as an open file and by its path, under a name that no earlier call could plant."""
    for folder in (call.places.home, call.places.tmp):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=call.places.tmp, prefix="prompt-", suffix=".md")
    try:
        with open(name, "wb") as file:
            file.write(call.prompt.encode("utf-8", "replace"))
        yield descriptor, Path(name)
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):  # the agent may have moved it
            os.unlink(name)


def _find(name: str, workdir: Path, path: str) -> Path:
    """The program as the agent would find it; a relative name with a slash starts at workdir."""
    found = shutil.which(str(workdir / name) if os.sep in name else name, path=path)
    if found is None:
        raise Invalid(
            f'The agent\'s program "{name}" is not there or not executable; '
            "install it or correct the command."
        )
    return Path(os.path.abspath(found))


def reply_of(call: Call, ending: Ending) -> Reply:
    """As the end of its process alone tells it."""
    fault = _fault(ending)
    detail = _detail(call, ending) if fault else ""
    if not ending.gone:
        detail = f"{detail} Some of its processes could not be killed.".strip()
    return Reply(
        fault=fault,
        detail=clean(call, detail),
        exit_code=ending.exit_code,
        survivors=tuple(clean(call, line) for line in ending.survivors),
    )


def _fault(ending: Ending) -> Fault | None:
    match ending.cause:
        case Cause.EXITED:
            return Fault.CRASH if ending.exit_code else None
        case Cause.LOST:
            return Fault.CRASH
        case Cause.STOPPED:
            return Fault.WORKER_LOST
        case Cause.CANNOT_START:
            return Fault.CANNOT_START
    return _LIMITS[ending.cause]


def _detail(call: Call, ending: Ending) -> str:
    last = _last_line(ending.tail)
    match ending.cause:
        case Cause.WALL_CLOCK:
            return f"The agent ran longer than {call.wall_seconds:g} s and was stopped."
        case Cause.SILENCE:
            return f"The agent printed nothing for {call.silence_seconds:g} s and was stopped."
        case Cause.MEMORY:
            return (
                f"The agent's processes held more than {call.memory_mb:,} MB of memory and were "
                "stopped."
            )
        case Cause.STOPPED:
            return "The agent was stopped: the right to run was gone."
        case Cause.CANNOT_START:
            return f"The agent could not be started: {ending.detail or last or 'no reason given'}."
        case Cause.LOST:
            return "Something killed the process that held the agent's processes together."
    code = ending.exit_code or 0
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"The agent {how}{': ' + last if last else '.'}"


def _last_line(tail: bytes) -> str:
    """Nothing if the line began before the tail did: half a secret could not be recognised."""
    lines = plain(tail.decode("utf-8", "replace")).replace("\0", "").strip().split("\n")
    return "" if len(lines) == 1 and len(tail) == TAIL else lines[-1]


def clean(call: Call, text: str) -> str:
    return redact(text, call.confidential)


def sentence_of(error: Exception) -> str:
    if isinstance(error, Invalid):
        return str(error)
    if isinstance(error, OSError):
        place = f" ({error.filename})" if error.filename else ""
        return f"The agent could not be started: {error.strerror or error}{place}."
    return f"The agent could not be started: {error}."
