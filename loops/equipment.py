"""What the runner needs of the world to move one session on; the real world is in loops.stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from loops.agents.base import Control, Reply
from loops.engine.contracts import Criterion
from loops.engine.values import Role
from loops.interface import Collected
from loops.sight import Sight
from loops.workspaces import Base, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One iteration to perform. agent: which worker of the pool or which verifier; "" where the
    role has one. reference: "S-3/7". criteria: those in force. repeats: the step was interrupted
    just before, so a CLI may go on with its conversation."""

    role: Role
    agent: str = ""
    number: int
    reference: str
    prompt: str
    criteria: tuple[Criterion, ...] = ()
    repeats: bool = False


class Equipment(Protocol):
    """One session's tools, used by one thread under one lease."""

    workspace: Workspace

    def open(self) -> Base:
        """Make the workspace usable (idempotent). Raises workspaces.Unusable with a sentence."""

    def keep(self, number: int) -> None:
        """The workspace was stamped at the end of iteration `number` (0: the base): keep that
        where other hosts reach it, if there is such a place. Never inside a transaction."""

    def reveal(self, role: Role, agent: str) -> tuple[str, ...]:
        """Get ready the next call of that agent; the values that its output must not keep. Raises
        DomainError for a credential that is not there."""

    def run_script(self, control: Control) -> int | None:
        """The done script's exit code on the tree as it is; None when there is none."""

    def perform(self, work: Work, sight: Sight, control: Control) -> tuple[Reply, Collected]:
        """Run the role's agent with the agents' interface open. On return its process tree is
        gone and the interface is closed: nothing of this iteration can be written any more."""

    def close(self) -> None:
        """Give back what is held (file lock, threads)."""
