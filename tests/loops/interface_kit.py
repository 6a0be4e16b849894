"""A project with two requirements, and commands run for one role of session S-3."""

import json
from dataclasses import dataclass, replace

from loops.engine.values import Role
from loops.interface.context import Answer, Collector, Context
from loops.interface.verbs import dispatch
from tracker import services
from tracker.scope import Scope

SPEC = "# Errors\n\nAnswer 404 for unknown ids."
HEAD = "a" * 40
FILES = {"src/api.py": "b" * 40, "docs/a  b:c.md": "d" * 40}
FINDING = [
    *("bug", "file", "--cites", "R-1.3", "--quote", "Answer 404", "--contradiction", "answers 500"),
    *("--place", "src/api.py:12", "Unknown", "ids", "answer", "500"),
]
SPEC_BUG = ["bug", "file", "--spec", "--cites", "R-1", "--text", "why", "Unclear"]


@dataclass(frozen=True)
class Desk:
    """One role at its commands, without a socket."""

    context: Context
    collector: Collector

    def run(self, *argv: str, stdin: str = "") -> Answer:
        return dispatch(self.context, self.collector, argv, stdin)

    def ok(self, *argv: str, stdin: str = "") -> str:
        answer = self.run(*argv, stdin=stdin)
        assert (answer.code, answer.err) == (0, ""), answer
        return answer.out

    def data(self, *argv: str, stdin: str = ""):
        return json.loads(self.ok(*argv, "--json", stdin=stdin))

    def refused(self, *argv: str, stdin: str = "") -> str:
        answer = self.run(*argv, stdin=stdin)
        assert (answer.code, answer.out) == (2, ""), answer
        assert answer.err.endswith("\n")
        return answer.err

    def collected(self):
        return self.collector.collected()


def new_project(name="demo"):
    ada = services.person("ada")
    project = services.create_project(name=name, repo_path="/nowhere/demo", by=ada)
    services.edit_requirement(project, None, text=SPEC, by=ada, document="api.md")
    services.edit_requirement(project, None, text="Ship a changelog.", by=ada, document="api.md")
    return project


def context_of(project, role=Role.WORKER, reference="S-3/7") -> Context:
    session_ref = reference.split("/")[0]
    return Context(
        project=project,
        scope=Scope(),
        session_ref=session_ref,
        reference=reference,
        role=role,
        by=services.agent(project, role.value, session_ref, reference),
        head=lambda: HEAD,
        blob=lambda path: FILES.get(path, ""),
    )


def desk(project, role=Role.WORKER, **changes) -> Desk:
    return Desk(replace(context_of(project, role), **changes), Collector())
