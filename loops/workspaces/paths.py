"""Which paths of the repository are the project's, and which count as uncommitted."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Sequence

from loops.workspaces.exclusions import Exclusions
from loops.workspaces.store import Change

GITLINK = "160000"


class Paths:
    """subpath: folder of the project in the repository ("" = all of it). extra: further files or
    folders that may be changed. Both relative to the repository's root."""

    def __init__(self, subpath: str, extra: Sequence[str], exclusions: Exclusions) -> None:
        self.subpath = clean(subpath)
        self.exclusions = exclusions
        allowed = (self.subpath, *map(clean, extra)) if self.subpath else ()
        self._allowed = tuple(os.fsencode(path) for path in allowed if path)

    def allowed(self, path: bytes) -> bool:
        return not self._allowed or any(
            path == top or path.startswith(top + b"/") for top in self._allowed
        )

    def counts(self, path: bytes) -> bool:
        return self.allowed(path) and path not in self.exclusions

    def committable(self, changes: Iterable[Change]) -> list[Change]:
        """Of the changes from HEAD to the work tree those that a commit could settle: submodules
        are no part of the work tree, and what lies in one cannot be committed here."""
        listed = list(changes)
        links = [c.path + b"/" for c in listed if c.old_mode == GITLINK and c.deleted]
        return [
            c
            for c in listed
            if c.path not in self.exclusions
            and not (c.old_mode == GITLINK and c.deleted)
            and not any(c.path.startswith(link) for link in links)
        ]

    def candidates(self, path: str) -> list[bytes]:
        """Where a path that an agent named may lie: from the root, then from the project's."""
        names = [clean(path)]
        if self.subpath and names[0]:
            names.append(f"{self.subpath}/{names[0]}")
        return [os.fsencode(name) for name in names if name]


def clean(path: str) -> str:
    """Normal form of a relative path; "" for the root and for what leads out of it."""
    normal = posixpath.normpath(path.strip()) if path.strip() else "."
    outside = normal.startswith(("/", "../")) or normal in (".", "..") or "\0" in normal
    return "" if outside else normal
