"""The socket that one iteration's agent talks to, served by one thread of the process that runs it.

One thread, so requests are carried out one after the other and `close` has one thing to wait for.
Slow or idle connections cost the others nothing: only complete requests are carried out.
"""

from __future__ import annotations

import hmac
import logging
import os
import selectors
import socket
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import connections

from loops.agents.redact import Redactor
from loops.interface.client import pack, unpack
from loops.interface.context import Answer, Collected, Collector, Context
from loops.interface.link import MOST_REQUEST, Link
from loops.interface.verbs import dispatch
from tracker.errors import Invalid

LONGEST_PATH = 106
"""Bytes: what the kernel's address structure holds on every platform, with its end mark."""
MOST_LINKS = 16
"""Connections at once; further ones wait in the kernel's queue and their clients try on."""
LONGEST_KEY = 64
"""Characters of the name that a client gives its request."""
MOST_REMEMBERED = 256
"""Answers kept for repeated keys: a client repeats within a minute."""
GOODBYE_SECONDS = 0.5
"""How long `close` lets the last answers drain."""

OVER = Answer(2, "", "This iteration is over: nothing was done.\n")
STRANGER = Answer(2, "", "This is not the token of the running iteration: nothing was done.\n")
GARBLED = Answer(2, "", "This is not a request of the loopwatch command: nothing was done.\n")
TOO_LONG = Answer(2, "", f"This request is longer than {MOST_REQUEST} bytes; send less.\n")

log = logging.getLogger(__name__)


class Interface:
    """Serves one iteration; a context manager.

    After `close` returns, nothing more is written for this iteration: a request in progress was
    finished, every other one is refused. Close it before reading what the iteration did. `close`
    may be called from any thread but the serving one, and twice, but never inside a transaction:
    the request in progress may be waiting for just that lock.

    Raises Invalid if `path` is too long for a socket or something else than a socket stands there.
    """

    def __init__(self, path: Path, token: str, context: Context) -> None:
        self._path = path
        self._token = token
        self._context = context
        self._collector = Collector()
        self._redactor = Redactor((token, *context.withheld))
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._links: set[Link] = set()
        self._selector = selectors.DefaultSelector()
        self._closing = threading.Event()
        self._one_closes = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="agents-interface", daemon=True)
        self._socket = self._bind()
        self._bound = os.lstat(path)
        self._wake, self._waker = socket.socketpair()

    def __enter__(self) -> Interface:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._thread.start()

    def collected(self) -> Collected:
        """What the agent signalled; final once `close` returned."""
        return self._collector.collected()

    def hand_in(self, argv: Sequence[str], text: str) -> str:
        """A request of this process for an agent that has no tools; "" or the sentence of refusal.
        Not beside requests of an agent: the collector is used by one thread at a time."""
        answer = self._carry_out(argv, text)
        return "" if answer.code == 0 else answer.err.strip()

    def close(self) -> None:
        with self._one_closes:
            if not self._closing.is_set():
                self._closing.set()
                self._shut()

    def _shut(self) -> None:
        if self._thread.ident is not None:
            self._waker.send(b".")
            self._thread.join()
        for thing in (self._selector, self._socket, self._wake, self._waker):
            thing.close()
        self._unlink()

    def _bind(self) -> socket.socket:
        address = os.fsencode(self._path)
        if len(address) > LONGEST_PATH:
            raise Invalid(
                f"The path of the agents' socket is {len(address)} bytes long, at most "
                f"{LONGEST_PATH} work: {self._path}. Choose a shorter data folder."
            )
        try:
            if not stat.S_ISSOCK(os.lstat(self._path).st_mode):
                raise Invalid(f"{self._path} stands where the agents' socket belongs; remove it.")
            os.unlink(self._path)  # left by a process that was killed
        except FileNotFoundError:
            pass
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(address)
        os.chmod(self._path, 0o600)  # before listen: nobody could connect in between
        listener.listen(MOST_LINKS)
        listener.setblocking(False)
        return listener

    def _unlink(self) -> None:
        try:
            found = os.lstat(self._path)
            if (found.st_dev, found.st_ino) == (self._bound.st_dev, self._bound.st_ino):
                os.unlink(self._path)  # not the socket of whoever took the session over
        except FileNotFoundError:
            pass

    # --- the serving thread ---------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                self._turn()
            self._goodbye()
        except Exception:
            log.exception("The agents' interface of %s broke", self._context.reference)
        finally:
            connections.close_all()

    def _turn(self) -> None:
        now = time.monotonic()
        for link in [link for link in self._links if link.deadline <= now]:
            self._drop(link)
        soonest = min((link.deadline for link in self._links), default=now + 60)
        for key, _ in self._selector.select(max(soonest - now, 0.01)):
            if key.fileobj is self._socket:
                self._accept()
            elif isinstance(key.data, Link) and not self._closing.is_set():
                self._serve(key.data)

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:
            time.sleep(0.01)  # gone already, or out of file descriptors: do not spin
            return
        link = Link(connection)
        self._links.add(link)
        self._selector.register(connection, selectors.EVENT_READ, link)
        if len(self._links) >= MOST_LINKS:
            self._selector.unregister(self._socket)

    def _serve(self, link: Link) -> None:
        if not link.answered:
            body = link.receive()
            if body is not None:
                link.answer(_encode(self._reply(body)))
                self._selector.modify(link.connection, selectors.EVENT_WRITE, link)
        else:
            link.send()
        if link.finished:
            self._drop(link)

    def _drop(self, link: Link) -> None:
        if len(self._links) >= MOST_LINKS:
            self._selector.register(self._socket, selectors.EVENT_READ)
        self._links.discard(link)
        self._selector.unregister(link.connection)
        link.connection.close()

    def _reply(self, body: bytes) -> Answer:
        if not body:
            return TOO_LONG
        request = _decode(body)
        if request is None:
            return GARBLED
        if not hmac.compare_digest(request.token.encode("utf-8", "replace"), self._secret()):
            return STRANGER
        known = self._answers.get(request.key)
        if known is not None:
            return known
        answer = self._carry_out(request.argv, request.stdin)
        if answer.code == 1:
            connections.close_all()  # the database may be what failed: the next one connects anew
        self._answers[request.key] = answer
        if len(self._answers) > MOST_REMEMBERED:
            self._answers.popitem(last=False)
        return answer

    def _carry_out(self, argv: Sequence[str], stdin: str) -> Answer:
        words = [self._redactor.whole(word) for word in argv]
        return dispatch(self._context, self._collector, words, self._redactor.whole(stdin))

    def _secret(self) -> bytes:
        return self._token.encode("utf-8", "replace")

    def _goodbye(self) -> None:
        """Answer whoever is still connected or queued, within GOODBYE_SECONDS."""
        while len(self._links) < 10 * MOST_LINKS:
            try:
                self._links.add(Link(self._socket.accept()[0]))
            except OSError:
                break
        deadline = time.monotonic() + GOODBYE_SECONDS
        for link in self._links:
            if not link.answered:
                link.answer(_encode(OVER))
            link.flush(deadline)
            link.connection.close()


def _encode(answer: Answer) -> bytes:
    return pack([str(answer.code), answer.out, answer.err])


@dataclass(frozen=True, slots=True)
class _Request:
    token: str
    key: str
    stdin: str
    argv: list[str]


def _decode(body: bytes) -> _Request | None:
    """The request, or None if it is not one."""
    try:
        token, key, stdin, *argv = unpack(body)
    except ValueError:
        return None
    return _Request(token, key, stdin, argv) if len(key) <= LONGEST_KEY else None
