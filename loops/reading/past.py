"""A session's state at an earlier entry of its log, without folding a long log each time.

States never change and the log is only appended to, so what was folded once stays right; a process
remembers one state per EVERY entries of the sessions that were looked at last.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from datetime import datetime
from typing import Any

from loops.models import Session
from loops.reading.reading import Reading
from loops.snapshots import Fold, entries

EVERY = 1_000
_SESSIONS = 8
_lock = threading.Lock()
_marks: OrderedDict[tuple[int, datetime], list[tuple[int, Any]]] = OrderedDict()


def fold_at(session: Session, seq: int) -> Fold:
    """The fold up to entry `seq`, which must be in the log. Raises LogUnusable."""
    marks = _marks_of(session)
    fold = _nearest(session, marks, seq)
    for entry in entries(session, after=fold.seq, last=seq):
        fold.apply(entry, session)
        if entry.seq % EVERY == 0:
            _remember(marks, entry.seq, fold.state)
    return fold


def _marks_of(session: Session) -> list[tuple[int, Any]]:
    with _lock:
        marks = _marks.setdefault((session.pk, session.created_at), [])
        _marks.move_to_end((session.pk, session.created_at))
        while len(_marks) > _SESSIONS:
            _marks.popitem(last=False)
        return marks


def _nearest(session: Session, marks: list[tuple[int, Any]], seq: int) -> Fold:
    fold = Fold.empty(session)
    with _lock:
        place = bisect_right(marks, seq, key=lambda mark: mark[0])
        if place:
            fold.seq, fold.state = marks[place - 1]
    if fold.seq < session.fold_seq <= seq:
        return Fold.as_of(session, session.fold_seq)
    return fold


def _remember(marks: list[tuple[int, Any]], seq: int, state: Any) -> None:
    with _lock:
        place = bisect_right(marks, seq, key=lambda mark: mark[0])
        if not place or marks[place - 1][0] != seq:
            marks.insert(place, (seq, state))


class ReadingThen(Reading):
    """A session as it stood at one entry of its log: limits and bound speak of that time."""

    def __init__(self, session: Session, fold: Fold) -> None:
        super().__init__(session)
        self.__dict__["fold"] = fold  # in place of the one that would be read
