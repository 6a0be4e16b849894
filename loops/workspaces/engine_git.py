"""The engine's own git: no system, global or user configuration, no hooks, no filters.

It is only ever pointed at git directories that no agent can write.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from loops.workspaces.processes import Finished, run
from loops.workspaces.values import Unusable

AGENT_NAME = "Loopwatch agent"
AGENT_MAIL = "agent@loopwatch.invalid"
SECONDS = 120.0

SAFE_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "core.bigFileThreshold=50m",
    "core.pager=cat",
    # Names that only other systems cannot hold are plain names here.
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.quotePath=true",
    "core.fsync=all",
    "core.fsyncMethod=batch",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "pack.threads=2",
    "pack.windowMemory=100m",
    "transfer.fsckObjects=false",
)


class GitFailed(Exception):
    """One git call failed; the message is git's last words."""


def git_path() -> str:
    found = shutil.which("git")
    if not found:
        raise Unusable("git is not on the PATH; install git 2.36 or later.")
    return found


def scrubbed_environment() -> dict[str, str]:
    """All that a git of ours gets to see; nothing of the user's own environment but PATH."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "HOME": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "false",
        "GIT_AUTHOR_NAME": "Loopwatch",
        "GIT_AUTHOR_EMAIL": "engine@loopwatch.invalid",
        "GIT_COMMITTER_NAME": "Loopwatch",
        "GIT_COMMITTER_EMAIL": "engine@loopwatch.invalid",
    }


def config_flags(config: Sequence[str] = SAFE_CONFIG) -> list[str]:
    return [part for item in config for part in ("-c", item)]


class EngineGit:
    """Git on one git directory of the engine's own, optionally with a work tree.

    objects: object folder to use instead of the git directory's own. extra_env: additions to the
    scrubbed environment. Calls raise GitFailed unless told which exit codes are answers.
    """

    def __init__(
        self,
        git_dir: Path,
        *,
        work_tree: Path | None = None,
        objects: Path | None = None,
        extra_env: Mapping[str, str] | None = None,
    ) -> None:
        self.git_dir = git_dir
        self.cwd = work_tree or git_dir.parent
        self.lock_fd: int | None = None
        self._env = scrubbed_environment() | dict(extra_env or {})
        self._env["GIT_DIR"] = str(git_dir)
        if work_tree:
            self._env["GIT_WORK_TREE"] = str(work_tree)
        if objects:
            self._env["GIT_OBJECT_DIRECTORY"] = str(objects)
        self._prefix = [git_path(), *config_flags()]

    def attempt(
        self,
        *args: str | bytes,
        data: bytes = b"",
        timeout: float = SECONDS,
        limit: int = 1 << 28,
        source: IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run one call and return how it ended, whatever that is."""
        return run(
            [*self._prefix, *args],
            cwd=self.cwd,
            env={**self._env, **(env or {})},
            timeout=timeout,
            data=data,
            source=source,
            limit=limit,
            lock_fd=self.lock_fd,
        )

    def __call__(
        self,
        *args: str | bytes,
        data: bytes = b"",
        timeout: float = SECONDS,
        answers: tuple[int, ...] = (0,),
        env: Mapping[str, str] | None = None,
    ) -> bytes:
        """Output of one call; GitFailed unless its exit code is among `answers`."""
        done = self.attempt(*args, data=data, timeout=timeout, env=env)
        if done.code not in answers:
            what = next((os.fsdecode(a) for a in args if not os.fsdecode(a).startswith("-")), "")
            raise GitFailed(f"git {what}: {done.words}")
        return done.out

    def text(self, *args: str | bytes, data: bytes = b"", timeout: float = SECONDS) -> str:
        return self(*args, data=data, timeout=timeout).decode("utf-8", "replace").strip()
