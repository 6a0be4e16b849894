"""Live updates inside one web process: one subscription, many viewers.

Frames to a page (JSON, each with the topic's number `seq`):
    {"hello": true, "seq": 41}     right after joining: a page that stands elsewhere fetches
    {"seq": 44, "after": 41, "parts": ["rows"], "output": [{"iteration", "seq", "text", ...}]}
                                   at most 10 a second and topic. `after` is where a page must
                                   stand to need nothing else; null after a loss
    {"beat": true, "seq": 44}      every second while the broker answers
    {"engine": true}               the clock has ticked
    {"resync": true, "seq": 44}    the broker was away: whatever was said meanwhile is lost
    {"lagged": true}               this viewer was too slow; frames were left out
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

import redis.asyncio
from django.conf import settings

from loops import live

FRAME_EVERY = 0.1  # seconds
BEAT_EVERY = 1.0
LONGEST_QUEUE = 64  # frames that wait for one viewer
SHORTEST_WAIT, LONGEST_WAIT = 0.1, 2.0  # seconds between tries to reach the broker
PATIENCE = 2.0  # seconds that a new viewer waits for the subscription
log = logging.getLogger(__name__)


def text_of(frame: dict[str, Any]) -> str:
    return json.dumps(frame, separators=(",", ":"))


_LAGGED = text_of({"lagged": True})
_ENGINE = text_of({"engine": True})


class Viewer:
    """One page's socket. `send` may be slow; push() never waits and keeps LONGEST_QUEUE frames."""

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._queue: deque[str] = deque()
        self._filled = asyncio.Event()

    def push(self, text: str) -> None:
        if len(self._queue) >= LONGEST_QUEUE:
            self._queue.clear()
            text = _LAGGED
        self._queue.append(text)
        self._filled.set()

    async def run(self) -> None:
        """Sends until cancelled; ends with the error of `send`."""
        while True:
            await self._filled.wait()
            self._filled.clear()
            while self._queue:
                await self._send(self._queue.popleft())


class Topic:
    """Viewers of one topic and what is to be said to them next."""

    def __init__(self) -> None:
        self.viewers: set[Viewer] = set()
        self.seq: int | None = None
        self._after: int | None = None
        self._parts: dict[str, None] = {}
        self._output: list[dict[str, Any]] = []
        self._timer: asyncio.TimerHandle | None = None  # there while something waits
        self._said_at = 0.0

    def take(self, seq: int, change: dict[str, Any]) -> None:
        is_next = self.seq is None or seq == self.seq + 1
        if self._timer is None:
            self._after = seq - 1
        if not is_next:
            self._after = None
        self.seq = seq
        self._parts.update(dict.fromkeys(change.get("parts", ())))
        self._output = live.bounded([*self._output, *change.get("output", ())])
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._said_at + FRAME_EVERY), self.say)

    def say(self) -> None:
        """Send what waits, if anything does, as one frame."""
        if self._timer is None:
            return
        self._timer.cancel()
        frame: dict[str, Any] = {"seq": self.seq, "after": self._after}
        if self._parts:
            frame["parts"] = list(self._parts)
        if self._output:
            frame["output"] = self._output
        self._parts, self._output, self._timer = {}, [], None
        self._said_at = asyncio.get_running_loop().time()
        self.push(text_of(frame))

    def push(self, text: str) -> None:
        for viewer in self.viewers:
            viewer.push(text)


class Hub:
    """Belongs to one event loop; close() ends its tasks."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._topics: dict[str, Topic] = {}
        self._connected = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._owes_resync = False
        self._counts = redis.asyncio.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)

    async def join(self, name: str, viewer: Viewer) -> None:
        if not self._tasks:
            self._tasks = [asyncio.create_task(work()) for work in (self._listen, self._beat)]
        topic = self._topics.setdefault(name, Topic())
        topic.viewers.add(viewer)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._connected.wait(), PATIENCE)
        seqs = await self._sequences([name]) if self._connected.is_set() else None
        if seqs is None:
            self._owes_resync = True
        else:
            viewer.push(text_of({"hello": True, "seq": seqs[0]}))

    def leave(self, name: str, viewer: Viewer) -> None:
        topic = self._topics.get(name)
        if topic is None:
            return
        topic.viewers.discard(viewer)
        if not topic.viewers:
            del self._topics[name]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._counts.aclose()

    async def _listen(self) -> None:
        wait = SHORTEST_WAIT
        while True:
            try:
                async with (
                    redis.asyncio.Redis.from_url(self._url, socket_connect_timeout=2) as broker,
                    broker.pubsub() as subscription,
                ):
                    await subscription.subscribe(live.CHANNEL)
                    async for message in subscription.listen():
                        if message["type"] == "subscribe":  # also when the library reconnected
                            wait = SHORTEST_WAIT
                            await self._on_connection()
                        else:
                            self._hear(message["data"].decode())
            except (redis.RedisError, OSError) as error:
                if self._connected.is_set():
                    log.warning("live updates wait for the broker: %s", error)
            self._owes_resync = self._owes_resync or self._connected.is_set()
            self._connected.clear()
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))
            wait = min(wait * 2, LONGEST_WAIT)

    async def _on_connection(self) -> None:
        is_again = self._owes_resync or self._connected.is_set()
        self._connected.set()
        self._owes_resync = False
        if is_again:
            await self._say_everywhere({"resync": True})

    def _hear(self, text: str) -> None:
        head, brace, body = text.partition("{")
        heard = [word.rpartition("=") for word in head.split()]
        topics = [(self._topics[name], int(seq)) for name, _, seq in heard if name in self._topics]
        if any(name == live.ENGINE for name, _, _ in heard):
            for topic in self._topics.values():
                topic.push(_ENGINE)
        if topics:
            change = json.loads(brace + body)
            for topic, seq in topics:
                topic.take(seq, change)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_EVERY)
            if self._connected.is_set() and self._topics:
                await self._say_everywhere({"beat": True})

    async def _say_everywhere(self, frame: dict[str, Any]) -> None:
        """To each topic with its number; to nobody when the broker does not tell the numbers."""
        names = list(self._topics)
        seqs = await self._sequences(names)
        for name, seq in zip(names, seqs or (), strict=False):
            if topic := self._topics.get(name):
                topic.say()
                topic.push(text_of({**frame, "seq": seq}))

    async def _sequences(self, names: list[str]) -> list[int] | None:
        if not names:
            return []
        try:
            return [int(n or 0) for n in await self._counts.mget(list(map(live.key_of, names)))]
        except (redis.RedisError, OSError):
            return None


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(settings.REDIS_URL)
    return _hubs[loop]
