"""A real `up` in a child process, for tests that kill parts of it."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from contextlib import closing
from pathlib import Path

from tests.conftest import TOP, eventually, plain_environment

MARK = "LOOPWATCH_TEST_MARK"
Env = dict[str, str] | None


class Up:
    """`loopwatch up` on a free port, its processes marked through their environment."""

    def __init__(
        self,
        data: Path,
        *,
        argv: tuple[str, ...] = (),
        words: tuple[str, ...] = (),
        env: Env = None,
    ) -> None:
        """argv: what to run instead of this checkout's manage.py; words: more options of `up`;
        env: instead of the plain environment."""
        self.data = data
        self.mark = uuid.uuid4().hex
        self.output = data.with_name(f"{data.name}.{self.mark}.out")
        argv = argv or (sys.executable, str(TOP / "manage.py"))
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*argv, "up", "--port", "0", "--data", str(data), *words],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env={**(plain_environment() if env is None else env), MARK: self.mark},
                start_new_session=True,
                # Whoever runs the tests under nohup ignores it, and so would all below.
                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
            )  # fmt: skip

    def __enter__(self) -> Up:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in [self.process.pid, *self.alive()]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()

    def said(self) -> str:
        return self.output.read_text("utf-8", "replace")

    def wait_ready(self) -> str:
        """The address it names when it is ready."""

        def look() -> re.Match[str] | None:
            assert self.process.poll() is None, self.said() + self.log()
            return re.search(r"ready: (http://\S+)/", self.said())

        return eventually(look, within=90, what=f"ready line of {self.data}")[1]

    def log(self) -> str:
        try:
            return (self.data / "logs" / "loopwatch.log").read_text("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def alive(self) -> set[int]:
        """Every living process that carries the mark, however deep, and the broker."""
        brokers = re.findall(r"broker started(?: again)? \(process (\d+)\)", self.said())
        return {
            int(process.name)
            for process in Path("/proc").iterdir()
            if process.name.isdigit() and self._ours(process, process.name in brokers)
        }

    def _ours(self, process: Path, may_be_broker: bool) -> bool:
        try:
            if may_be_broker:  # its title overwrites its environment
                line = (process / "cmdline").read_bytes()
                return b"valkey-server" in line or b"redis-server" in line
            return f"{MARK}={self.mark}".encode() in (process / "environ").read_bytes()
        except OSError:
            return False

    def pid(self, child: str) -> int:
        """The newest process number that `up` named for a child."""
        return int(re.findall(rf"{child} started(?: again)? \(process (\d+)\)", self.said())[-1])

    def members(self, leader: int) -> set[int]:
        """The processes of the session that `leader` leads, without itself."""
        found = set()
        for pid in self.alive() - {leader}:
            try:
                if os.getsid(pid) == leader:
                    found.add(pid)
            except ProcessLookupError:
                continue
        return found

    def wait_gone(self, within: float = 15) -> None:
        eventually(lambda: not self.alive(), within=within, what="the end of every process")


class Installation:
    """A data folder, the `up` that runs on it, and the person's other terminal."""

    def __init__(self, base: Path, *words: str, **settings: str) -> None:
        """words: options of `up`; settings: its environment variables."""
        self.base, self.data = base, base / "data"
        self.env = plain_environment(LOOPWATCH_DATA=str(self.data), **settings)
        self.up = Up(self.data, words=words, env=self.env)

    def command(self, *words, expect=0):
        ran = subprocess.run(
            [sys.executable, str(TOP / "manage.py"), *words], env=self.env,
            capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert ran.returncode == expect, ran.stderr + ran.stdout
        return json.loads(ran.stdout) if "--json" in words else ran.stdout

    def add_project(self, requirement: str = "app.txt is there.\n") -> None:
        """A project "p": a repository with app.txt, and R-1."""
        repo = self.base / "repo"
        repo.mkdir()
        (repo / "app.txt").write_text("hello\n")
        git = ["git", "-C", str(repo), "-c", "user.name=t", "-c", "user.email=t@localhost"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], check=True)
        self.command("project", "add", "p", str(repo))
        spec = self.base / "spec.md"
        spec.write_text(requirement)
        self.command("req", "edit", "p", "--file", str(spec))

    def start_session(self, config: dict) -> int:
        """Start a session of project "p"; its number."""
        file = self.base / "config.json"
        file.write_text(json.dumps(config))
        return self.command("session", "start", "p", "--config", str(file), "--json")["id"]

    def rows(self, sql: str) -> list[tuple]:
        with closing(sqlite3.connect(self.data / "db.sqlite3", timeout=20)) as link:
            return link.execute(sql).fetchall()


def health(address: str) -> tuple[int, dict]:
    try:
        with urllib.request.urlopen(f"{address}/health/", timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)
    except OSError:
        return 0, {}
