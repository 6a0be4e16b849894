"""What a scan of the clone keeps for the next one."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Memory:
    """What one scan leaves for the next; losing it costs time, not truth.

    recent: path -> blob id of files that changed just before they were hashed. large: path ->
    (size, mtime in ns, mode) of untracked files over 50 MB. tree, head: of the last scan.
    indexed: the tree that the index holds, which may be older.
    """

    tree: str = ""
    head: str = ""
    recent: dict[str, str] = field(default_factory=dict)
    large: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    untracked: int = 0
    indexed: str = ""
