"""Hears a CLI while it runs: its lines become events, events become readable lines and facts.

Stands between the process and the runner's Control: what the CLI prints is kept readable, and time
that it spends on retries of its own is counted (the third timer beside wall clock and silence).
"""

from __future__ import annotations

import codecs
import json
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from loops.agents.base import Control, ProcessIdentity
from loops.agents.cli.adapter import Reader
from loops.agents.cli.lines import lines
from loops.agents.events import Event, Kind
from loops.agents.output import LONGEST_JSON, LONGEST_PIECE, plain
from loops.agents.redact import Redactor

_PROGRESS = (Kind.TEXT, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.DONE)
_LAST_WORDS = 20
LONGEST_REASON = 2_000
_LINES = re.compile("[^\n]*\n|[^\n]+")


@dataclass
class Heard:
    """What counts for the outcome. last_error: of the service or the CLI, after which nothing was
    done any more. last_words: lines that were no events, such as the error stream."""

    conversation: str = ""
    done: Event | None = None
    last_error: Event | None = None
    last_retry: Event | None = None
    has_begun: bool = False
    last_words: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_WORDS))

    def note(self, event: Event) -> None:
        self.conversation = event.conversation or self.conversation
        match event.kind:
            case Kind.ERROR:
                self.last_error = event
            case Kind.RETRY:
                self.last_retry = _with_reason(event, self.last_retry)
            case Kind.DONE:
                self.done = event
                self.last_error = None if event.ok else self.last_error
            case Kind.RAW if event.text.strip():
                self.last_words.append(event.text.strip())
        if event.kind in _PROGRESS:
            self.last_retry, self.has_begun = None, True


def _with_reason(retry: Event, before: Event | None) -> Event:
    """A CLI that tries again and again names the reason only once."""
    if before is None or retry.status:
        return retry
    text = retry.text if before.text in retry.text else f"{before.text}\n{retry.text}"
    return replace(retry, status=before.status, text=text[-LONGEST_REASON:])


class Listener:
    """A Control in front of another one. Used by the thread that runs the call."""

    def __init__(
        self,
        control: Control,
        reader: Reader,
        secrets: Sequence[str],
        retry_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        remember: Callable[[str], None] = lambda conversation: None,
    ) -> None:
        self.heard = Heard()
        self.reader = reader
        self.is_cut_off = False
        self._control = control
        self._redactor = Redactor(secrets)
        self._retry_seconds = retry_seconds
        self._clock = clock
        self._remember = remember
        self._retrying_since: float | None = None
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._parts: list[str] = []
        self._length = 0
        self._waiting = b""

    def started(self, process: ProcessIdentity) -> None:
        self._control.started(process)

    def output(self, data: bytes) -> bool:
        if not self._hand_over():
            return False
        self._waiting = "".join(self._read(self._decode(data))).encode("utf-8", "replace")
        self._hand_over()
        return True

    def must_stop(self) -> bool:
        self.is_cut_off = self.is_cut_off or self._retries_too_long()
        return self.is_cut_off or self._control.must_stop()

    def close(self, patience: float) -> None:
        """The last line, and what found no room yet; at most `patience` seconds."""
        until = self._clock() + patience
        rest = [*self._read(self._decode(b"", True)), *self._line_ends()]
        while not self._hand_over() and self._clock() < until:
            time.sleep(0.02)
        self._waiting += "".join(rest).encode("utf-8", "replace")
        while not self._hand_over() and self._clock() < until:
            time.sleep(0.02)

    def _hand_over(self) -> bool:
        if self._waiting and self._control.output(self._waiting) is False:
            return False
        self._waiting = b""
        return True

    def _read(self, text: str) -> Iterator[str]:
        """Readable lines of the lines that `text` completes."""
        for part in _LINES.findall(text):
            self._parts.append(part)
            self._length += len(part)
            if part.endswith("\n") or self._is_too_long():
                yield from self._line_ends()

    def _is_too_long(self) -> bool:
        """Noise is handed on in pieces; an event is waited for, as far as memory allows."""
        longest = LONGEST_JSON if self._parts[0].startswith("{") else LONGEST_PIECE
        return self._length > longest

    def _line_ends(self) -> Iterator[str]:
        line, self._parts, self._length = "".join(self._parts), [], 0
        if not line.strip():
            return
        for event in self._events(line):
            event = replace(event, text=self._redactor.whole(event.text))
            before = self.heard.conversation
            self.heard.note(event)
            if self.heard.conversation != before:
                self._remember(self.heard.conversation)
            self._time(event)
            yield lines(event)

    def _events(self, line: str) -> Iterable[Event]:
        try:
            value = json.loads(line) if line.lstrip().startswith("{") else None
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return self.reader.read(value)
        return (Event(kind=Kind.RAW, text=plain(line).replace("\0", "")),)

    def _time(self, event: Event) -> None:
        if event.kind in _PROGRESS:
            self._retrying_since = None
        elif event.kind is Kind.RETRY and self._retrying_since is None:
            self._retrying_since = self._clock()

    def _retries_too_long(self) -> bool:
        """Also when the CLI says that it will be: a person sees the limit at once, not later."""
        if self._retrying_since is None:
            return False
        retry = self.heard.last_retry
        announced = (retry.wait_seconds or 0.0) if retry else 0.0
        spent = self._clock() - self._retrying_since
        return max(spent, announced) > self._retry_seconds
