"""Making the session's clone, and making its `.git` anew when an agent broke it."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from loops.workspaces.confined_git import Head
from loops.workspaces.engine_git import AGENT_MAIL, AGENT_NAME, EngineGit
from loops.workspaces.store import FETCH_SECONDS, Store


@dataclass(frozen=True, slots=True)
class CloneMaker:
    """Makes full repositories out of the store: own objects, no alternates, no remote."""

    store: Store

    def make(self, clone: Path, *, ref: str, branch: str) -> None:
        """Clone the commit at `ref` of the store, checked out on `branch`.

        Idempotent after a crash: it is made under another name and renamed when complete, so a
        `clone` that exists is whole. Call it with the store locked.
        """
        clone.parent.mkdir(parents=True, exist_ok=True)
        # A name of its own each time: the git of a killed process may still write into an old one.
        part = Path(tempfile.mkdtemp(prefix=f"{clone.name}.", suffix=".part", dir=clone.parent))
        git = EngineGit(part / ".git", work_tree=part)
        self._repository(git, ref=ref, head=Head("", f"refs/heads/{branch}"))
        git("checkout", "-q", "-f", branch, timeout=FETCH_SECONDS)
        os.rename(part, clone)

    def git_folder(self, folder: Path, clone: Path, *, ref: str, head: Head) -> None:
        """A new `.git` in `folder` for a clone whose files stay as they are: HEAD and index as
        `head` says, its history out of the store's `ref`."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        git = EngineGit(folder, work_tree=clone)
        self._repository(git, ref=ref, head=head)
        git("read-tree", head.commit)

    def _repository(self, git: EngineGit, *, ref: str, head: Head) -> None:
        object_format = self.store.git.text("rev-parse", "--show-object-format")
        git("init", "-q", "--template=", f"--object-format={object_format}")
        git(
            *("fetch", "-q", "--force", "--no-write-fetch-head", "--no-tags"),
            *("--no-recurse-submodules", "--update-head-ok", "--", str(self.store.path)),
            f"+{ref}:refs/loopwatch/start",
            "+refs/remotes/source/*:refs/remotes/source/*",
            "+refs/tags/*:refs/tags/*",
            timeout=FETCH_SECONDS,
        )
        commit = head.commit or git.text("rev-parse", "refs/loopwatch/start")
        if head.ref.startswith("refs/heads/"):
            git("update-ref", head.ref, commit)
            git("symbolic-ref", "HEAD", head.ref)
        else:
            git("update-ref", "--no-deref", "HEAD", commit)
        git("update-ref", "-d", "refs/loopwatch/start")
        # A detached gc would outlive the command that started it and die in the middle.
        for name, value in (
            ("core.bare", "false"),
            ("user.name", AGENT_NAME),
            ("user.email", AGENT_MAIL),
            ("gc.autoDetach", "false"),
        ):
            git("config", name, value)


def sweep(clone: Path) -> None:
    """Remove what clones that were cut off left beside this one."""
    for left in clone.parent.glob(f"{clone.name}.*.part"):
        shutil.rmtree(left, ignore_errors=True)
