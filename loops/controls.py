"""What the runner offers a program while it runs (agents.base.Control)."""

from __future__ import annotations

from dataclasses import asdict

from loops.agents.base import ProcessIdentity
from loops.agents.output import OutputWriter
from loops.leases import Lease
from loops.models import Session
from loops.points import point


class Watched:
    """A program whose output is not kept. Its tree goes on record before it starts."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease

    def started(self, process: ProcessIdentity) -> None:
        Session.objects.filter(pk=self.lease.session_id, fence=self.lease.fence).update(
            process=asdict(process)
        )
        point("agent started")

    def output(self, data: bytes) -> bool:
        return True

    def must_stop(self) -> bool:
        return self.lease.must_stop()


class Controls(Watched):
    """An agent's call, whose output is kept."""

    def __init__(self, lease: Lease, writer: OutputWriter) -> None:
        super().__init__(lease)
        self.writer = writer

    def output(self, data: bytes) -> bool:
        return self.writer.write(data)
