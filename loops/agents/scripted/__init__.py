"""Agents that follow a script: what a careful, a careless and a hostile agent would do.

They run as command agents inside an iteration and need no model and no key, only the standard
library, git and `loopwatch` on the PATH. `python -m loops.agents.scripted --list` names them.
"""

from __future__ import annotations

import sys
from pathlib import Path


def argv(name: str, *options: str) -> list[str]:
    """The command line that plays `name`.

    It names the folder, not the module: it works from inside any clone, whether or not Loopwatch
    is installed there, and without `site` Python starts in half the time.
    """
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve().parent), name, *options]
