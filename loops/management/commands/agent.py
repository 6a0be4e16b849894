"""Agents: commands, coding CLIs and models' endpoints that can play a role."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from loops import agent_services, programs, services, trying
from loops.adapters import KINDS, outside
from loops.models import Agent
from loops.trials import Trial
from tracker.commands import Answer, Options, PersonCommand
from tracker.errors import Invalid
from tracker.pages.words import money, plural


class Command(PersonCommand):
    help = "Add, try and list agents: what plays the roles in a loop."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        _add_arguments(verb("add", self.add, "Add or replace an agent."))
        verb("list", self.list, "List the agents.")
        verb("look", self.look, "Look for coding CLIs on this machine and ask their versions.")
        verb("try", self.attempt, "One tiny call, and what came of it.").add_argument("name")
        remove = verb("remove", self.remove, "Remove an agent; sessions keep their copy.")
        remove.add_argument("name")
        propose = verb("propose", self.propose, "Propose agents for roles in new sessions.")
        propose.add_argument("agents", nargs="+", metavar="ROLE=NAME", help="ROLE= for none")

    def add(self, options: Options) -> Answer:
        agent = services.save_agent(options["name"], _settings(options))
        return Answer({"name": agent.name, **agent.settings}, f"Agent {agent} saved.")

    def list(self, options: Options) -> Answer:
        agents = Agent.objects.order_by("name")
        lines = [f"{agent.name}  {_what(agent)}" for agent in agents]
        return Answer(
            [{"name": a.name, **a.settings} for a in agents],
            "\n".join(lines) or "There are no agents. Add one: agent add NAME COMMAND.",
        )

    def look(self, options: Options) -> Answer:
        found = [one for one in agent_services.look_again() if one.path]
        data = [{"name": one.name, "path": one.path, "version": one.version} for one in found]
        return Answer(data, "\n".join(map(_found, found)) or "No coding CLI is on PATH.")

    def attempt(self, options: Options) -> Answer:
        done = trying.try_now(agent_services.get_agent(options["name"]))
        code = 0 if done.state == "answered" else 1
        return Answer(done.to_json(), "\n".join([*done.lines, _ended(done)]), code)

    def remove(self, options: Options) -> Answer:
        agent_services.remove(options["name"])
        return Answer({"name": options["name"]}, f"Agent {options['name']} is gone.")

    def propose(self, options: Options) -> Answer:
        agent_services.propose(_variables(options["agents"], "ROLE=NAME"))
        kept = agent_services.proposals()
        return Answer(kept, "\n".join(f"{role}  {name}" for role, name in kept.items()))


def _add_arguments(add: ArgumentParser) -> None:
    add.add_argument("name", help="short name: a-z, 0-9 and -")
    add.add_argument(
        "command",
        nargs="?",
        default="",
        help="the command, quoted as one word; {workdir} {prompt_file} {session} {iteration} "
        "{role} are filled in. Of a CLI: further arguments",
    )
    add.add_argument("--adapter", choices=[*KINDS], default="command")
    add.add_argument("--prompt", choices=["stdin", "file"], default="stdin")
    add.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    add.add_argument("--secret", action="append", default=[], metavar="NAME=SECRET")
    add.add_argument("--model", default="", help="its model's name in the price table")
    add.add_argument("--base-url", default="", help="address of the model's endpoint")
    add.add_argument("--key", default="", metavar="SECRET", help="the stored API key")
    add.add_argument(
        "--lend-login",
        action="store_true",
        help="copy the sign-in files of your HOME to it while it runs",
    )
    add.add_argument("--program", default="", help="where the CLI lies; default: on PATH")
    add.add_argument("--instructions", choices=["by_role", "read", "ignore"], default="by_role")
    add.add_argument("--subscription", action="store_true", help="not paid by use: never priced")
    add.add_argument(
        "--usage",
        action="append",
        default=[],
        metavar="input|cached|output=PATTERN",
        help="of a command: a regular expression with one group, or a JSON path such as "
        "$.usage.input_tokens, that finds its tokens in its output",
    )
    add.add_argument("--wall-seconds", type=float, default=1800)
    add.add_argument("--silence-seconds", type=float, default=600)


def _settings(options: Options) -> dict[str, Any]:
    kind = KINDS[options["adapter"]]
    same = ("adapter", "prompt", "model", "base_url", "key", "program", "instructions")
    return {
        **{name: options[name] for name in (*same, "subscription")},
        "argv": _split(options["command"]),
        "logins": list(kind.logins) if options["lend_login"] else [],
        "usage": _variables(options["usage"], "input|cached|output=PATTERN"),
        "env": _variables(options["env"], "NAME=VALUE"),
        "secret_env": _variables(options["secret"], "NAME=SECRET"),
        "wall_seconds": options["wall_seconds"],
        "silence_seconds": options["silence_seconds"],
    }


def _what(agent: Agent) -> str:
    if agent.adapter == "command":
        return shlex.join(agent.settings["argv"])
    return " ".join(filter(None, (agent.adapter, agent.settings.get("model", ""))))


def _found(one: programs.Found) -> str:
    kind = KINDS.get(one.name)
    note = outside(one.version, kind.tested) if kind else ""
    note = f", {note}: not tested" if note else ""
    return f"{one.name}  {one.version or 'version not known'}{note}  {one.path}"


def _ended(done: Trial) -> str:
    if done.state != "answered":
        return done.sentence or f"It ended with {done.fault.replace('_', ' ')}."
    used = f", {plural(done.tokens, 'token')}, {money(done.money)}" if done.tokens else ""
    return f"It answered in {done.seconds:g} s{used}."


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
