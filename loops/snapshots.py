"""The only translation from rows to engine values: a session's folded state, kept current."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from loops import statements
from loops.engine import controllers
from loops.engine.contracts import Criterion
from loops.engine.controllers import Controller
from loops.engine.values import Config, Configured, Directive, Entry, Evidence, Fault, Recorded
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
        fold = cls._kept(session) or cls.empty(session)
        fold.catch_up(session)
        return fold

    @classmethod
    def as_of(cls, session: Session, seq: int) -> Fold:
        """As the log stood at entry `seq`; from the cache where that is not newer."""
        kept = cls._kept(session)
        fold = kept if kept is not None and kept.seq <= seq else cls.empty(session)
        fold.fold_to(session, seq)
        return fold

    @classmethod
    def _kept(cls, session: Session) -> Fold | None:
        state = None if session.fold is None else controllers.state_from_json(session.fold)
        if state is None:
            return None
        return cls(controllers.controller_of(session.pattern), state, session.fold_seq)

    @classmethod
    def empty(cls, session: Session) -> Fold:
        """Before the first entry of the log."""
        controller = controllers.controller_of(session.pattern)
        return cls(controller, controller.initial(_first_config(session)), 0)

    def catch_up(self, session: Session) -> None:
        """Fold what others appended: decisions, human events, configuration."""
        if session.log_seq != self.seq:
            self.fold_to(session, None)

    def fold_to(self, session: Session, last: int | None) -> None:
        """Fold the entries up to `last` (None: all). Raises LogUnusable."""
        for entry in entries(session, after=self.seq, last=last):
            self.apply(entry, session)

    def apply(self, entry: Entry, session: Session) -> None:
        try:
            self.state = self.controller.apply(self.state, entry)
        except ValueError as damage:
            raise _unusable(session, damage) from damage
        self.seq = entry.seq

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


def entries(session: Session, *, after: int = 0, last: int | None = None) -> Iterator[Entry]:
    """The log's entries in order, read in short queries: nothing stays open while they are used."""
    while True:
        rows = LogEntry.objects.filter(session=session.pk, seq__gt=after).order_by("seq")
        if last is not None:
            rows = rows.filter(seq__lte=last)
        found = list(rows.values_list("seq", "kind", "payload")[:500])
        for seq, kind, payload in found:
            try:
                yield controllers.entry_from_json(seq, kind, payload)
            except ValueError as damage:
                raise _unusable(session, damage) from damage
            after = seq
        if len(found) < 500:
            return


def _unusable(session: Session, damage: ValueError) -> LogUnusable:
    return LogUnusable(f"The log of {session.ref} cannot be used: {damage}")


def _first_config(session: Session) -> Config:
    """Every log begins with the configuration that was frozen at the start."""
    first = LogEntry.objects.filter(session=session, seq=1).values_list("kind", "payload").first()
    entry = controllers.entry_from_json(1, *first) if first else None
    if not isinstance(entry, Configured):
        raise LogUnusable(f"The log of {session.ref} does not begin with a configuration.")
    return entry.config
