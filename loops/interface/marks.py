"""Which requirements lack a reviewer's mark that holds."""

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
    return tuple(each.key for each in now.requirements if each.key not in holding)
