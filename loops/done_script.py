"""The done script (RULES 4, done mode): a command that judges a committed tree by its exit code.

Files of the repository that the command names are copied when the session opens, so that no agent
can change what judges it. The clone is read-only to it where there is a sandbox.
"""

from __future__ import annotations

import os
import secrets as randomness
import shlex
import shutil
from pathlib import Path

from loops.agents.base import Control, Places
from loops.agents.confine import confinement
from loops.agents.process import run_tree
from loops.agents.program import Program


class DoneScript:
    """command: as configured. kept: folder of our own for the copies. ref: "S-3"."""

    def __init__(self, command: str, kept: Path, ref: str, seconds: float) -> None:
        self.command = command
        self.kept = kept
        self.ref = ref
        self.seconds = seconds

    def keep(self, workdir: Path) -> None:
        """Copy what the command names from the tree at the start; later calls change nothing."""
        if self.kept.exists():
            return
        fresh = self.kept.with_name("script.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        for place, word in enumerate(self.words()):
            named = workdir / word
            if named.is_file() and not named.is_symlink():
                shutil.copy2(named, fresh / f"{place}-{named.name}")
        fresh.rename(self.kept)

    def run(self, places: Places, control: Control) -> int:
        """The exit code; 1 when it was ended at its time limit or could not start."""
        places.tmp.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark = f"{self.ref}-script-{randomness.token_hex(8)}"
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(places.tmp),
            "TMPDIR": str(places.tmp),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "RUN_MARK": mark,
        }
        program = Program(
            argv=["/bin/sh", "-c", self._kept_command()],
            env=env,
            cwd=places.workdir,
            mark=mark,
            wall_seconds=self.seconds,
            silence_seconds=self.seconds,
            mode=confinement(),
            writable=[places.tmp],
            readable=[places.clone, self.kept],
            hidden=places.hidden,
            tmp=places.tmp,
            network=False,
        )
        ending = run_tree(program, control)
        return 1 if ending.exit_code is None else ending.exit_code

    def words(self) -> list[str]:
        """Those of the command; some may name files."""
        try:
            return shlex.split(self.command)
        except ValueError:  # not one simple command: the shell will say what it thinks of it
            return []

    def _kept_command(self) -> str:
        """The command with the copies in place of the files it names."""
        command = self.command
        for place, word in enumerate(self.words()):
            copy = self.kept / f"{place}-{Path(word).name}"
            if copy.exists():
                command = command.replace(word, shlex.quote(str(copy)), 1)
        return command
