"""What the engine does every second (`manage.py clock`), and how others see that it does.

The sign of life is the time of one file in the data folder: a row would cost a durable commit
every second on an idle machine.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from loops import recovery, stage
from loops.heartbeat import Heartbeat

_heart = Heartbeat()


def tick(now: datetime) -> None:
    """One second's work; may raise, the clock goes on."""
    recovery.sweep(stage.equip)
    beat(now)
    _heart.beat(now)


def beat(now: datetime) -> None:
    path = _sign_of_life()
    path.touch(mode=0o600)
    os.utime(path, (now.timestamp(), now.timestamp()))


def age_seconds(now: datetime) -> float | None:
    """Seconds since the last beat, at least 0; None before the first."""
    try:
        last = datetime.fromtimestamp(_sign_of_life().stat().st_mtime, UTC)
    except FileNotFoundError:
        return None
    return max(0.0, (now - last).total_seconds())


def _sign_of_life() -> Path:
    return Path(settings.DATA) / "clock"
