"""One request under the limits of its call: it runs in a thread, the caller's thread watches.

The request is asynchronous so that it can be given up at any moment: a blocked read of a
synchronous client ends only with its time limit. Control and contract are called from the caller's
thread alone, where no event loop runs (they may use the database).
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from loops.agents.base import Call, Control, Reply
from loops.agents.endpoint.services import Spoken
from loops.agents.process import seconds_since_boot
from loops.agents.redact import Redactor
from loops.engine.values import Fault

TICK_SECONDS = 0.1
FULL_SECONDS = 0.02
JOIN_SECONDS = 2.0
Hear = Callable[[str], None]
Asking = Callable[[Hear], Coroutine[Any, Any, Spoken]]


class Halted(Exception):
    """A limit was reached or the right to run is gone."""

    def __init__(self, fault: Fault, detail: str) -> None:
        self.reply = Reply(fault=fault, detail=detail)


class Watch:
    """The limits of one call, over all its requests, and the way of its output to the store."""

    def __init__(self, call: Call, control: Control, secrets: Iterable[str]) -> None:
        self._call = call
        self._control = control
        self._redactor = Redactor(secrets)
        self._started_at = self._heard_at = seconds_since_boot()
        self._line_is_open = False

    def hear(self) -> None:
        self._heard_at = seconds_since_boot()

    def check(self) -> None:
        """Raises Halted."""
        call, now = self._call, seconds_since_boot()
        if self._control.must_stop():
            raise Halted(Fault.WORKER_LOST, "The agent was stopped: the right to run was gone.")
        if now - self._started_at > call.wall_seconds:
            raise Halted(
                Fault.WALL_CLOCK,
                f"The agent ran longer than {call.wall_seconds:g} s and was stopped.",
            )
        if now - self._heard_at > call.silence_seconds:
            raise Halted(
                Fault.SILENCE,
                f"The endpoint sent nothing for {call.silence_seconds:g} s and was given up.",
            )

    def say(self, text: str) -> None:
        """Text of the model, as it comes. Raises Halted."""
        if text:
            self._line_is_open = not text.endswith("\n")
            self._deliver(self._redactor.feed(text))

    def end_line(self) -> None:
        """What was held back, and a line break where one is missing. Raises Halted."""
        self._deliver(self._redactor.finish() + ("\n" if self._line_is_open else ""))
        self._line_is_open = False

    def note(self, sentence: str) -> None:
        """A line of our own. Raises Halted."""
        self.end_line()
        self.say(f"! {sentence}\n")
        self.end_line()

    def _deliver(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data and self._control.output(data) is False:
            self.hear()  # the store is full: that is no silence of the endpoint
            self.check()
            time.sleep(FULL_SECONDS)

    def request(self, ask: Asking) -> Spoken:
        """Carry out one request. Raises Halted, or what the request raised."""
        running = _Running(ask)
        self.hear()
        try:
            while True:
                self.check()
                try:
                    came = running.came.get(timeout=TICK_SECONDS)
                except queue.Empty:
                    continue
                self.hear()
                if isinstance(came, str):
                    self.say(came)
                elif isinstance(came, BaseException):
                    raise came
                else:
                    return came
        finally:
            running.give_up()


class _Running:
    """came: what was heard, in order, at last the whole or the exception. A text may be empty: then
    it is a sign of life."""

    def __init__(self, ask: Asking) -> None:
        self.came: queue.SimpleQueue[str | Spoken | BaseException] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[Any] | None = None
        self._is_given_up = False
        self._thread = threading.Thread(
            target=self._run, args=(ask,), name="endpoint-request", daemon=True
        )
        self._thread.start()

    def _run(self, ask: Asking) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                self.came.put(runner.run(self._carry_out(ask)))
        except BaseException as error:  # also that it was given up
            self.came.put(error)

    async def _carry_out(self, ask: Asking) -> Spoken:
        if self._is_given_up:
            raise asyncio.CancelledError
        self._task = asyncio.current_task()
        try:
            return await ask(self.came.put)
        finally:
            self._task = None  # what the loop does to end is not to be cancelled

    def give_up(self) -> None:
        """Ends it if it has not ended. Does not wait for a name server that does not answer."""
        with contextlib.suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(self._cancel)
        self._thread.join(JOIN_SECONDS)

    def _cancel(self) -> None:
        self._is_given_up = True
        if self._task is not None:
            self._task.cancel()
