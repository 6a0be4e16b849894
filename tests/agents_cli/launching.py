"""Runs a real CLI by its adapter against the stub: how recordings are made, and how tests see what
a launch does. Without the product's process tree, limits and sandbox; a mark finds what is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from loops.agents.cli.adapter import Adapter, Wish
from loops.agents.events import Event
from tests.agents_cli import clis

KEY = "local-test-key"
PROMPT = "Create a file named hello.txt containing the words hello from stub. Then stop."


@dataclass(frozen=True)
class Ran:
    """lines: of standard output. seconds: from start to end."""

    exit_code: int
    lines: list[str]
    errors: str
    seconds: float

    def events(self, adapter: Adapter) -> list[Event]:
        reader = adapter.reader()
        return [event for line in self.lines for event in read(reader, line)]


def read(reader, line):
    """As the product reads: what is no JSON object is nobody's event."""
    with contextlib.suppress(ValueError):
        value = json.loads(line)
        if isinstance(value, dict):
            yield from reader.read(value)


class Bench:
    """A workspace, a HOME and a TMPDIR of its own below `folder`. The clone holds one commit."""

    def __init__(self, folder: Path) -> None:
        self.clone, self.home, self.tmp = (folder / name for name in ("clone", "home", "tmp"))
        for place in (self.clone, self.home, self.tmp):
            place.mkdir(parents=True)
        self.mark = uuid.uuid4().hex
        self.git("init", "-q", "-b", "main")
        (self.clone / "README.md").write_text("A project.\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "Begin")

    def git(self, *arguments: str) -> str:
        who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
        command = ["git", *who, *arguments]
        done = subprocess.run(command, cwd=self.clone, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def run(
        self,
        adapter: Adapter,
        seconds: float = 60,
        until: Callable[[str], bool] | None = None,
        env: dict[str, str] | None = None,
        **wish,
    ) -> Ran:
        """until: SIGTERM to the CLI, once a line of its output satisfies it."""
        exe = clis.find(adapter.name)
        assert exe, f"{adapter.name} is not installed"
        places = {"home": self.home, "tmp": self.tmp, "clone": self.clone}
        wished = Wish(program=exe, **{"key": "STUB_KEY", "workdir": self.clone, **places, **wish})
        launch = adapter.launch(wished)
        for name, text in launch.files.items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(text)
        whole = {**self._environment(), **launch.env, **(env or {})}
        whole |= dict.fromkeys(launch.secret_env, KEY)
        assert not any(KEY in part for part in launch.argv), "the key is in argv"
        return self._watch([str(exe), *launch.argv], whole, wished.workdir, seconds, until)

    def _environment(self) -> dict[str, str]:
        """As agents.command.environment()."""
        return {
            "PATH": clis.path(),
            "HOME": str(self.home),
            "TMPDIR": str(self.tmp),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "RUN_MARK": self.mark,
            "LOOPWATCH_SOCKET": str(self.tmp / "socket"),
            "LOOPWATCH_TOKEN": "token-of-the-iteration",
            "GIT_AUTHOR_NAME": "Agent",
            "GIT_AUTHOR_EMAIL": "agent@example.org",
            "GIT_COMMITTER_NAME": "Agent",
            "GIT_COMMITTER_EMAIL": "agent@example.org",
        }

    def _watch(self, argv, env, cwd, seconds, until) -> Ran:
        begun = time.monotonic()
        out, err = self.tmp / "stdout.log", self.tmp / "stderr.log"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            with contextlib.suppress(OSError), process.stdin as stdin:
                stdin.write(PROMPT.encode())
            is_asked = False
            try:
                while process.poll() is None and time.monotonic() - begun < seconds:
                    time.sleep(0.05)
                    if until and not is_asked and any(map(until, _lines(out))):
                        is_asked = True
                        time.sleep(1)  # what was announced begins
                        process.terminate()
            finally:
                self._kill()
                code = process.wait(10)
        spent = time.monotonic() - begun
        return Ran(code, _lines(out), err.read_text("utf-8", "replace"), spent)

    def _kill(self) -> None:
        until = time.monotonic() + 10
        while (left := list(self.left())) and time.monotonic() < until:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def left(self) -> Iterator[int]:
        """Living processes that carry the mark, in whatever session."""
        wanted = f"RUN_MARK={self.mark}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").splitlines()
