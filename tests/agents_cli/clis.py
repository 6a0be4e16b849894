"""The real coding CLIs here: on PATH, or one npm prefix each below LOOPWATCH_TEST_CLIS."""

import os
import shutil
from pathlib import Path

import pytest

NAMES = ("claude", "codex", "gemini", "qwen", "pi", "opencode")


def folder() -> Path | None:
    named = os.environ.get("LOOPWATCH_TEST_CLIS", "")
    return Path(named) if named else None


def path() -> str:
    """A PATH with their Node first: an older one makes them fail or behave otherwise."""
    node = [str(folder() / "node/node_modules/.bin")] if folder() else []
    return os.pathsep.join([*node, os.environ["PATH"]])


def program(name: str) -> Path:
    """Skips where the CLI is not installed; in CI (LOOPWATCH_REQUIRE=clis) that is a failure."""
    there = folder() and folder() / name / "node_modules/.bin" / name
    found = str(there) if there and there.exists() else shutil.which(name)
    if found is None:
        if "clis" in os.environ.get("LOOPWATCH_REQUIRE", "") and name != "opencode":
            pytest.fail(f"{name} is required but not installed")
        pytest.skip(f"{name} is not installed")
    return Path(found)
