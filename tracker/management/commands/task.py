"""Tasks, from the shell of the machine that holds the data."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from tracker import services
from tracker.commands import Answer, Options, PersonCommand, read_text
from tracker.engine.rules import PRIORITIES
from tracker.records import bug_record


class Command(PersonCommand):
    help = "File tasks."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        file = verb("file", self.file, "File a task; it blocks done until it is fixed.")
        file.add_argument("project")
        file.add_argument("title")
        file.add_argument("--file", help="file with the text; - is standard input")
        file.add_argument("--cites", default="", help="requirement it is about: R-2 or R-2.3")
        file.add_argument("--session", default="", help="session that alone sees it: S-3")
        file.add_argument("--priority", default="P2", choices=PRIORITIES)

    def file(self, options: Options) -> Answer:
        task = services.file_task(
            services.get_project(options["project"]),
            by=self.by,
            title=options["title"],
            text=read_text(options["file"]) if options["file"] else "",
            cites=options["cites"],
            session_ref=options["session"],
            priority=options["priority"],
        )
        return Answer(bug_record(task), f"{task.key} filed.")
