"""Projects, from the shell of the machine that holds the data."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from loops.workspaces import look
from tracker import services
from tracker.commands import Answer, Options, PersonCommand
from tracker.errors import Invalid
from tracker.models import Project
from tracker.records import project_record

_PULL_REQUEST = (
    "asks for a merge of a session's branch, such as: gh pr create --head {branch} --base {base} "
    "--title {title} --fill"
)


class Command(PersonCommand):
    help = "Add, edit and list projects."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        add = verb("add", self.add, "Add a project: a git repository that loops work on.")
        add.add_argument("name", help="short name: a-z, 0-9, - and _")
        add.add_argument("repo", help="folder of the repository; it is never changed")
        add.add_argument("--path", default="", help="path in the repository it is about")
        add.add_argument("--prepare", default="", help="command that prepares a fresh clone")
        add.add_argument("--check", default="", help="command that checks the work")
        add.add_argument("--pull-request", default="", metavar="COMMAND", help=_PULL_REQUEST)
        add.add_argument("--leftover", action="append", default=[], help="files that checks leave")
        add.add_argument("--allow", action="append", default=[], help="path outside --path")
        add.add_argument(
            "--advisory-marks", action="store_true", help="reports say reviewed, not proved"
        )
        edit = verb("edit", self.edit, "Change a project's pull-request command.")
        edit.add_argument("name")
        edit.add_argument("--pull-request", required=True, metavar="COMMAND", help=_PULL_REQUEST)
        verb("list", self.list, "List the projects.")

    def add(self, options: Options) -> Answer:
        repo = Path(options["repo"]).expanduser().resolve()
        if not repo.is_dir():
            raise Invalid(f"There is no folder {repo}.")
        found = look(repo, options["path"])
        if found.refusals:
            raise Invalid(" ".join(found.refusals))
        project = services.create_project(
            name=options["name"],
            repo_path=str(repo),
            by=self.by,
            subpath=options["path"],
            extra_paths=options["allow"],
            prepare=options["prepare"],
            check_command=options["check"],
            pull_request=options["pull_request"],
            accepted_leftovers=options["leftover"],
            has_advisory_marks=options["advisory_marks"],
        )
        return Answer(project_record(project), f"Project {project} added: {project.repo_path}.")

    def edit(self, options: Options) -> Answer:
        project = services.set_pull_request(
            services.get_project(options["name"]), options["pull_request"], by=self.by
        )
        said = project.pull_request or "none"
        return Answer(project_record(project), f"Pull-request command of {project}: {said}.")

    def list(self, options: Options) -> Answer:
        projects = Project.objects.order_by("name")
        lines = [f"{p.name}  {p.repo_path}{'/' + p.subpath if p.subpath else ''}" for p in projects]
        return Answer(
            [project_record(project) for project in projects],
            "\n".join(lines) or "There are no projects. Add one: project add NAME REPO.",
        )
