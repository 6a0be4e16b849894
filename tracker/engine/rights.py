"""What a person's role lets them do."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Role(StrEnum):
    """What a person is in a project, or in all of them."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


class Right(StrEnum):
    """SEE: read everything. OPERATE: start and steer loops, decide, file, edit. ADMINISTER: set up
    projects and agents, grant roles."""

    SEE = "see"
    OPERATE = "operate"
    ADMINISTER = "administer"


_LADDER = tuple(Role)
_NEEDS = {Right.SEE: Role.VIEWER, Right.OPERATE: Role.OPERATOR, Right.ADMINISTER: Role.ADMIN}


def needed(right: Right) -> Role:
    """Return the least role that has the right."""
    return _NEEDS[right]


def has(role: Role | None, right: Right) -> bool:
    return role is not None and _LADDER.index(role) >= _LADDER.index(_NEEDS[right])


def highest(roles: Iterable[Role]) -> Role | None:
    return max(roles, key=_LADDER.index, default=None)
