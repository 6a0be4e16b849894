"""`manage.py clock`: calls loops.clockwork.tick() every second, whatever happens to it."""

from __future__ import annotations

import logging
import signal
import threading
import time
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connections
from django.utils import timezone

from loops.clockwork import Clockwork
from tracker.commands import DJANGO_OPTIONS

SECOND = 1.0
log = logging.getLogger("loops.clock")


class Command(BaseCommand):
    help = "Runs what is due every second (part of `up`)."
    suppressed_base_arguments = DJANGO_OPTIONS

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        run(stop)


def run(stop: threading.Event) -> None:
    """Ticks until told to stop. An outage (database, broker) costs one line, not the clock."""
    trouble = ""
    clockwork = Clockwork()
    due = time.monotonic()
    while not stop.is_set():
        now_trouble = _tick(clockwork)
        if now_trouble != trouble:
            log.warning("%s", now_trouble or "works again")
            trouble = now_trouble
        due = max(due + SECOND, time.monotonic())  # late ticks are left out, not made up for
        stop.wait(due - time.monotonic())
    connections.close_all()


def _tick(clockwork: Clockwork) -> str:
    """Why the tick failed, "" if it did not."""
    try:
        clockwork.tick(timezone.now())
    except Exception as fault:
        connections.close_all()  # a connection that broke is opened anew by the next tick
        # PostgreSQL's further lines quote the statement, in which each second has another time.
        why = next(iter(str(fault).splitlines()), "")
        return f"a tick failed, the clock goes on: {type(fault).__name__}: {why}"
    return ""
