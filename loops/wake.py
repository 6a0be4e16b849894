"""Wake-ups: the broker carries them, the database is the truth; losing them loses seconds."""

from __future__ import annotations

import logging
from functools import partial

import redis
from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

TASK = "loops.tasks.run_session"
QUEUE = "iterations"
log = logging.getLogger(__name__)
_MARK_SECONDS = 60  # a wake-up that got lost between mark and message is sent again after this


def _broker() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)


def wake(session_id: int) -> None:
    """Ask a worker to look at the session. At most one message waits for it in the queue.

    The mark says that a message is under way; it lives in the broker beside the queue, so whatever
    loses one loses both, and an empty queue makes it void: a worker that was killed may have taken
    the message with it. A broken broker never fails the caller; the clock asks again.
    """
    try:
        broker = _broker()
        if broker.set(_mark(session_id), 1, nx=True, ex=_MARK_SECONDS) or not broker.llen(QUEUE):
            current_app.send_task(TASK, args=[session_id], queue=QUEUE)
    except (redis.RedisError, OperationalError, OSError) as error:
        log.warning("no wake-up for S-%s: %s", session_id, error)


def woken(session_id: int) -> None:
    """The message arrived: the next wake-up may be sent."""
    try:
        _broker().delete(_mark(session_id))
    except redis.RedisError as error:
        log.warning("mark of S-%s stays: %s", session_id, error)


def wake_on_commit(session_id: int) -> None:
    transaction.on_commit(partial(wake, session_id))


def _mark(session_id: int) -> str:
    return f"loopwatch:woken:{session_id}"
