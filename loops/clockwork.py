"""What the engine does every second (`manage.py clock`), and how others see that it does: by the
host's row, which it writes every other second (each write is a durable commit)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime

from loops import hosts, moment, recovery, stage
from loops.heartbeat import Heartbeat

BEAT_EVERY = 2.0  # seconds


@dataclass
class Clockwork:
    """One process's clock."""

    heart: Heartbeat = field(default_factory=Heartbeat)
    beaten_at: float = float("-inf")

    def tick(self, now: datetime) -> None:
        """One second's work; may raise, the clock goes on."""
        self._beat()  # a long sweep must not make this host look dead
        recovery.sweep(stage.equip)
        self._beat()
        self.heart.beat(now)

    def _beat(self) -> None:
        if time.monotonic() - self.beaten_at >= BEAT_EVERY:
            hosts.beat(moment.now())
            self.beaten_at = time.monotonic()
