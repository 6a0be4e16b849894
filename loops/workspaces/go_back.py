"""The way back: a session's clone as it stood at a recorded tree, whatever was done to it since."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

from loops.workspaces.confined_git import BrokenClone, Head
from loops.workspaces.restore import Restorer
from loops.workspaces.stamps import Stamper
from loops.workspaces.store import Change
from loops.workspaces.tree_files import TreeFiles
from loops.workspaces.values import Tree, Unusable

# Files come to light when a `.gitignore` goes back, so that one round may not be enough.
ROUNDS = 4
# What a merge, rebase or bisect that was begun leaves in `.git`: it would go on at another commit.
UNDER_WAY = (
    *("MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "AUTO_MERGE", "SQUASH_MSG"),
    *("CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "rebase-merge", "rebase-apply"),
    *("sequencer", "BISECT_START", "BISECT_LOG", "BISECT_EXPECTED_REV", "BISECT_NAMES"),
    *("BISECT_TERMS", "BISECT_RUN", "BISECT_ANCESTORS_OK"),
)


class Return:
    """One way back in one session. aside: folder for what must leave the clone but may not be lost
    (nested repositories, files over 50 MB). Hold the session's lock; no agent is alive."""

    def __init__(self, stamper: Stamper, aside: Path) -> None:
        self._stamper = stamper
        self._store = stamper.store
        self._aside = aside

    def to(self, tree: Tree) -> Tree:
        stamper = self._stamper
        self._refuse_unknown(tree)
        stamper.check_clone()
        stamper.git.drop_stale_locks()
        now = stamper.take()
        for _ in range(ROUNDS):
            if now == tree:
                return now
            # HEAD first: what it tracks counts as content even where it is ignored.
            if now.head != tree.head:
                self._move_head(tree.head)
                now = stamper.take()
            large = self._restore(self._store.changes(tree.rev, now.rev))
            now = stamper.take()
            if large and now.head == tree.head:
                return now
        if now != tree:
            raise Unusable(
                f"The clone {stamper.clone} cannot be put back to the tree {tree.rev[:12]} at "
                f"{tree.head[:12]}: something changes it meanwhile, or its files cannot be written."
            )
        return now

    def _refuse_unknown(self, tree: Tree) -> None:
        found = self._store.git.attempt("rev-parse", "-q", "--verify", f"{tree.rev}^{{tree}}")
        if found.code != 0 or not self._store.commit(tree.head):
            raise Unusable(
                f"The tree {tree.rev[:12]} at {tree.head[:12]} is not in the project's store "
                f"{self._store.path}."
            )

    # --- files -----------------------------------------------------------------------------------

    def _restore(self, changes: list[Change]) -> bool:
        """Undo `changes`; True if some of them cannot be undone."""
        restorer = Restorer(self._stamper.clone, self._store, self._folder())
        added = [change.path for change in changes if change.added]
        restorer.restore(changes, self._stamper.large())
        for root in self._emptied(added):
            restorer.move(root)
        self._stamper.notes += restorer.notes
        return bool(restorer.notes)

    def _folder(self) -> Path:
        """A folder of its own each time, so that nothing moved there is overwritten."""
        taken = len(list(self._aside.iterdir())) if self._aside.is_dir() else 0
        folder = self._aside / str(taken + 1)
        folder.mkdir(parents=True)
        return folder

    def _emptied(self, removed: list[bytes]) -> list[bytes]:
        """Folders that hold nothing but a nested repository's `.git` since its files are gone."""
        files = TreeFiles(self._stamper.clone)
        parts = (path.split(b"/") for path in removed)
        folders = {b"/".join(p[:depth]) for p in parts for depth in range(1, len(p))}
        return [
            folder
            for folder in sorted(folders)
            if [path for path, _ in files.below(folder)] == [folder + b"/.git"]
        ]

    # --- HEAD ------------------------------------------------------------------------------------

    def _move_head(self, commit: str) -> None:
        """HEAD on the session's branch at `commit`, wherever the agent left it."""
        stamper = self._stamper
        head = Head(commit, f"refs/heads/{stamper.branch}")
        try:
            if not stamper.git.has_whole(commit, stamper.base()):
                self._hand_over(commit)
            self._forget_under_way()
            stamper.git.move_head(head)
        except BrokenClone as why:
            # The new `.git` gets its history from the session's branch in the store.
            self._store.set_refs({f"refs/heads/{stamper.branch}": commit})
            stamper.repair(head, str(why))

    def _hand_over(self, commit: str) -> None:
        """Objects that the agent's git has lost (amended away, pruned, deleted), out of the store.

        The engine packs them from its own store and the confined git unpacks them: neither opens
        the other's repository."""
        stamper = self._stamper
        wanted = f"{commit}\n^{stamper.base()}\n".encode()
        done = self._store.git.attempt("pack-objects", "--revs", "--stdout", "-q", data=wanted)
        if done.code != 0:
            raise BrokenClone(f"the commit {commit[:12]} cannot be handed over ({done.words})")
        with tempfile.TemporaryFile() as pack:
            pack.write(done.out)
            pack.flush()
            os.lseek(pack.fileno(), 0, os.SEEK_SET)
            stamper.git.take_in(pack)
        if not stamper.git.has_whole(commit, stamper.base()):
            raise BrokenClone("objects of its history are missing")

    def _forget_under_way(self) -> None:
        git = os.open(self._stamper.clone / ".git", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            for name in UNDER_WAY:
                try:
                    mode = os.stat(name, dir_fd=git, follow_symlinks=False).st_mode
                except FileNotFoundError:
                    continue
                if stat.S_ISDIR(mode):
                    shutil.rmtree(name, dir_fd=git)
                else:
                    os.unlink(name, dir_fd=git)
        finally:
            os.close(git)
