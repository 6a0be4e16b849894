"""Wake-ups: the broker carries them, the database is the truth; losing them loses seconds."""

from __future__ import annotations

import logging
from functools import partial

import redis
from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu import Queue
from kombu.exceptions import OperationalError

from loops.models import Session
from loops.turns import MOVABLE

TASK = "loops.tasks.run_session"
QUEUE = "iterations"
log = logging.getLogger(__name__)
# Longer than a message may wait in a full queue. One that got lost before is sent again as soon as
# the queue is empty; until then the others serve: each is a turn for whoever waited longest.
_MARK_SECONDS = 24 * 3600


def queue_of(host: str) -> str:
    """A session whose clone is on a host is woken there; any host may take a new one."""
    return f"{QUEUE}.{host}" if host else QUEUE


def _broker() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)


def wake(session_id: int) -> None:
    """Ask a worker to look at the session. At most one message waits for it in the queue.

    The mark says that a message is under way; it lives in the broker beside the queue, so whatever
    loses one loses both, and an empty queue makes it void: a worker that was killed may have taken
    the message with it. A broken broker never fails the caller; the clock asks again.
    """
    host = Session.objects.filter(pk=session_id).values_list("host", flat=True).first() or ""
    queue = queue_of(host)
    try:
        broker = _broker()
        if broker.set(_mark(session_id), 1, nx=True, ex=_MARK_SECONDS) or not broker.llen(queue):
            # As an object: the queues of other hosts are in nobody's settings.
            current_app.send_task(TASK, args=[session_id], queue=Queue(queue, routing_key=queue))
    except (redis.RedisError, OperationalError, OSError) as error:
        log.warning("no wake-up for S-%s: %s", session_id, error)


def woken(session_id: int) -> None:
    """The message arrived: the next wake-up may be sent."""
    try:
        _broker().delete(_mark(session_id))
    except redis.RedisError as error:
        log.warning("mark of S-%s stays: %s", session_id, error)


def forward(session_id: int) -> None:
    """A message that reached this host though the session is on another one goes there."""
    pinned = Session.objects.exclude(host__in=("", settings.HOST))
    if pinned.filter(pk=session_id, state__in=MOVABLE, lease_until=None).exists():
        wake(session_id)


def wake_on_commit(session_id: int) -> None:
    transaction.on_commit(partial(wake, session_id))


def _mark(session_id: int) -> str:
    return f"loopwatch:woken:{session_id}"
