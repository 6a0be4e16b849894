"""Equipment for closing the step of a host that is gone. Its clone is out of reach, so what counts
is the last tree that is known: the snapshot elsewhere, else what the step found."""

from __future__ import annotations

from collections.abc import Iterable

from loops import keeping
from loops.agents.base import Control, Reply
from loops.engine.values import Role
from loops.equipment import Work
from loops.interface import Collected
from loops.models import Session
from loops.sight import Sight
from loops.workspaces import Base, Boundary, Tree


def equip(session: Session) -> Afar:
    return Afar(session)


class Known:
    """Stands for the workspace: it shows one tree and can look into none."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def boundary(
        self, before: Tree, *, number: int, may_change: bool, done_signalled: bool
    ) -> Boundary:
        kept = keeping.snapshot_of(self.session)
        if kept is None:
            return Boundary(rev=before.rev, head=before.head)
        note = (
            f"The host {self.session.kept['host']} was lost in iteration {number}; the session "
            f"goes on from its snapshot of {keeping.of_what(self.session)}."
        )
        return Boundary(rev=kept.rev, head=kept.head, notes=(note,))

    def missing(self, commits: Iterable[str], head: str) -> frozenset[str]:
        return frozenset()

    def blob(self, path: str) -> str:
        return ""

    def added_and_changed(self, a_rev: str, b_rev: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (), ()

    def diff(self, a_rev: str, b_rev: str) -> str:
        return ""


class Afar:
    """No agent and no script ever runs with it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.workspace = Known(session)

    def open(self) -> Base:
        return Base(self.session.base_rev, self.session.base_head)

    def keep(self, number: int) -> None:
        """Nothing is new."""

    def reveal(self, role: Role, agent: str) -> tuple[str, ...]:
        raise NotImplementedError

    def run_script(self, control: Control) -> int | None:
        raise NotImplementedError

    def perform(self, work: Work, sight: Sight, control: Control) -> tuple[Reply, Collected]:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is held."""
