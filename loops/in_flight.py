"""The iteration that a session has in flight, as the loop carries it from claim to record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from loops.engine.values import Role, Stamp
from loops.models import Iteration


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """What its row holds of its claim. A model instance costs as much as a whole statement."""

    id: int
    session_id: int
    number: int
    role: Role
    fence: int
    before: Stamp
    claimed_at: int

    @classmethod
    def of(cls, row: Iteration) -> Self:
        return cls(
            id=row.pk,
            session_id=row.session_id,
            number=row.number,
            role=Role(row.role),
            fence=row.fence,
            before=Stamp(**row.before),
            claimed_at=row.claimed_at_seq,
        )

    def __str__(self) -> str:
        return f"S-{self.session_id}/{self.number}"
