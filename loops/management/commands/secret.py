"""Credentials for agents; the value is read from standard input and never shown."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from loops import secrets
from loops.models import Secret
from tracker.commands import Answer, Options, PersonCommand, read_text


class Command(PersonCommand):
    help = "Keep credentials for agents, encrypted."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        keep = verb(
            "set", self.keep, "Keep or replace a secret; its value comes by standard input."
        )
        keep.add_argument("name", help="short name: a-z, 0-9 and -")
        verb("list", self.list, "List the names, with the agents that they are for.")
        remove = verb("remove", self.remove, "Forget a secret that no agent names.")
        remove.add_argument("name")

    def keep(self, options: Options) -> Answer:
        value = read_text("-").rstrip("\r\n")
        secrets.keep(options["name"], value, by=str(self.by.actor))
        return Answer({"name": options["name"]}, f"Secret {options['name']} is kept.")

    def list(self, options: Options) -> Answer:
        names = list(Secret.objects.order_by("name").values_list("name", flat=True))
        users = {name: secrets.users(name) for name in names}
        lines = [f"{name}  {', '.join(users[name]) or 'not used'}" for name in names]
        return Answer(names, "\n".join(lines) or "There are no secrets.")

    def remove(self, options: Options) -> Answer:
        secrets.remove(options["name"])
        return Answer({"name": options["name"]}, f"Secret {options['name']} is gone.")
