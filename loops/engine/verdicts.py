"""Combining the reports on one attempt into one verdict (RULES 2, "Combining verdicts").

The same in every pattern that verifies.
"""

from __future__ import annotations

from dataclasses import dataclass

from loops.engine.contracts import Criterion, Given, Judgement, Report, Verifier
from loops.engine.values import Policy, Verdict


@dataclass(frozen=True, slots=True)
class Combined:
    """The verdict on an attempt. is_conflict: model verifiers contradict each other. report: what
    the required verifiers said together, as the next prompt and the best output need it."""

    verdict: Verdict
    report: Report
    is_conflict: bool = False


def combine(
    verifiers: tuple[Verifier, ...], given: tuple[Given, ...], criteria: tuple[Criterion, ...]
) -> Combined:
    """First matching row wins; advisers never decide. Without any deciding report: UNCERTAIN.

    A verifier of the reserve is asked when the models left the attempt open, and speaks in their
    place: its report then stands for theirs, beside what was measured mechanically.
    """
    counted = _deciding(verifiers, given)
    is_conflict = False
    if any(v.is_mechanical and r.status is Verdict.FAIL for v, r in counted):
        verdict = Verdict.FAIL
    elif _contradict([r for v, r in counted if not v.is_mechanical]):
        verdict, is_conflict = Verdict.UNCERTAIN, True
    elif any(r.status is Verdict.FAIL for _, r in counted):
        verdict = Verdict.FAIL
    elif not counted or any(_is_open(v, r, criteria) for v, r in counted):
        verdict = Verdict.UNCERTAIN
    else:
        verdict = Verdict.OK
    return Combined(verdict, _together(verdict, counted), is_conflict)


Counted = list[tuple[Verifier, Report]]


def _deciding(verifiers: tuple[Verifier, ...], given: tuple[Given, ...]) -> Counted:
    by_name = {verifier.name: verifier for verifier in verifiers}
    known = [(by_name[one.verifier], one.report) for one in given if one.verifier in by_name]
    reserve = [(v, r) for v, r in known if v.policy is Policy.RESERVE][-1:]
    required = [(v, r) for v, r in known if v.policy is Policy.REQUIRED]
    if reserve:
        required = [(v, r) for v, r in required if v.is_mechanical]
    return required + reserve


def _contradict(reports: list[Report]) -> bool:
    said: dict[str, set[Verdict]] = {}
    for report in reports:
        for judgement in report.evidence:
            said.setdefault(judgement.criterion, set()).add(judgement.status)
    return any({Verdict.OK, Verdict.FAIL} <= statuses for statuses in said.values())


def _is_open(verifier: Verifier, report: Report, criteria: tuple[Criterion, ...]) -> bool:
    """UNCERTAIN, or an OK without evidence for each criterion. What a mechanical verifier ran is
    its evidence for all of them."""
    if report.status is not Verdict.OK:
        return True
    if verifier.is_mechanical:
        return False
    shown = {one.criterion for one in report.evidence if one.evidence.strip()}
    return any(criterion.key not in shown for criterion in criteria)


def _together(verdict: Verdict, counted: Counted) -> Report:
    """One report: the lowest score, the first recommendation of a FAIL, everybody's words."""
    failed = [r for _, r in counted if r.status is Verdict.FAIL]
    advice = next(
        (r for r in failed if r.recommended_action), failed[0] if failed else Report(status=verdict)
    )
    said = [
        f"{v.name}: {r.feedback}" if len(counted) > 1 else r.feedback
        for v, r in counted
        if r.feedback
    ]
    judged: tuple[Judgement, ...] = tuple(one for _, r in counted for one in r.evidence)
    return Report(
        status=verdict,
        score=min((r.score for _, r in counted if r.score), default=0),
        feedback="\n".join(said),
        evidence=judged,
        failure_type=advice.failure_type,
        recommended_action=advice.recommended_action,
        recommended_worker=advice.recommended_worker,
    )
