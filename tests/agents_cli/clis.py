"""The real coding CLIs here: on PATH, or one npm prefix each below LOOPWATCH_TEST_CLIS."""

import os
import shutil
from pathlib import Path

import pytest

# opencode is a choice of whoever runs the tests: -m opencode. It takes the longest.
NAMES = (
    "claude",
    "codex",
    "gemini",
    "qwen",
    "pi",
    pytest.param("opencode", marks=pytest.mark.opencode),
)
_PREFIXES = ("node", "claude", "codex", "gemini", "opencode", "qwen", "pi")


def path() -> str:
    """A PATH with them on it, their Node first: an older one makes them fail or act otherwise."""
    here = os.environ.get("PATH", os.defpath)
    folder = os.environ.get("LOOPWATCH_TEST_CLIS")
    if not folder:
        return here
    return ":".join([*(f"{folder}/{name}/node_modules/.bin" for name in _PREFIXES), here])


def find(name: str) -> Path | None:
    found = shutil.which(name, path=path())
    return Path(found) if found else None


def program(name: str) -> Path:
    """Skips where the CLI is not installed; in CI (LOOPWATCH_REQUIRE=clis) that is a failure."""
    found = find(name)
    if found is None:
        why = f"{name} is not installed (PATH, LOOPWATCH_TEST_CLIS)"
        if "clis" in os.environ.get("LOOPWATCH_REQUIRE", "").split(","):
            pytest.fail(why)
        pytest.skip(why)
    return found
