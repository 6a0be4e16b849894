"""Agents: named programs that can play a role."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from collections.abc import Callable

from loops import services
from loops.models import Agent
from tracker.commands import Answer, Options, PersonCommand
from tracker.errors import Invalid


class Command(PersonCommand):
    help = "Add and list agents: programs that play a role in a loop."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        add = verb("add", self.add, "Add or replace a command agent.")
        add.add_argument("name", help="short name: a-z, 0-9 and -")
        add.add_argument(
            "command",
            help="the command, quoted as one word; {workdir} {prompt_file} {session} {iteration} "
            "{role} are filled in",
        )
        add.add_argument("--prompt", choices=["stdin", "file"], default="stdin")
        add.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
        add.add_argument("--secret", action="append", default=[], metavar="NAME=SECRET")
        add.add_argument("--model", default="", help="its model's name in the price table")
        add.add_argument("--wall-seconds", type=float, default=1800)
        add.add_argument("--silence-seconds", type=float, default=600)
        verb("list", self.list, "List the agents.")

    def add(self, options: Options) -> Answer:
        agent = services.save_agent(
            options["name"],
            {
                "argv": _split(options["command"]),
                "prompt": options["prompt"],
                "model": options["model"],
                "env": _variables(options["env"], "NAME=VALUE"),
                "secret_env": _variables(options["secret"], "NAME=SECRET"),
                "wall_seconds": options["wall_seconds"],
                "silence_seconds": options["silence_seconds"],
            },
        )
        return Answer({"name": agent.name, **agent.settings}, f"Agent {agent} saved.")

    def list(self, options: Options) -> Answer:
        agents = Agent.objects.order_by("name")
        lines = [f"{a.name}  {shlex.join(a.settings['argv'])}" for a in agents]
        return Answer(
            [{"name": a.name, **a.settings} for a in agents],
            "\n".join(lines) or "There are no agents. Add one: agent add NAME COMMAND.",
        )


def _split(command: str) -> list[str]:
    if len(command) > 10_000:
        raise Invalid("The command is longer than 10,000 characters; put it into a script.")
    try:
        return shlex.split(command)
    except ValueError:
        raise Invalid("The command cannot be split: a quotation mark is not closed.") from None


def _variables(pairs: list[str], form: str) -> dict[str, str]:
    for pair in pairs:
        name, equals, _ = pair.partition("=")
        if not (name and equals):
            raise Invalid(f"{pair!r} does not read {form}.")
    return dict(pair.partition("=")[::2] for pair in pairs)
