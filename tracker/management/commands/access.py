"""Who may see, steer and set up what."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from tracker import services
from tracker.commands import Answer, Options, PersonCommand
from tracker.engine.rights import Role
from tracker.models import Membership, Project
from tracker.services import members


class Command(PersonCommand):
    help = "Grant and revoke the roles viewer, operator and admin."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        grant = verb("grant", self.grant, "Give a person a role in one project or in all.")
        grant.add_argument("name", help="the person; made known if new")
        grant.add_argument("role", choices=[role.value for role in Role])
        grant.add_argument("--project", help="only in this project")
        revoke = verb("revoke", self.revoke, "Take a person's role away.")
        revoke.add_argument("name")
        revoke.add_argument("--project", help="the role in this project")
        verb("list", self.list, "List who has which role.")

    def grant(self, options: Options) -> Answer:
        made = members.grant(options["name"], options["role"], _project(options))
        return Answer(_data(made), f"{made}.")

    def revoke(self, options: Options) -> Answer:
        members.revoke(options["name"], _project(options))
        return Answer({"name": options["name"]}, f"{options['name']} has that role no more.")

    def list(self, options: Options) -> Answer:
        rows = Membership.objects.select_related("user", "project")
        found = list(rows.order_by("user__username", "project__name"))
        lines = "\n".join(map(str, found)) or "Nobody has a role."
        return Answer([_data(row) for row in found], lines)


def _project(options: Options) -> Project | None:
    name = options["project"]
    return services.get_project(name) if name else None


def _data(row: Membership) -> dict[str, str | None]:
    return {
        "name": row.user.get_username(),
        "role": row.role,
        "project": row.project.name if row.project else None,
    }
