"""How an iteration of Thinker-Worker-Verifier is classed, and why, in words (RULES 1 and 2)."""

from __future__ import annotations

from dataclasses import replace

from loops.engine.contracts import Report
from loops.engine.faults import AGENT_FAULTS, FAULT_WORDS
from loops.engine.feedback_plans import plan_defect
from loops.engine.feedback_state import FeedbackState
from loops.engine.values import Action, Evidence, Fault, Outcome, Role, Verdict


def classify(state: FeedbackState, evidence: Evidence) -> Outcome:
    """The outcome of one iteration. Raises ValueError for a role of another pattern."""
    fault = evidence.fault
    match evidence.role:
        case Role.THINKER:
            defect = plan_defect(evidence.plan, state.config.pool)
            return Outcome.INTERRUPTED if fault or defect else Outcome.PLAN
        case Role.WORKER:
            return Outcome.INTERRUPTED if fault else Outcome.ATTEMPT
        case Role.VERIFIER:
            is_open = fault is None or fault in AGENT_FAULTS
            return Outcome.VERDICT if is_open else Outcome.INTERRUPTED
        case _:
            raise ValueError(
                f"A {evidence.role.value} has no part in a Thinker-Worker-Verifier session."
            )


def with_fault(evidence: Evidence) -> Evidence:
    """INTERRUPTED without a fault of its own: a thinker's reply that is no usable plan."""
    return evidence if evidence.fault else replace(evidence, fault=Fault.UNPARSEABLE)


def report_of(evidence: Evidence) -> Report:
    """The report that counts. A verifier that failed judged nothing: UNCERTAIN, and why."""
    if evidence.fault is not None:
        text = f"The verifier has no verdict: {FAULT_WORDS[evidence.fault]}."
        return Report(status=Verdict.UNCERTAIN, feedback=text)
    if evidence.report is None:
        return Report(status=Verdict.UNCERTAIN, feedback="The verifier gave no report.")
    return evidence.report


def has_left_changes(evidence: Evidence) -> bool:
    before, after = evidence.before, evidence.after
    return before.rev != after.rev or before.head != after.head


def explain(evidence: Evidence, outcome: Outcome) -> str:
    """One sentence for the page: why this iteration has this outcome."""
    match outcome:
        case Outcome.INTERRUPTED:
            return _interrupted(evidence)
        case Outcome.PLAN if evidence.plan is not None:
            count = len(evidence.plan.success_criteria)
            return f"A plan for {evidence.plan.selected_worker}, with success criteria: {count}."
        case Outcome.ATTEMPT:
            if evidence.before.rev == evidence.after.rev:
                return "The attempt left the tree as it was."
            return "The attempt changed the tree."
        case Outcome.VERDICT:
            return _verdict(evidence)
        case _:
            return ""


def _interrupted(evidence: Evidence) -> str:
    left = " What it changed is still there." if has_left_changes(evidence) else ""
    if evidence.fault is not None:
        return f"The last try of this step was interrupted: {FAULT_WORDS[evidence.fault]}.{left}"
    if evidence.plan is None:
        return f"The thinker handed in no plan.{left}"
    return f"The plan was refused: it names nobody of the pool, or has no success criterion.{left}"


def _verdict(evidence: Evidence) -> str:
    report = report_of(evidence)
    if evidence.fault is not None or evidence.report is None:
        return f"{report.feedback} It counts as UNCERTAIN."
    score = f", score {report.score}" if report.score else ""
    said = f"{report.status.value}{score}"
    if report.status is Verdict.FAIL and report.recommended_action in (None, Action.FINISH):
        what = "FINISH" if report.recommended_action else "nothing"
        return f"{said}; it recommends {what}, which contradicts a FAIL and counts as RETRY."
    if report.status is Verdict.FAIL and report.recommended_action:
        return f"{said}; it recommends {report.recommended_action.value}."
    return f"{said}."
