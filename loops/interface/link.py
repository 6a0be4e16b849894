"""One connection to the agents' interface: request and answer come and go in pieces."""

from __future__ import annotations

import contextlib
import socket
import time

MOST_REQUEST = 8 * 1024 * 1024
"""Bytes of one request: more than a client reads from its standard input."""
SECONDS = 20.0
"""For a request to arrive whole, and again for its answer to be taken."""

_PREFIX = 4


class Link:
    """Never blocks outside `flush`, never raises for what the other side does: it is `finished`."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.deadline = time.monotonic() + SECONDS
        self.answered = False
        self.finished = False
        self._incoming = bytearray()
        self._outgoing = memoryview(b"")

    def receive(self) -> bytes | None:
        """The request's body once it is complete, b"" as soon as it is known to be too long."""
        try:
            part = self.connection.recv(1 << 18)
        except BlockingIOError:
            return None
        except OSError:
            part = b""
        self._incoming += part
        if not part:
            self.finished = True
            return None
        if self._size() > MOST_REQUEST:
            return b""
        complete = len(self._incoming) >= _PREFIX + self._size()
        return bytes(self._incoming[_PREFIX:]) if complete else None

    def answer(self, body: bytes) -> None:
        self.answered = True
        self.deadline = time.monotonic() + SECONDS
        self._incoming.clear()
        self._outgoing = memoryview(len(body).to_bytes(_PREFIX, "big") + body)
        self.send()

    def send(self) -> None:
        """Write what the other side takes now."""
        try:
            while self._outgoing:
                self._outgoing = self._outgoing[self.connection.send(self._outgoing) :]
        except BlockingIOError:
            return
        except OSError:
            pass
        self.finished = True

    def flush(self, deadline: float) -> None:
        """Write the rest, waiting until `deadline` (monotonic seconds) at most."""
        if self.finished:
            return
        self.connection.settimeout(max(deadline - time.monotonic(), 0.001))
        with contextlib.suppress(OSError):
            self.connection.sendall(self._outgoing)
        self.finished = True

    def _size(self) -> int:
        if len(self._incoming) < _PREFIX:
            return _PREFIX
        return int.from_bytes(self._incoming[:_PREFIX], "big")
