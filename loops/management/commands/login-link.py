"""Prints a link that signs a person in, once. Whoever may read the data folder may run this."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from loops import address, sign_in
from tracker.commands import Answer, Options, PersonCommand, user_name
from tracker.errors import Conflict


class Command(PersonCommand):
    help = "Print a link that signs you in: it works once, for 10 minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", metavar="NAME", help="for another person, who has a role")
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(method=self.make)

    def make(self, options: Options) -> Answer:
        where = address.current(settings.DATA)
        if not where:
            raise Conflict("Loopwatch does not run on this data folder; start it: loopwatch up.")
        name = options["user"] or user_name()
        made = sign_in.link_for(name) if options["user"] else sign_in.link_for_owner(name)
        data: dict[str, Any] = {
            "url": where + made.path,
            "user": name,
            "expires_at": made.expires_at.isoformat(timespec="seconds"),
        }
        return Answer(data, f"{data['url']}\nIt signs {name} in, once, within 10 minutes.")
