"""The project's own commands, `prepare` and `check`: confined like an agent, bounded in time."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

from loops.workspaces.processes import run
from loops.workspaces.store import Store
from loops.workspaces.values import Confine, Ran

TAIL_BYTES = 64_000
TAIL_LINES = 20
# What a prepare command depends on, by file name at any depth.
MANIFESTS = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),
    *("bun.lock", "pyproject.toml", "setup.py", "setup.cfg", "uv.lock", "poetry.lock", "pdm.lock"),
    *("Pipfile", "Pipfile.lock", "environment.yml", "Cargo.toml", "Cargo.lock", "go.mod"),
    *("go.sum", "Gemfile", "Gemfile.lock", "composer.json", "composer.lock", "mix.lock"),
    *("pom.xml", "build.gradle", "build.gradle.kts", "gradle.lockfile", "flake.lock"),
)


def run_command(
    command: str,
    *,
    confine: Confine,
    clone: Path,
    workdir: Path,
    own: Path,
    network: bool,
    timeout: float,
) -> Ran:
    """Run one shell command in `workdir`; only the clone and the command's HOME and TMPDIR below
    `own` are writable. Its process group is gone when this returns."""
    home, tmp = own / "home", own / "tmp"
    for folder in (home, tmp):
        folder.mkdir(parents=True, exist_ok=True)
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "TMPDIR": str(tmp),
        "NO_COLOR": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
    }
    argv = confine(
        ["/bin/sh", "-c", command],
        cwd=workdir,
        writable=(clone, home, tmp),
        readable=(),
        network=network,
    )
    start = time.monotonic()
    done = run(argv, cwd=workdir, env=env, timeout=timeout, limit=TAIL_BYTES, tail=True)
    words = (done.out or done.err).decode("utf-8", "replace").replace("\0", "")
    lines = words.splitlines()[-TAIL_LINES:]
    if done.timed_out:
        lines.append(f"(killed at its time limit of {timeout:.0f} s)")
    return Ran(
        command=command,
        exit_code=done.code,
        seconds=time.monotonic() - start,
        tail="\n".join(lines),
    )


class Prepare:
    """`prepare` in a session's clone. folder: its HOME, TMPDIR and the record of what passed."""

    def __init__(self, store: Store, folder: Path, confine: Confine) -> None:
        self._store = store
        self._folder = folder
        self._confine = confine

    def run(self, command: str, *, tree: str, clone: Path, workdir: Path, timeout: float) -> Ran:
        """Run it unless it passed before with the same manifests and lock files (RULES 1)."""
        record = self._folder / "passed.json"
        key = self._key(command, tree)
        if record.exists() and json.loads(record.read_text()) == key:
            return Ran(command=command, exit_code=0, cached=True)
        ran = run_command(
            command,
            confine=self._confine,
            clone=clone,
            workdir=workdir,
            own=self._folder,
            network=True,
            timeout=timeout,
        )
        if ran.passed:
            record.write_text(json.dumps(key))
        return ran

    def _key(self, command: str, tree: str) -> str:
        listed = self._store.git("ls-tree", "-r", "-z", tree).split(b"\0")
        wanted = [line for line in listed if _is_manifest(line.rsplit(b"/", 1)[-1])]
        return hashlib.sha256(b"\0".join([command.encode(), *wanted])).hexdigest()


def _is_manifest(line: bytes) -> bool:
    name = os.fsdecode(line.rsplit(b"\t", 1)[-1])
    return name in MANIFESTS or (name.startswith("requirements") and name.endswith(".txt"))
