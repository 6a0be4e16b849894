"""Puts `loopwatch` on an agent's PATH."""

import os
import shlex
import sys
from pathlib import Path

from loops.interface import client

# A shell script and a Python program at once: a "#!" line takes one argument and, on Linux, 255
# bytes, which a deep virtual environment exceeds. The shell reads `exec` and never the rest; Python
# reads the same two lines as a string.
_HEAD = """#!/bin/sh
'''exec' {python} -I -S -E "$0" "$@"
' '''
MCP_SERVER = {server!r}
"""


def install(bin_dir: Path, python: str = sys.executable) -> Path:
    """Write the executable `loopwatch` into `bin_dir` (made if absent) and return its path.

    The file needs only `python` and itself, so it works in a sandbox that shows nothing else of
    Loopwatch; `loopwatch mcp` needs this folder too, and what is installed for `python`. Replaced
    in one move: a running agent never sees half of it.
    """
    bin_dir.mkdir(parents=True, exist_ok=True)
    target = bin_dir / "loopwatch"
    fresh = bin_dir / f".loopwatch-{os.getpid()}"
    program = Path(client.__file__).read_text(encoding="utf-8")
    server = str(Path(client.__file__).with_name("mcp_server.py"))
    head = _HEAD.format(python=shlex.quote(python), server=server)
    fresh.write_text(head + program, encoding="utf-8")
    fresh.chmod(0o755)
    fresh.replace(target)
    return target
