"""A repository that several hosts reach: snapshots go there after each iteration, and a session
whose host died goes on from there.

Each host keeps a session's snapshots under a ref of its own, so that one that was cut off and comes
back late writes over nobody's; the session's row says which snapshot counts.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path

from loops.workspaces.engine_git import EngineGit, GitFailed
from loops.workspaces.store import FETCH_SECONDS, Store


class Unreachable(Exception):
    """The repository did not take or give what was wanted; a sentence. Trying again may help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A snapshot of a session. snapshot: the commit that keeps the tree `rev`; head, head_ref:
    where the agent's HEAD was."""

    rev: str
    head: str
    head_ref: str
    snapshot: str

    def to_json(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """repository: full path of a bare repository, or its place for git over ssh. A folder's is made
    on demand, in a folder that is there (a missing one may be a disk that is not mounted)."""

    repository: str

    def send(self, store: Store, ref: str, host: str, kept: Kept) -> None:
        """Push the snapshot, the base and the branch of the session `ref`; nothing else's."""
        self._make(store)
        own = f"refs/loopwatch/{ref}"
        self._git(
            store,
            *("push", "-q", "--atomic", "--no-verify", "--", self.repository),
            f"+{kept.snapshot}:{own}/at/{host}",
            f"+{own}/base:{own}/base",
            f"+{kept.head}:refs/heads/loopwatch/{ref}",
            f"+{own}/commits/*:{own}/commits/*",
        )

    def fetch(self, store: Store, ref: str, host: str, kept: Kept) -> None:
        """Take over what `host` sent last, into a store that may be new. Call it locked."""
        own = f"refs/loopwatch/{ref}"
        store.prepare("sha256" if len(kept.snapshot) > 40 else "sha1")
        self._git(
            store,
            *("fetch", "-q", "--no-write-fetch-head", "--no-tags", "--no-recurse-submodules"),
            *("--", self.repository, f"+{own}/at/{host}:{own}/arrived"),
            *(f"+{own}/base:{own}/base", f"+{own}/commits/*:{own}/commits/*"),
        )
        if not store.commit(kept.snapshot):
            raise Unreachable(f"{self.repository} does not hold the last snapshot of {ref}.")

    def _make(self, store: Store) -> None:
        folder = Path(self.repository)
        if not folder.is_absolute() or (folder / "HEAD").exists():
            return
        if not folder.parent.is_dir():
            raise Unreachable(f"The folder {folder.parent} is not there; mount or make it.")
        try:
            object_format = store.git.text("rev-parse", "--show-object-format")
            git = EngineGit(folder)
            git("init", "-q", "--bare", "--template=", f"--object-format={object_format}")
            git("config", "gc.autoDetach", "false")  # else it outlives a push that is cut off
        except (GitFailed, OSError) as error:
            raise Unreachable(f"{folder} cannot be made: {error}.") from error

    def _git(self, store: Store, *args: str) -> None:
        try:
            store.git(*args, timeout=FETCH_SECONDS, env=self._environment(store))
        except (GitFailed, OSError) as error:
            raise Unreachable(f"{self.repository} cannot be used: {error}.") from error

    def _environment(self, store: Store) -> dict[str, str]:
        """Additions for a call to another repository, which may belong to another user."""
        config = store.path.parent / "elsewhere.gitconfig"
        config.write_text("[safe]\n\tdirectory = *\n")
        env = {
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_ALLOW_PROTOCOL": "file:ssh",
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=10 -oServerAliveInterval=10",
        }
        agent = os.environ.get("SSH_AUTH_SOCK")
        return {**env, "SSH_AUTH_SOCK": agent} if agent else env
