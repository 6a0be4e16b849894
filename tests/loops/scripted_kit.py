"""A project, its clone and the agents' interface: what a scripted agent meets in an iteration.

`play` runs an agent's function against the interface's own dispatch, which is fast and needs no
second thread; `run` runs the program against the socket, as the product does."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from loops.agents.scripted.tools import Failed, Ran, Tools
from loops.engine.values import Role
from loops.interface.context import Collector, Context
from loops.interface.install import install
from loops.interface.server import Interface
from loops.interface.verbs import dispatch
from tracker import services
from tracker.models import Project
from tracker.scope import Scope

TOKEN = "t0ken"


@dataclass(frozen=True)
class Turn:
    """How one iteration went. signal: what counted, None if the agent gave none."""

    code: int
    out: str
    signal: str | None


@dataclass
class Desk:
    """One session's clone, with a home for each role."""

    project: Project
    folder: Path
    number: int = 0

    @property
    def clone(self) -> Path:
        return self.folder / "clone"

    def play(self, act, role: Role = Role.WORKER, options=None, prompt: str = "") -> Turn:
        self.number += 1
        tools = AtDesk(self, role, options, prompt)
        code = 0
        try:
            act(tools)
        except Failed as failure:
            tools.say(str(failure))
            code = 1
        signal = tools.collector.collected().signal
        return Turn(code, "\n".join(tools.said), signal and signal.value)

    def run(self, argv, role: Role = Role.WORKER) -> Turn:
        self.number += 1
        with Interface(self.folder / "s", TOKEN, self.context(role)) as interface:
            done = subprocess.run(
                argv,
                cwd=self.clone,
                env=self.environ(self.home(role)),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
            )
        signal = interface.collected().signal
        return Turn(done.returncode, done.stdout + done.stderr, signal and signal.value)

    def home(self, role) -> Path:
        home = self.folder / role.value
        home.mkdir(exist_ok=True)
        return home

    def environ(self, home):
        who = {f"GIT_{each}_NAME": "Agent" for each in ("AUTHOR", "COMMITTER")}
        mail = {f"GIT_{each}_EMAIL": "agent@localhost" for each in ("AUTHOR", "COMMITTER")}
        return {
            "PATH": f"{install(self.folder / 'bin').parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "RUN_MARK": "test",
            "LOOPWATCH_SOCKET": str(self.folder / "s"),
            "LOOPWATCH_TOKEN": TOKEN,
            **who,
            **mail,
        }

    def by(self, role):
        return services.agent(self.project, role.value, "S-1", f"S-1/{self.number}")

    def context(self, role):
        return Context(
            project=self.project,
            scope=Scope(),
            session_ref="S-1",
            reference=f"S-1/{self.number}",
            role=role,
            by=self.by(role),
            head=lambda: self.git("rev-parse", "HEAD").strip(),
            blob=lambda path: self.git("hash-object", path).strip() if self.has(path) else "",
        )

    def has(self, path) -> bool:
        return (self.clone / path).is_file()

    def git(self, *args) -> str:
        environ = self.environ(self.folder)
        done = subprocess.run(
            ["git", *args], cwd=self.clone, env=environ, capture_output=True, text=True, check=True
        )
        return done.stdout

    def states(self) -> dict[str, str]:
        return {bug.key: bug.state for bug in services.bugs(self.project)}


class AtDesk(Tools):
    """Tools whose `loopwatch` is the interface itself, without a process and a socket between."""

    def __init__(self, desk: Desk, role: Role, options, prompt: str) -> None:
        environ = desk.environ(desk.home(role))
        super().__init__(options, prompt, folder=desk.clone, environ=environ)
        self.context, self.collector, self.said = desk.context(role), Collector(), []

    def run(self, *argv, stdin="", environ=None):
        if argv[0] != "loopwatch":
            return super().run(*argv, stdin=stdin, environ=environ)
        answer = dispatch(self.context, self.collector, argv[1:], stdin)
        return Ran(answer.code, answer.out, answer.err)

    def say(self, text):
        self.said.append(text)


def desk(files: dict[str, str], *requirements: str, name: str = "tiny") -> Desk:
    """A repository with these files and a project with these requirements. The folder is short:
    a socket's path is."""
    folder = Path(tempfile.mkdtemp(prefix="lw"))
    ada = services.person("ada")
    project = services.create_project(name=name, repo_path=str(folder / "clone"), by=ada)
    for text in requirements:
        services.edit_requirement(project, None, text=text, by=ada, document="spec")
    made = Desk(project, folder)
    for path, text in files.items():
        (made.clone / path).parent.mkdir(parents=True, exist_ok=True)
        (made.clone / path).write_text(text)
    made.git("init", "-q", "-b", "main")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "Base")
    return made
