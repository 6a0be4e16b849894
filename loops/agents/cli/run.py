"""Runs one call of a coding CLI: its files and environment, its process, how it ended."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from loops.agents.base import Call, Control, Reply
from loops.agents.cli import homes, outcome
from loops.agents.cli.adapter import Adapter, Launch, Wish
from loops.agents.cli.listen import Listener
from loops.agents.cli.logins import Logins
from loops.agents.command import (
    clean,
    environment,
    program_of,
    prompt_file,
    reply_of,
    sentence_of,
)
from loops.agents.confine import Confinement, confinement
from loops.agents.process import DELIVERY_SECONDS, run_tree
from loops.agents.program import Cause, Ending
from loops.engine.values import Fault
from tracker.errors import Invalid

KEY = "LOOPWATCH_AGENT_KEY"
"""Under which name a call holds the API key among its secrets; the CLI gets it under its own."""
LONGEST_DETAIL = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class CliAgent:
    """One coding CLI as it plays one role. See agent_settings.AgentConfig for what a person sets.

    mcp: argv of the tracker's MCP server. resume: a conversation to go on with; where that fails
    at once, the call is made anew without it. remember: told the conversation as soon as the CLI
    names it, for a worker that dies in the middle. mode: None = what confinement() says.
    """

    adapter: Adapter
    program: Path
    version: str = ""
    model: str = ""
    base_url: str = ""
    loads_instructions: bool = True
    context: int = 128_000
    extra: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    resume: str = ""
    remember: Callable[[str], None] = lambda conversation: None
    retry_seconds: float = 90.0
    logins: Logins | None = None
    mode: Confinement | None = None

    def run(self, call: Call, control: Control) -> Reply:
        """Faults as in the table of RULES 1, told apart by outcome.judged."""
        try:
            reply, listener = self._once(call, control, self.resume)
            is_forgotten = reply.fault in (Fault.CRASH, Fault.API_ERROR)
            if self.resume and is_forgotten and not listener.heard.has_begun:
                reply, _ = self._once(call, control, "")
            return reply
        except (OSError, ValueError, Invalid) as error:
            return Reply(fault=Fault.CANNOT_START, detail=clean(call, sentence_of(error)))

    def _once(self, call: Call, control: Control, resume: str) -> tuple[Reply, Listener]:
        listener = Listener(
            control,
            self.adapter.reader(),
            call.confidential,
            self.retry_seconds,
            remember=self.remember,
        )
        launch = self.adapter.launch(self._wish(call, resume))
        if not self.loads_instructions:
            call = self._without_orders(call)
        with prompt_file(call) as (descriptor, _path), self._home(call, launch, resume):
            argv = [str(self.program), *launch.argv]
            program = program_of(
                call, argv, _environment(call, launch), stdin=descriptor, mode=self.mode
            )
            ending = run_tree(program, listener)
        listener.close(DELIVERY_SECONDS)
        return self._reply(call, ending, listener), listener

    def _without_orders(self, call: Call) -> Call:
        """A judge's CLI must not obey what the judged one wrote into the repository: such files
        would run with the judge's token and key. Raises Invalid where nothing can hide them."""
        places = call.places
        inner = (places.workdir, *places.workdir.parents)
        folders = [one for one in inner if one.is_relative_to(places.clone)]
        found = [folder / name for folder in folders for name in self.adapter.obeyed]
        found = [path for path in found if path.exists()]
        if found and (self.mode or confinement()) is not Confinement.BUBBLEWRAP:
            raise Invalid(
                f"{self.adapter.name} obeys {found[0].relative_to(places.clone)} of the repository "
                "whatever it is told, so it cannot judge it without a sandbox: install bubblewrap, "
                "or choose another agent for this role."
            )
        return replace(call, places=replace(places, hidden=(*places.hidden, *found)))

    def _wish(self, call: Call, resume: str) -> Wish:
        return Wish(
            program=self.program,
            model=self.model,
            base_url=self.base_url.rstrip("/").removesuffix("/v1"),
            key=KEY if KEY in call.secrets else "",
            home=call.places.home,
            tmp=call.places.tmp,
            workdir=call.places.workdir,
            clone=call.places.clone,
            mcp=self.mcp,
            is_confined=(self.mode or confinement()) is Confinement.BUBBLEWRAP,
            loads_instructions=self.loads_instructions,
            resume=resume,
            context=self.context,
            extra=self.extra,
        )

    @contextlib.contextmanager
    def _home(self, call: Call, launch: Launch, resume: str) -> Iterator[None]:
        """A fresh conversation finds nothing that an earlier one left, such as instructions to
        itself. The adapter's files come last: they decide what an earlier call may have changed."""
        if not resume:
            homes.clear(call.places.home, self.adapter.state)
        with contextlib.ExitStack() as stack:
            if self.logins is not None:
                stack.enter_context(self.logins.lent(call.places.home))
            for name, text in {**_profile(call), **launch.files}.items():
                homes.write(call.places.home, name, text.encode())
            yield

    def _reply(self, call: Call, ending: Ending, listener: Listener) -> Reply:
        reply = replace(
            reply_of(call, ending),
            usages=listener.reader.usages(),
            conversation=listener.heard.conversation,
            version=self.version,
        )
        # Silent between two tries of its own (codex, after a long Retry-After): why is known.
        gave_up = listener.is_cut_off or (
            ending.cause is Cause.SILENCE and listener.heard.last_retry is not None
        )
        if ending.cause is not Cause.EXITED and not gave_up:
            return reply
        fault, told = outcome.judged(ending, listener.heard, is_cut_off=gave_up)
        return replace(
            reply,
            fault=fault,
            detail=clean(call, self._sentence(fault, told.text, ending, listener)),
            resets_in=outcome.reset(fault, told, time.time()),
        )

    def _sentence(self, fault: Fault | None, said: str, ending: Ending, listener: Listener) -> str:
        if fault is None:
            return ""
        name, said = self.adapter.name, " ".join(said.split())[:LONGEST_DETAIL]
        if listener.is_cut_off:
            return f"{name} kept trying for more than {self.retry_seconds:g} s: {said}"
        if said:
            return f"{name}: {said}"
        return f"{name} ended with exit code {ending.exit_code} and did not say that it was done."


def _profile(call: Call) -> dict[str, str]:
    """Codex runs commands in a login shell, whose system-wide profile sets PATH anew: without this
    no command finds `loopwatch`, nor what a person put on the agent's PATH."""
    line = f"export PATH={shlex.quote(environment(call)['PATH'])}\n"
    return {".bash_profile": line, ".zprofile": line}


def _environment(call: Call, launch: Launch) -> dict[str, str]:
    """The key under the CLI's own name for it, and under no other."""
    renamed = {new: call.secrets[old] for new, old in launch.secret_env.items()}
    kept = {name: value for name, value in call.secrets.items() if name != KEY}
    env = {**launch.env, **call.env}
    return environment(replace(call, env=env, secrets={**kept, **renamed}))
