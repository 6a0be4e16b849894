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
    the required verifiers said together, as the next prompt and the best output need it. reason:
    what those who failed it saw, "" if none of them said anything concrete."""

    verdict: Verdict
    report: Report
    is_conflict: bool = False
    reason: str = ""


def combine(
    verifiers: tuple[Verifier, ...], given: tuple[Given, ...], criteria: tuple[Criterion, ...]
) -> Combined:
    """First matching row wins; advisers never decide. Without any deciding report, or as long as
    one is missing: UNCERTAIN.

    A verifier of the reserve is asked when the models left the attempt open, and speaks in their
    place: its report then stands for theirs, beside what was measured mechanically.
    """
    counted, is_whole = _deciding(verifiers, given)
    is_conflict = False
    if any(v.is_mechanical and r.status is Verdict.FAIL for v, r in counted):
        verdict = Verdict.FAIL
    elif _contradict([r for v, r in counted if not v.is_mechanical]):
        verdict, is_conflict = Verdict.UNCERTAIN, True
    elif any(r.status is Verdict.FAIL for _, r in counted):
        verdict = Verdict.FAIL
    elif not counted or not is_whole or any(_is_open(v, r, criteria) for v, r in counted):
        verdict = Verdict.UNCERTAIN
    else:
        verdict = Verdict.OK
    return Combined(verdict, _together(verdict, counted), is_conflict, _reason(counted))


Counted = list[tuple[Verifier, Report]]


def _deciding(verifiers: tuple[Verifier, ...], given: tuple[Given, ...]) -> tuple[Counted, bool]:
    """The reports that decide, and whether every verifier that has to speak has spoken."""
    by_name = {verifier.name: verifier for verifier in verifiers}
    known = [(by_name[one.verifier], one.report) for one in given if one.verifier in by_name]
    reserve = [(v, r) for v, r in known if v.policy is Policy.RESERVE][-1:]
    needed = [
        verifier
        for verifier in verifiers
        if verifier.policy is Policy.REQUIRED and (verifier.is_mechanical or not reserve)
    ]
    spoken = [(v, r) for v, r in known if v in needed]
    return spoken + reserve, {v.name for v, _ in spoken} == {v.name for v in needed}


def _contradict(reports: list[Report]) -> bool:
    """True if one verifier says OK and another FAIL on the same criterion. One that says both has
    found a failure."""
    passed: set[str] = set()
    failed: set[str] = set()
    for report in reports:
        fails = _judged(report, Verdict.FAIL)
        passed |= _judged(report, Verdict.OK) - fails
        failed |= fails
    return bool(passed & failed)


def _judged(report: Report, status: Verdict) -> set[str]:
    return {one.criterion for one in report.evidence if one.status is status}


def _is_open(verifier: Verifier, report: Report, criteria: tuple[Criterion, ...]) -> bool:
    """UNCERTAIN, or an OK without evidence that each criterion holds. What a mechanical verifier
    ran is its evidence for all of them."""
    if report.status is not Verdict.OK:
        return True
    if verifier.is_mechanical:
        return False
    said = report.evidence
    shown = {o.criterion for o in said if o.status is Verdict.OK and o.evidence.strip()}
    doubted = {o.criterion for o in said if o.status is not Verdict.OK}
    return any(criterion.key not in shown - doubted for criterion in criteria)


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


def _reason(counted: Counted) -> str:
    """The words of those who said FAIL: their feedback, and what they saw of what does not hold."""
    failed = [(v, r) for v, r in counted if r.status is Verdict.FAIL]
    lines = []
    for verifier, report in failed:
        seen = [
            f"{one.criterion}: {one.evidence.strip()}"
            for one in report.evidence
            if one.status is not Verdict.OK and one.evidence.strip()
        ]
        words = [line for line in (report.feedback.strip(), *seen) if line]
        who = f"{verifier.name}: " if len(failed) > 1 and words else ""
        lines.append(who + "\n".join(words))
    return "\n".join(line for line in lines if line)
