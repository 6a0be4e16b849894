"""What the roles hand each other, as plain values (RULES 2 and 3); checked at the edge.

Pure: standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from loops.engine.words import Action, FailureType, Policy, Verdict


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that must hold. key: "C-1" within its version. words: the text as it was frozen.
    traces: key of the requirement it follows from, such as "R-2" (a session's goal is one too), or
    "" for one of the plan's own."""

    key: str
    words: str
    traces: str = ""


def criteria_hash(criteria: Iterable[Criterion]) -> str:
    """Sha256, as hex, of a version of the criteria: its keys, words and traces, in order."""
    rows = [[one.key, one.words, one.traces] for one in criteria]
    return sha256(json.dumps(rows, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The thinker's PlanPacket. selected_worker, alternative_workers: names of the pool."""

    summary: str
    decomposition: tuple[str, ...] = ()
    success_criteria: tuple[Criterion, ...] = ()
    risks: tuple[str, ...] = ()
    selected_worker: str
    alternative_workers: tuple[str, ...] = ()
    requires_self_call: bool = False
    thinker_notes: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verifier's word on one criterion, with what it saw; without evidence it proves nothing."""

    criterion: str
    status: Verdict
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The VerificationReport of one verifier on one attempt. score: 1 to 10, or 0 where the
    verifier gave none because it failed. recommended_worker: "" = none."""

    status: Verdict
    score: int = 0
    feedback: str = ""
    evidence: tuple[Judgement, ...] = ()
    failure_type: FailureType = FailureType.OTHER
    recommended_action: Action | None = None
    recommended_worker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """One verifier of a session's frozen configuration, in the order in which they are asked."""

    name: str
    policy: Policy = Policy.REQUIRED
    is_mechanical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One verifier's report on the attempt that is judged now. iteration: its number."""

    verifier: str
    iteration: int
    report: Report
