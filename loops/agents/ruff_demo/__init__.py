"""The demo's agents: a reviewer, a worker and a coach that know nothing but ruff.

They are honest, deterministic and need no model: the reviewer files what ruff finds against the
requirements, the worker fixes what ruff can fix and asks a person about the rest.
"""

from __future__ import annotations

import sys
from pathlib import Path


def argv(role: str) -> list[str]:
    """The command line that plays `role`: worker, reviewer or coach."""
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve().parent), role]
