"""Requirements, from the shell of the machine that holds the data."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from tracker import services
from tracker.commands import Answer, Options, PersonCommand, read_text
from tracker.records import requirement_record


class Command(PersonCommand):
    help = "Read and edit requirements."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        listing = verb("list", self.list, "List the requirements of a project.")
        listing.add_argument("project")
        show = verb("show", self.show, "Show one requirement.")
        show.add_argument("project")
        show.add_argument("key")
        edit = verb("edit", self.edit, "Save a new version, or a new requirement without KEY.")
        edit.add_argument("project")
        edit.add_argument("key", nargs="?")
        edit.add_argument("--file", default="-", help="file with the text; - is standard input")
        edit.add_argument("--document", default="", help="document that it stands in")
        edit.add_argument("--based-on", type=int, help="refuse if this is not the current version")
        remove = verb("remove", self.remove, "Take a requirement out of the spec.")
        remove.add_argument("project")
        remove.add_argument("key")

    def list(self, options: Options) -> Answer:
        found = services.requirements(services.get_project(options["project"]))
        lines = [f"{r.key} v{r.current.number}  {_first_line(r.current.text)}" for r in found]
        return Answer(
            [requirement_record(requirement) for requirement in found],
            "\n".join(lines) or "There are no requirements. Write one: req edit PROJECT.",
        )

    def show(self, options: Options) -> Answer:
        project = services.get_project(options["project"])
        requirement = services.get_requirement(project, options["key"])
        state = ", removed" if requirement.removed_at else ""
        head = f"{requirement.key}, version {requirement.current.number}{state}"
        return Answer(requirement_record(requirement), f"{head}\n\n{requirement.current.text}")

    def edit(self, options: Options) -> Answer:
        project = services.get_project(options["project"])
        version = services.edit_requirement(
            project,
            options["key"],
            text=read_text(options["file"]),
            by=self.by,
            document=options["document"],
            based_on=options["based_on"],
        )
        requirement = version.requirement
        return Answer(
            requirement_record(requirement),
            f"{requirement.key} is at version {version.number}.",
        )

    def remove(self, options: Options) -> Answer:
        project = services.get_project(options["project"])
        requirement = services.remove_requirement(project, options["key"], by=self.by)
        return Answer(requirement_record(requirement), f"{requirement.key} was removed.")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:100]
