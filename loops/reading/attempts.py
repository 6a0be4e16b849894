"""The attempts of a session with verifiers, and who said what about each; from the log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from loops.engine import controllers
from loops.engine.contracts import Report
from loops.engine.values import (
    Evidence,
    Outcome,
    Pattern,
    Recorded,
    Role,
    Verdict,
    Verifier,
)
from loops.models import Session

_MAKERS = (Role.WORKER, Role.MAKER)


@dataclass(frozen=True, slots=True)
class Said:
    """One verifier's report on an attempt. status: what it counts as, also without a report."""

    verifier: str
    iteration: int
    status: Verdict
    report: Report


@dataclass(slots=True)
class Attempt:
    """by: the worker, "" for the maker. rev: hash of its tree."""

    number: int
    iteration: int
    by: str
    rev: str
    said: list[Said] = field(default_factory=list)


def attempts_of(session: Session) -> tuple[Attempt, ...]:
    """In order. What a fork took along from its parent counts as none of its own."""
    if session.pattern == Pattern.SINGLE_THREAD.value:
        return ()
    rows = session.own_log.filter(kind="recorded").order_by("seq")
    told = rows.values_list("seq", "kind", "payload").iterator(500)
    return tuple(_told(controllers.entry_from_json(*row) for row in told))


def _told(entries: Iterable[object]) -> list[Attempt]:
    found: list[Attempt] = []
    for entry in entries:
        if isinstance(entry, Recorded):
            _add(found, entry)
    return found


def _add(found: list[Attempt], entry: Recorded) -> None:
    evidence = entry.evidence
    if entry.outcome is Outcome.ATTEMPT and evidence.role in _MAKERS:
        number = len(found) + 1
        found.append(Attempt(number, evidence.number, evidence.agent, evidence.after.rev))
    elif entry.outcome is Outcome.VERDICT and found:
        report = report_of(evidence, found[-1].rev)
        found[-1].said.append(Said(evidence.agent, evidence.number, report.status, report))


def report_of(evidence: Evidence, rev: str) -> Report:
    """The report that counts on the attempt with the tree `rev`: without one it is UNCERTAIN."""
    if evidence.fault is not None or evidence.report is None:
        return Report(status=Verdict.UNCERTAIN, feedback="It handed in no report that counts.")
    if evidence.before.rev != rev:
        return Report(status=Verdict.UNCERTAIN, feedback="It judged another tree.")
    return evidence.report


def kind_of(verifier: Verifier | None) -> str:
    """What a verifier's word is for: "required, mechanical"; "" for one that has gone."""
    if verifier is None:
        return "no longer asked"
    measures = ", mechanical" if verifier.is_mechanical else ""
    return f"{verifier.policy.value}{measures}"
