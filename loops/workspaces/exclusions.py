"""Which paths never count: the engine's own, known caches, accepted leftovers."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Folders that tools rebuild at will, at any depth (RULES 4: "known caches").
CACHES = (
    "__pycache__",
    ".pytest_cache",
    ".ruff_cache",
    ".mypy_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    ".gradle",
    ".parcel-cache",
    "node_modules/.cache",
)
OWN = ".loopwatch"


class Exclusions:
    """leftovers: files or folders as a person wrote them, relative to the repository's root. One
    without a slash matches at any depth; `*` and `?` stay within a name, `**` spans folders."""

    def __init__(self, leftovers: Sequence[str] = ()) -> None:
        self._leftovers = tuple(t for t in (line.strip().strip("/") for line in leftovers) if t)
        parts = [rf"^{re.escape(OWN)}"]
        parts += [rf"(?:^|/){re.escape(cache)}" for cache in CACHES]
        parts += [("^" if "/" in left else "(?:^|/)") + _regex(left) for left in self._leftovers]
        # The end of the match is the end of a name: the folder and all below it are excluded.
        self._pattern = re.compile(f"(?:{'|'.join(parts)})(?:/|$)".encode(), re.DOTALL)
        caches = "|".join(re.escape(cache) for cache in CACHES)
        self._folders_only = re.compile(rf"(?:^|/)(?:{caches})$".encode())

    def __contains__(self, path: bytes) -> bool:
        """path: of a file (not a folder), relative to the repository's root."""
        found = self._pattern.search(path)
        if not found:
            return False
        # A plain FILE named like a cache folder is content.
        return found.end() < len(path) or not self._folders_only.search(path)

    def covers_folder(self, path: bytes) -> bool:
        return path + b"/x" in self

    def as_ignore_file(self) -> str:
        """The same as git ignore patterns, so that git does not list what we drop anyway."""
        lines = [f"/{OWN}/", *(f"**/{cache}/" for cache in CACHES)]
        lines += [("/" if "/" in left else "") + left for left in self._leftovers]
        return "\n".join(lines) + "\n"


def _regex(glob: str) -> str:
    words = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        words.get(part) or re.escape(part) for part in re.split(r"(\*\*|\*|\?)", glob) if part
    )
