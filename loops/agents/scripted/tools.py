"""What a scripted agent works with: the agents' command, git, files, and a memory of its own."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class Failed(Exception):
    """Something that the agent relies on did not work; the message is what it prints."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


class Tools:
    """One turn of one agent.

    options: the parsed command line (scripted.__main__). prompt: what came on standard input.
    folder: where it works. home: outlives the iteration (own for each session and role).
    environ: what its commands get.
    """

    def __init__(
        self,
        options: argparse.Namespace | None = None,
        prompt: str = "",
        *,
        folder: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.options = options or argparse.Namespace()
        self.prompt = prompt
        self.folder = folder or Path.cwd()
        self.environ = dict(os.environ if environ is None else environ)
        self.home = Path(self.environ.get("HOME", str(self.folder)))

    # --- commands -------------------------------------------------------------------------------

    def run(self, *argv: str, stdin: str = "", environ: Mapping[str, str] | None = None) -> Ran:
        """Run a command in the folder; a program that is missing ends with code 127."""
        try:
            done = subprocess.run(
                argv,
                cwd=self.folder,
                input=stdin.encode(),
                env=self.environ if environ is None else environ,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            return Ran(127, "", str(error))
        out, err = (each.decode("utf-8", "replace") for each in (done.stdout, done.stderr))
        return Ran(done.returncode, out, err)

    def loopwatch(self, *argv: str, stdin: str = "") -> Ran:
        """One command of the agents' interface; says what was refused, never raises."""
        ran = self.run("loopwatch", *argv, stdin=stdin)
        if ran.code:
            self.say(f"loopwatch {' '.join(argv[:3])}: {ran.err.strip() or f'exit {ran.code}'}")
        return ran

    def ask(self, *argv: str) -> Any:
        """The value that `loopwatch ... --json` answers. Raises Failed when it is refused."""
        ran = self.loopwatch(*argv, "--json")
        if ran.code:
            raise Failed(f"`loopwatch {' '.join(argv)}` did not work, so I stop here.")
        return json.loads(ran.out)

    def git(self, *args: str) -> Ran:
        return self.run("git", *args)

    def commit(self, message: str) -> bool:
        """Commit all there is, new files too. False: there was nothing to commit."""
        self.git("add", "-A", "--", ".")
        if self.git("diff", "--cached", "--quiet").code == 0:
            return False
        ran = self.git("commit", "-q", "-m", message)
        if ran.code:
            raise Failed(f"git commit did not work: {(ran.err or ran.out).strip()}")
        self.say(f"committed: {message.splitlines()[0]}")
        return True

    def listed_to_judge(self) -> frozenset[str]:
        """Keys of the entries that a reviewer's prompt lists as those to judge."""
        section = self.prompt.partition("## Entries that you must judge\n")[2].partition("\n## ")[0]
        return frozenset(re.findall(r"^([BT]-\d+) ", section, re.MULTILINE))

    def named(self, what: str) -> list[str]:
        """Names that `loopwatch what list` lists."""
        return [str(one["name"]) for one in self.ask(what, "list")]

    # --- files and words ------------------------------------------------------------------------

    def read(self, path: str) -> str:
        """The text of a file in the folder, "" if there is none."""
        try:
            return (self.folder / path).read_text("utf-8", errors="replace")
        except OSError:
            return ""

    def write(self, path: str, text: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def tracked(self) -> list[str]:
        return [name for name in self.git("ls-files", "-z").out.split("\0") if name]

    def say(self, text: str) -> None:
        print(text, flush=True)

    # --- memory ---------------------------------------------------------------------------------

    def turn(self) -> int:
        """Which turn of this agent this is, from 1; call it once in a turn."""
        return self.count("turn")

    def count(self, what: str) -> int:
        """How often `what` was counted, this time included; kept across iterations."""
        memory = self.home / f"scripted-{getattr(self.options, 'name', 'agent')}.json"
        counts: dict[str, int] = json.loads(memory.read_text()) if memory.exists() else {}
        counts[what] = counts.get(what, 0) + 1
        memory.write_text(json.dumps(counts))
        return counts[what]
