"""What a review still lacks, from the tracker and the tree together."""

from __future__ import annotations

from collections.abc import Callable

from tracker.engine.citations import path_of
from tracker.facts import Facts


def missing_marks(now: Facts, blob: Callable[[str], str]) -> tuple[str, ...]:
    """Keys in scope without a mark on the present text and the present content of the cited file.

    blob: id of a file's content now, "" if absent.
    """
    holding = {
        mark.key for mark in now.marks if mark.blob and blob(path_of(mark.place)) == mark.blob
    }
    settled = holding | now.questioned  # marked, or a bug is filed (RULES 4, "Marks")
    return tuple(each.key for each in now.requirements if each.key not in settled)


def lost_fixes(now: Facts, is_missing: Callable[[str], bool]) -> tuple[str, ...]:
    """Keys of FIXED and CLOSED entries of the session whose fix is not in HEAD: unjudged (RULES 4).

    is_missing: True if neither the commit nor an equal patch is in HEAD.
    """
    return tuple(fix.key for fix in now.fixes if is_missing(fix.commit))
