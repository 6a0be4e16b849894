"""An agent's raw output on its way to the store: text, free of secrets, in bounded pieces.

Bytes -> UTF-8 (replacement characters, NUL removed: PostgreSQL refuses it) -> secrets removed ->
pieces. The raw text keeps its colours; `plain` is for matching.
"""

from __future__ import annotations

import codecs
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from loops.agents.alarm import Alarm
from loops.agents.redact import Redactor

LONGEST_PIECE = 64 * 1024
ROOM = 16 * LONGEST_PIECE
EVERY_SECONDS = 0.25
LONGEST_JSON = 16 * 1024 * 1024

_alarm = Alarm(EVERY_SECONDS)


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines, or a part of one line longer than a piece or not finished in time.

    number: 1, 2, 3 ... within the call. offset: bytes of UTF-8 text before it, so that the next
    offset is this one + len(text.encode()). continued: its last line goes on in the next piece.
    text: at most LONGEST_PIECE characters.
    """

    number: int
    offset: int
    text: str
    continued: bool


class OutputWriter:
    """Hands pieces to `store`, in order, every 250 ms or 64 Ki characters.

    `store` is called from a thread of this writer and, for the rest, from the one that calls
    close(); never from two at once. If it raises, the same pieces come again: it must bear
    doubles, and close its thread's database connection if it opens one. The thread begins when text
    lies for 250 ms or fills a piece: a shorter call has none and stores once, in close().
    Memory: at most ROOM characters, one block, and less than the longest form of a secret.
    """

    def __init__(self, store: Callable[[list[Piece]], None], secrets: Iterable[str] = ()) -> None:
        self._store = store
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._redactor = Redactor(secrets)
        self._changed = threading.Condition()
        self._waiting: list[str] = []
        self._size = 0
        self._batch: list[Piece] = []
        self._number = 0
        self._offset = 0
        self._closing = False
        self._is_awaited = False
        self._thread: threading.Thread | None = None

    def write(self, data: bytes) -> bool:
        """False: no room, nothing was taken (see Control.output). Never blocks on the store."""
        with self._changed:
            if self._size >= ROOM:
                return False
            self._add(self._redactor.feed(self._decode(data).replace("\0", "")))
            if self._size >= LONGEST_PIECE:
                self._hurry()
            elif not self._is_awaited:
                self._is_awaited = True
                _alarm.set(self, self._overdue)
            return True

    def close(self) -> None:
        """Store the rest, an unfinished line included. Raises what `store` raises."""
        _alarm.unset(self)
        with self._changed:
            if not self._closing:
                self._closing = True
                last = self._redactor.feed(self._decode(b"", True).replace("\0", ""))
                self._add(last + self._redactor.finish())
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
        while self._batch or self._waiting:
            self._hand_over()

    def _add(self, text: str) -> None:
        if text:
            self._waiting.append(text)
            self._size += len(text)

    def _overdue(self) -> None:
        with self._changed:
            self._hurry()

    def _hurry(self) -> None:
        """The thread hands over now."""
        if self._thread is not None:
            self._changed.notify()
        elif not self._closing:
            self._thread = threading.Thread(target=self._work, name="output", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        """Hand over now, and whenever it is due, until close()."""
        while True:
            is_due = self._is_due
            try:
                self._hand_over()
            except Exception:
                # The pieces are kept and come again; close() raises if it never works. Until then
                # the room fills up and the agent waits on its pipe: nothing is lost.
                is_due = self._is_closing
            with self._changed:
                self._changed.wait_for(is_due, EVERY_SECONDS)
                if self._closing:
                    return

    def _is_due(self) -> bool:
        return self._closing or self._size >= LONGEST_PIECE

    def _is_closing(self) -> bool:
        return self._closing

    def _hand_over(self) -> None:
        """Store one batch; it is forgotten only when the store has it."""
        if not self._batch:
            with self._changed:
                text, self._waiting = "".join(self._waiting), []
            self._batch = list(_pieces(text, number=self._number + 1, offset=self._offset))
        if not self._batch:
            return
        self._store(self._batch)
        last = self._batch[-1]
        self._number, self._offset = last.number, last.offset + len(last.text.encode())
        with self._changed:
            self._size -= sum(len(piece.text) for piece in self._batch)
        self._batch = []


def _pieces(text: str, *, number: int, offset: int) -> Iterator[Piece]:
    at = 0
    while at < len(text):
        end = min(at + LONGEST_PIECE, len(text))
        after_line = text.rfind("\n", at, end) + 1
        end = after_line or end
        part = text[at:end]
        yield Piece(number, offset, part, continued=not part.endswith("\n"))
        number, offset, at = number + 1, offset + len(part.encode()), end


@dataclass(frozen=True, slots=True)
class Oversized:
    """Stands for a line longer than json_lines takes: so many characters."""

    length: int


# Not splitlines(): a JSON string may hold U+2028 and its like.
_LINES = re.compile("[^\n]*\n|[^\n]+")


def json_lines(texts: Iterable[str], longest: int = LONGEST_JSON) -> Iterator[object]:
    """The JSON objects and arrays that stand alone on a line, whatever pieces the lines came in.

    Other lines are skipped (agents mix noise in). Memory: one line of at most `longest`
    characters; a longer one that begins like JSON comes out as Oversized, never in silence.
    """
    parts: list[str] = []
    length = 0
    for text in texts:
        for part in _LINES.findall(text):
            length += len(part)
            if length <= longest or not parts:
                parts.append(part[:longest])
            if part.endswith("\n"):
                yield from _value(parts, length, longest)
                parts, length = [], 0
    yield from _value(parts, length, longest)


def _value(parts: list[str], length: int, longest: int) -> Iterator[object]:
    line = "".join(parts).lstrip()
    if not line.startswith(("{", "[")):
        return
    if length > longest:
        yield Oversized(length)
        return
    try:
        yield json.loads(line)
    except (ValueError, RecursionError):
        return


_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|$)"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
)


def plain(text: str) -> str:
    """Text without terminal escapes, for matching only: what a person would read."""
    return _ESCAPES.sub("", text)
