"""Where a coding CLI lies on this host, and which version it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from loops.agents.confine import confine

_SECONDS = 30.0
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?[0-9A-Za-z.+-]*")
MOST_VERSION = 40  # characters


def find(name: str, program: str = "") -> Path | None:
    """The program that a call would run: `program` if a person named one, else `name` on PATH."""
    found = shutil.which(os.path.expanduser(program) if program else name)
    return Path(os.path.abspath(found)) if found else None


def version(program: Path) -> str:
    """What `--version` says (pi on its error stream), "" if it says nothing sensible. Asked once
    for each installation; the first time takes as long as the program takes to start."""
    try:
        stat = os.stat(program)
    except OSError:
        return ""
    return _asked(program, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _asked(program: Path, _changed: int, _size: int) -> str:
    """In a home of its own, without a network: CLIs write and look for updates on every start."""
    with tempfile.TemporaryDirectory(prefix="loopwatch-version-") as folder:
        home = Path(folder)
        (home / "tmp").mkdir()
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": folder,
            "TMPDIR": str(home / "tmp"),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
        }
        argv = confine(
            [str(program), "--version"],
            cwd=home,
            writable=[home],
            tmp=home / "tmp",
            network=False,
        )
        try:
            done = subprocess.run(
                argv,
                env=env,
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    if done.returncode:  # a crash names the version of Node
        return ""
    found = _VERSION.search((done.stdout + done.stderr).decode("utf-8", "replace"))
    return found[0][:MOST_VERSION] if found else ""
