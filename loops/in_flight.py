"""The iteration that a session has in flight, as the loop carries it from claim to record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from loops.engine.values import Role, Snapshot, Stamp
from loops.models import Iteration


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """What its row holds of its claim. A model instance costs as much as a whole statement.

    goes_to: the tree to put into the clone before the agent may start; None once it stands there.
    repeats: the same step was interrupted just before.
    """

    id: int
    session_id: int
    number: int
    role: Role
    agent: str
    fence: int
    before: Stamp
    claimed_at: int
    goes_to: Snapshot | None = None
    repeats: bool = False

    @classmethod
    def of(cls, row: Iteration) -> Self:
        before = dict(row.before)
        goes_to = before.pop("goes_to", None)
        return cls(
            id=row.pk,
            session_id=row.session_id,
            number=row.number,
            role=Role(row.role),
            agent=row.agent,
            fence=row.fence,
            before=Stamp(**before),
            claimed_at=row.claimed_at_seq,
            goes_to=Snapshot(**goes_to) if goes_to else None,
        )

    def __str__(self) -> str:
        return f"S-{self.session_id}/{self.number}"


def stamp_of(before: Stamp, goes_to: Snapshot | None = None) -> dict[str, Any]:
    """What the row keeps of where the iteration stood, and of the tree it has yet to go to."""
    stamp: dict[str, Any] = {"rev": before.rev, "head": before.head}
    stamp |= {"spec": before.spec, "tracker_seq": before.tracker_seq}
    if goes_to is not None:
        stamp["goes_to"] = {"rev": goes_to.rev, "head": goes_to.head}
    return stamp
