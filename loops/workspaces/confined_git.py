"""Reading the clone's own `.git`, which the agent could write: only by a git that is confined
like the agent, told to run no program, and believed in nothing that the store cannot check."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from loops.workspaces.engine_git import SAFE_CONFIG, config_flags, git_path, scrubbed_environment
from loops.workspaces.processes import Finished, run
from loops.workspaces.store import HEX
from loops.workspaces.values import Confine

SECONDS = 60.0
PACK_SECONDS = 600.0
PACK_LIMIT = 4 << 30
# More than any honest repository has; git would read such files whole.
HEAD_LIMIT = 4096
REFS_LIMIT = 100 << 20
_CONFIG = (*SAFE_CONFIG, "protocol.allow=never", "safe.directory=*", "gc.autoDetach=false")


class BrokenClone(Exception):
    """The clone's `.git` cannot be read; the message is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Head:
    """commit: what HEAD resolves to; ref: the branch it is on ("HEAD" when detached)."""

    commit: str
    ref: str


class CloneGit:
    def __init__(self, clone: Path, confine: Confine) -> None:
        self.clone = clone
        self._confine = confine
        self._env = scrubbed_environment() | {"GIT_ALLOW_PROTOCOL": "none"}

    def _run(
        self,
        *args: str,
        data: bytes = b"",
        writes: bool = False,
        timeout: float = SECONDS,
        limit: int = 1 << 26,
        into: IO[bytes] | None = None,
        source: IO[bytes] | None = None,
    ) -> Finished:
        argv = [git_path(), f"--git-dir={self.clone / '.git'}", f"--work-tree={self.clone}"]
        argv += [*config_flags(_CONFIG), *args]
        seen, written = ((), (self.clone,)) if writes else ((self.clone,), ())
        return run(
            self._confine(argv, cwd=self.clone, writable=written, readable=seen, network=False),
            cwd=self.clone,
            env=self._env,
            timeout=timeout,
            data=data,
            limit=limit,
            into=into,
            source=source,
        )

    def check(self) -> None:
        """BrokenClone unless `.git` is a folder of its own with a HEAD of honest size."""
        git = self.clone / ".git"
        if not _is(git, stat.S_ISDIR):
            raise BrokenClone("the clone's .git is not a folder any more")
        if not _is(git / "HEAD", lambda m: stat.S_ISREG(m) or stat.S_ISLNK(m), HEAD_LIMIT):
            raise BrokenClone("the clone's .git/HEAD is missing or is not a file of git's")
        refs = git / "packed-refs"
        if os.path.lexists(refs) and not _is(refs, stat.S_ISREG, REFS_LIMIT):
            raise BrokenClone("the clone's .git/packed-refs is not a file of honest size")

    def head(self) -> Head:
        """HEAD as the agent left it; BrokenClone if it leads to no commit."""
        self.check()
        done = self._run("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
        words = done.out.decode("utf-8", "replace").split("\n")
        if done.code != 0 or len(words) < 2 or not HEX.fullmatch(words[0]):
            raise BrokenClone(f"the clone's HEAD leads to no commit ({done.words})")
        return Head(words[0], words[1] or "HEAD")

    def pack(self, head: str, known: Iterable[str]) -> IO[bytes]:
        """The objects of `head` without those of the commits `known`, as an open pack file."""
        if os.path.lexists(self.clone / ".git" / "shallow"):
            raise BrokenClone("the clone's history is cut (.git/shallow)")
        pack = tempfile.TemporaryFile()  # noqa: SIM115 - the caller's to close
        done = self._write_pack(pack, head, known)
        if done.code != 0:  # perhaps the agent's repository lacks a known commit: all of it then
            pack.truncate(0)
            done = self._write_pack(pack, head, ())
        if done.code != 0:
            pack.close()
            raise BrokenClone(f"the agent's commits cannot be read ({done.words})")
        pack.flush()
        return pack

    def _write_pack(self, pack: IO[bytes], head: str, known: Iterable[str]) -> Finished:
        pack.seek(0)
        return self._run(
            *("pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset"),
            data="".join([f"{head}\n", *(f"^{commit}\n" for commit in known)]).encode(),
            timeout=PACK_SECONDS,
            limit=PACK_LIMIT,
            into=pack,
        )

    def resolve(self, name: str) -> str:
        """Full id of a commit given by (part of) its id; "" if there is none."""
        if not HEX.fullmatch(name):
            return ""
        done = self._run("rev-parse", "-q", "--verify", f"{name}^{{commit}}")
        found = done.out.decode("utf-8", "replace").strip()
        return found if done.code == 0 and HEX.fullmatch(found) else ""

    def staged_new(self) -> frozenset[bytes]:
        """Paths that the agent added to its index but did not commit; none if it cannot be read."""
        done = self._run(
            *("diff-index", "--cached", "-z", "--name-only", "--diff-filter=A", "--no-renames"),
            *("--ignore-submodules=all", "HEAD"),
        )
        return frozenset(filter(None, done.out.split(b"\0"))) if done.code == 0 else frozenset()

    def move_head(self, head: Head) -> None:
        """Put HEAD, its branch and the index back to `head`; the work tree is not touched."""
        self.check()
        on_branch = head.ref.startswith("refs/heads/")
        steps: list[tuple[str, ...]] = [("symbolic-ref", "HEAD", head.ref)] if on_branch else []
        # Not `reset`: it compares files with the index, and there the agent's filters would run.
        steps.append(("update-ref", *([] if on_branch else ["--no-deref"]), "HEAD", head.commit))
        steps.append(("read-tree", head.commit))
        for step in steps:
            done = self._run(*step, writes=True)
            if done.code != 0:
                raise BrokenClone(f"the clone's HEAD cannot be put back ({done.words})")

    def has_whole(self, commit: str, base: str) -> bool:
        """Is the commit there with all of its files, and with its history down to `base`?"""
        files = self._run("rev-list", "--quiet", "--objects", "--no-walk", commit)
        return files.code == 0 and self._run("rev-list", "--quiet", commit, f"^{base}").code == 0

    def take_in(self, pack: IO[bytes]) -> None:
        """Unpack objects that the engine hands over; BrokenClone if the clone cannot take them."""
        done = self._run("unpack-objects", "-q", source=pack, writes=True, timeout=PACK_SECONDS)
        if done.code != 0:
            raise BrokenClone(f"the clone's objects cannot be written ({done.words})")

    def drop_stale_locks(self) -> list[str]:
        """Remove lock files that a dead git of the agent left; no agent is alive at a boundary."""
        git = self.clone / ".git"
        found: list[str] = []
        if not _is(git, stat.S_ISDIR):
            return found
        # os.fwalk does not follow links, and names are removed relative to an open folder.
        for folder, folders, files, fd in os.fwalk(git, follow_symlinks=False):
            inner = os.path.relpath(folder, git)
            if inner == ".":
                folders[:] = [name for name in folders if name in ("refs", "worktrees")]
            for name in files:
                if name.endswith(".lock"):
                    os.unlink(name, dir_fd=fd)
                    found.append(os.path.normpath(os.path.join(".git", inner, name)))
        return found


def _is(path: Path, kind: Callable[[int], bool], limit: int | None = None) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return kind(found.st_mode) and (limit is None or found.st_size <= limit)
