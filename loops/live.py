"""The only publisher of live updates: after the commit, one message to every web process.

A message names topics, each with its new sequence number, and what changed:
    session-7=42 project-3=9 all=117 {"parts": ["status", "rows"]}
The broker counts (INCR) and publishes in one step, so messages arrive in the order of their
numbers. It may lose any of them and may forget the numbers: pages compare numbers (loops.hub) and
fetch, and the clock publishes again what was committed and never said (loops.heartbeat).
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

import redis
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from redis.backoff import NoBackoff
from redis.retry import Retry

CHANNEL = "loopwatch:live"
ALL = "all"  # pages that list things
ENGINE = "engine"  # the clock's sign of life; goes to every page

# Names of parts as in the templates (data-part); a page fetches those that it shows.
STATE = ("status", "actions", "notice", "deliver", "lineage", "before", "index")
STEP = (*STATE, "timeline", "rows", "iteration", "why", "limits", "edits", "cost")
TRACKER = ("why", "edits", "timeline", "notice", "board", "entry", "list", "index")
QUESTIONS = ("notice", "status", "queue", "evidence", "index")

_json = json.JSONEncoder(separators=(",", ":")).encode
LONGEST_OUTPUT = 64 * 1024  # characters of output in one message; pages fetch what is longer
REST_SECONDS = 1.0  # after a failure: nobody waits for a broken broker twice in a row
Piece = tuple[int, int, str, datetime]  # of an iteration: its number, sequence, text, time
log = logging.getLogger(__name__)

_COUNT_AND_PUBLISH = """
local said = {}
for i, key in ipairs(KEYS) do said[i] = ARGV[i + 2] .. '=' .. redis.call('INCR', key) end
redis.call('PUBLISH', ARGV[1], table.concat(said, ' ') .. ' ' .. ARGV[2])
"""


def session_topic(session_id: int) -> str:
    return f"session-{session_id}"


def project_topic(project_id: int) -> str:
    return f"project-{project_id}"


def key_of(topic: str) -> str:
    """Where the broker keeps a topic's number."""
    return f"{CHANNEL}:{topic}"


def session_changed(session_id: int, project_id: int, parts: Iterable[str]) -> None:
    """Something that these parts show changed; said when the transaction commits."""
    publish((session_topic(session_id), project_topic(project_id), ALL), parts=parts)


def tracker_changed(project_id: int, session_ids: Iterable[int]) -> None:
    """session_ids: sessions whose pages show this tracker."""
    sessions = map(session_topic, session_ids)
    publish((*sessions, project_topic(project_id), ALL), parts=TRACKER)


def output(session_id: int, number: int, pieces: Iterable[tuple[int, str, datetime]]) -> None:
    """Pieces (sequence, text, time) of the iteration with that number."""
    if said := [(number, *one) for one in pieces]:
        publish((session_topic(session_id),), output=said)


def piece(seq: int, text: str, at: datetime) -> dict[str, Any]:
    """A piece of output as scripts get it. clock: the time as the lines of the log show it."""
    shown = f"{timezone.localtime(at):%H:%M:%S}"
    return {"seq": seq, "text": text, "at": at.isoformat(), "clock": shown}


@dataclass
class Change:
    """What is said of some topics at the next commit. parts: names, in order, each once."""

    parts: dict[str, None] = field(default_factory=dict)
    output: list[Piece] = field(default_factory=list)

    def message(self) -> str:
        said: dict[str, Any] = {}
        if self.parts:
            said["parts"] = list(self.parts)
        if self.output:
            said["output"] = bounded([{"iteration": n, **piece(*one)} for n, *one in self.output])
        return _json(said)


def bounded(pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pieces, or for too much text only where each iteration's ends: pages fetch it then."""
    if sum(len(piece.get("text", "")) for piece in pieces) <= LONGEST_OUTPUT:
        return pieces
    ends = {piece["iteration"]: piece["seq"] for piece in pieces}
    return [{"iteration": number, "seq": seq} for number, seq in ends.items()]


class _Waiting(threading.local):
    def __init__(self) -> None:
        self.changes: dict[tuple[str, ...], Change] = {}


_waiting = _Waiting()


def publish(
    topics: tuple[str, ...], *, parts: Iterable[str] = (), output: Iterable[Piece] = ()
) -> None:
    """Say at the commit (outside a transaction: now) what changed. All that one transaction says
    of the same topics is one message. Never raises for a broken broker."""
    link = transaction.get_connection()
    if not link.in_atomic_block:
        send(topics, Change(dict.fromkeys(parts), list(output)).message())
        return
    is_waiting = any(hook[1] is _say for hook in link.run_on_commit)
    if not is_waiting:
        _waiting.changes.clear()  # what a transaction said that was rolled back
    change = _waiting.changes.setdefault(topics, Change())
    change.parts.update(dict.fromkeys(parts))
    change.output.extend(output)
    if not is_waiting:
        link.on_commit(_say, robust=True)


def engine_ticked() -> None:
    send((ENGINE,), "{}")


def sequences(topics: Iterable[str]) -> list[int] | None:
    """The topics' numbers, 0 where nothing was ever said; None while the broker is silent."""
    keys = [key_of(topic) for topic in topics]
    try:
        return [int(value or 0) for value in _broker(settings.REDIS_URL).mget(keys)] if keys else []
    except (redis.RedisError, OSError):
        return None


def sequence(topic: str) -> int:
    """The topic's number, for a page that is about to read its rows: before them, so that a change
    in between is fetched again rather than missed."""
    found = sequences([topic])
    return found[0] if found else 0


def _say() -> None:
    changes, _waiting.changes = _waiting.changes, {}
    for topics, change in changes.items():
        if not _is_resting():
            send(topics, change.message())


_rests_until = float("-inf")


def _is_resting() -> bool:
    return time.monotonic() < _rests_until


def send(topics: tuple[str, ...], body: str) -> bool:
    """Count and publish at once. False when the broker did not take it."""
    global _rests_until
    if _is_resting():
        return False
    try:
        _script(settings.REDIS_URL)(
            keys=[key_of(topic) for topic in topics], args=[CHANNEL, body, *topics]
        )
    except (redis.RedisError, OSError) as error:
        if _rests_until == float("-inf"):
            log.warning("live updates are not sent: %s", error)
        _rests_until = time.monotonic() + REST_SECONDS
        return False
    _rests_until = float("-inf")
    return True


@cache
def _broker(url: str) -> redis.Redis:
    # One try more, at once: the connection of the pool may be from before a restart.
    return redis.Redis.from_url(
        url, socket_timeout=0.5, socket_connect_timeout=0.5, retry=Retry(NoBackoff(), 1)
    )


@cache
def _script(url: str) -> Any:
    return _broker(url).register_script(_COUNT_AND_PUBLISH)
