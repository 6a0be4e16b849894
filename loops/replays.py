"""Replay: fold the recorded log again and see whether today's rules would say the same.

Nothing is written and nothing outside the log is asked (RULES: same log in, same directive out).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from loops.engine.values import (
    AskHuman,
    Directive,
    EndReason,
    Evidence,
    Finish,
    Outcome,
    Recorded,
    RunRole,
)
from loops.models import Iteration, Session
from loops.snapshots import Fold, entries

MOST = 200  # differences kept; the rest is counted
# Ends that the rules bring about; the others are a person's stop or a fault of the workspace.
_BY_RULE = frozenset(EndReason) - {EndReason.STOPPED, EndReason.FAILED}


@dataclass(frozen=True, slots=True)
class Said:
    """What directed one iteration and how it was classed. what: "worker", "ask limit", "end done".
    outcome: "" where none was recorded or due."""

    what: str
    rule: str
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """iteration: its number, None = the session's end. seq: entry of the log."""

    iteration: int | None
    seq: int
    recorded: Said
    now: Said


@dataclass(slots=True)
class Replay:
    """iterations: how many were compared. changed: how many differ; differences: the first of
    them."""

    iterations: int = 0
    changed: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def is_same(self) -> bool:
        return not self.changed

    def note(self, difference: Difference) -> None:
        if difference.recorded == difference.now:
            return
        self.changed += 1
        if len(self.differences) < MOST:
            self.differences.append(difference)


def replay(session: Session) -> Replay:
    """Compare every finished iteration, and the end. What a fork copied is only folded: it is the
    parent's to be judged. Time grows with the log, memory does not. Raises LogUnusable."""
    found = Replay()
    fold = Fold.empty(session)
    claims = _claims(session)
    claim = next(claims, None)
    directed: Said | None = None
    for entry in entries(session):
        if claim is not None and directed is None and entry.seq > claim.claimed_at_seq:
            directed = said(fold.direct())
        if isinstance(entry, Recorded) and entry.seq > session.own_log_after and claim is not None:
            found.iterations += 1
            found.note(_compare(fold, claim, entry, directed or said(fold.direct())))
            claim, directed = next(claims, None), None
        fold.apply(entry, session)
    _compare_end(session, fold, found)
    return found


def _claims(session: Session) -> Iterator[Iteration]:
    """Finished iterations in order; those without an entry in the log (the workspace broke) and
    the one that runs are left out."""
    after = 0
    while True:
        rows = session.iterations.filter(number__gt=after).exclude(rev="").order_by("number")
        found = list(rows.only("session", "number", "role", "rule", "claimed_at_seq")[:500])
        yield from found
        if len(found) < 500:
            return
        after = found[-1].number


def _compare(fold: Fold, claim: Iteration, entry: Recorded, directed: Said) -> Difference:
    outcome = _classed(fold, entry.evidence)
    recorded = Said(_role(claim.role, entry.evidence.agent), claim.rule, entry.outcome.value)
    now = Said(directed.what, directed.rule, outcome.value)
    return Difference(claim.number, entry.seq, recorded, now)


def _classed(fold: Fold, evidence: Evidence) -> Outcome:
    return fold.controller.classify(fold.state, evidence)


def _compare_end(session: Session, fold: Fold, found: Replay) -> None:
    if session.end_reason is None or EndReason(session.end_reason) not in _BY_RULE:
        return
    now = said(fold.direct())
    recorded = Said(f"end {session.end_reason}", now.rule)  # the rule of an end is not kept
    found.note(Difference(None, fold.seq, recorded, now))


def said(directive: Directive) -> Said:
    if isinstance(directive, RunRole):
        return Said(_role(directive.role.value, directive.agent), directive.rule)
    if isinstance(directive, AskHuman):
        return Said(f"ask {directive.kind.value}", directive.rule)
    assert isinstance(directive, Finish)
    return Said(f"end {directive.reason.value}", directive.rule)


def _role(role: str, agent: str) -> str:
    return f"{role} {agent}".rstrip()
