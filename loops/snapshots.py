"""The only translation from rows to engine values: a session's folded state, kept current."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from loops import statements
from loops.engine import controllers
from loops.engine.contracts import Criterion
from loops.engine.controllers import Controller
from loops.engine.values import Config, Configured, Directive, Evidence, Fault, Recorded
from loops.models import LogEntry, Session
from loops.workspaces import Tree
from tracker.errors import DomainError


class LogUnusable(DomainError):
    """The log cannot be understood; nothing is guessed from it (RULES 1: the session fails)."""


@dataclass
class Fold:
    """Engine state at log entry `seq`. O(1) for each new entry; the cached row saves the rest."""

    controller: Controller[Any]
    state: Any
    seq: int
    last_fault: Fault | None = None

    @classmethod
    def load(cls, session: Session) -> Fold:
        """From the cache, then the entries after it. Without a cache: from the first entry."""
        controller = controllers.controller_of(session.pattern)
        state = None if session.fold is None else controllers.state_from_json(session.fold)
        if state is not None:
            fold = cls(controller, state, session.fold_seq)
        else:
            fold = cls(controller, controller.initial(_first_config(session)), 0)
        fold.catch_up(session)
        return fold

    def catch_up(self, session: Session) -> None:
        """Fold what others appended: decisions, human events, configuration."""
        if session.log_seq == self.seq:
            return
        rows = LogEntry.objects.filter(session=session.pk, seq__gt=self.seq).order_by("seq")
        for seq, kind, payload in rows.values_list("seq", "kind", "payload").iterator(500):
            try:
                entry = controllers.entry_from_json(seq, kind, payload)
                self.state = self.controller.apply(self.state, entry)
            except ValueError as damage:
                raise LogUnusable(f"The log of {session.ref} cannot be used: {damage}") from damage
            self.seq = seq

    def record(self, evidence: Evidence, session: Session, at: datetime) -> Recorded:
        """Class the iteration, append it to the log, fold it. save_counts() completes the write."""
        outcome = self.controller.classify(self.state, evidence)
        recorded = Recorded(session.log_seq + 1, evidence, outcome)
        kind, payload = controllers.entry_to_json(recorded)
        statements.append(session, kind, payload, at)
        self.state = self.controller.apply(self.state, recorded)
        self.seq = recorded.seq
        self.last_fault = evidence.fault
        return recorded

    def direct(self) -> Directive:
        return self.controller.direct(self.state)

    def criteria(self) -> tuple[Criterion, ...]:
        """Those in force; none in a pattern without verifiers."""
        found: tuple[Criterion, ...] = getattr(self.state, "criteria", ())
        return found

    def held(self) -> bool:
        """The wait that follows is the agent's own limit, not our back-off."""
        return self.last_fault is Fault.AGENT_LIMIT

    def needs_script(self, tree: Tree, spec: str) -> bool:
        return self.controller.needs_script(self.state, rev=tree.rev, head=tree.head, spec=spec)

    def save(self, session: Session) -> None:
        """Keep the state as a cache; a test compares it with the full fold."""
        Session.objects.filter(pk=session.pk).update(
            fold=controllers.state_to_json(self.state), fold_seq=self.seq
        )


def _first_config(session: Session) -> Config:
    """Every log begins with the configuration that was frozen at the start."""
    first = LogEntry.objects.filter(session=session, seq=1).values_list("kind", "payload").first()
    entry = controllers.entry_from_json(1, *first) if first else None
    if not isinstance(entry, Configured):
        raise LogUnusable(f"The log of {session.ref} does not begin with a configuration.")
    return entry.config
