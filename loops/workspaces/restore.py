"""Putting files of the clone back to an earlier tree, one by one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from loops.workspaces.scan import LARGE_MARK
from loops.workspaces.store import Change, Store
from loops.workspaces.tree_files import TreeFiles
from loops.workspaces.values import shown

# How many files' contents are held in memory at once.
BATCH = 100


class Restorer:
    """folder: takes what must leave the clone but may not be lost. moved, restored: paths as they
    were done; notes: sentences about what could not be."""

    def __init__(self, clone: Path, store: Store, folder: Path) -> None:
        self._files = TreeFiles(clone)
        self._store = store
        self._folder = folder
        self.moved: list[bytes] = []
        self.restored: list[bytes] = []
        self.notes: list[str] = []

    def restore(self, changes: Sequence[Change], large: frozenset[bytes]) -> None:
        """Undo `changes`. large: paths that the store holds by size and time only."""
        try:
            self._undo(changes, large)
        except PermissionError:  # an agent shut folders against us; what is done can be done twice
            self._files.make_readable()
            self.restored.clear()
            self._undo(changes, large)

    def _undo(self, changes: Sequence[Change], large: frozenset[bytes]) -> None:
        for change in changes:
            if change.added and change.path in large:
                self.move(change.path)
            elif change.added:
                self._files.remove(change.path)
                self.restored.append(change.path)
        back = [change for change in changes if not change.added]
        for start in range(0, len(back), BATCH):
            batch = back[start : start + BATCH]
            contents = self._store.contents(change.old_id for change in batch)
            for change in batch:
                self._write(change, contents[change.old_id])

    def _write(self, change: Change, content: bytes) -> None:
        if content.startswith(LARGE_MARK):
            self.notes.append(
                f"{shown(change.path)} was changed or deleted and cannot be put back: files over "
                "50 MB that are not in git are known by size and time only."
            )
            return
        try:
            self._files.write(change.path, change.old_mode, content)
        except PermissionError:
            raise
        except OSError:
            # A folder with ignored files stands in the way: it is kept, but elsewhere.
            if not self.move(change.path):
                return
            self._files.write(change.path, change.old_mode, content)
        self.restored.append(change.path)

    def move(self, path: bytes) -> bool:
        """Move a file or folder of the clone to the iteration's files."""
        try:
            self._files.move(path, Path(os.fsdecode(os.path.join(os.fsencode(self._folder), path))))
        except OSError as error:
            self.notes.append(f"{shown(path)} could not be moved away ({error.strerror}).")
            return False
        self.moved.append(path)
        return True
