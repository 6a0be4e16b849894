"""What a thinker or a verifier handed in, and what the engine made of it."""

from __future__ import annotations

from typing import Any

from loops.engine import controllers
from loops.engine.contracts import Criterion, Plan, Report
from loops.engine.feedback_plans import plan_defect
from loops.engine.feedback_state import FeedbackState
from loops.engine.rule_texts import rule_text
from loops.engine.run_state import Step
from loops.engine.values import Action, AskHuman, Evidence, FailureType, Recorded, Verdict
from loops.models import Iteration
from loops.pages.judging import Fired, JudgedLine, PlanPart, VerdictPart
from loops.pages.states import verdict_chip
from loops.reading import links
from loops.reading.attempts import Attempt
from loops.reading.past import fold_at
from loops.reading.reading import Reading
from loops.reading.standing import criteria_lines, version
from tracker.pages.atoms import Chip, Link

_FAILURES = {
    FailureType.QUALITY: "The work is not good enough",
    FailureType.WORKER_MISMATCH: "The worker does not fit the task",
    FailureType.PLANNING_ISSUE: "The plan is at fault",
    FailureType.OTHER: "",
}
_ADVICE = {
    Action.FINISH: "Finish",
    Action.RETRY: "Retry, the same worker",
    Action.REASSIGN: "Reassign to another worker",
    Action.REPLAN: "Replan",
}
_COUNTS = "Where its word decides, that counts as Retry and is logged."
_IN_FORCE = Chip("ok", "check", "In force")
_REPLACED = Chip("off", "undo", "Replaced")
_DRAFT = Chip("off", "pencil", "Draft")
_REFUSED = Chip("bad", "x", "Refused")


def recorded(one: Iteration) -> Recorded | None:
    """The log's entry of an iteration; None while it runs."""
    entries = one.session.own_log.filter(kind="recorded", payload__evidence__number=one.number)
    found = entries.order_by("seq").last()
    if found is None:
        return None
    entry = controllers.entry_from_json(found.seq, found.kind, found.payload)
    return entry if isinstance(entry, Recorded) else None


# --- the thinker ---------------------------------------------------------------------------------


def plan_part(reading: Reading, one: Iteration) -> PlanPart | None:
    """None while there is none: it runs, or it handed in nothing."""
    entry = recorded(one)
    if entry is None or entry.evidence.plan is None:
        return None
    plan, after = entry.evidence.plan, fold_at(one.session, entry.seq).state
    before = fold_at(one.session, entry.seq - 1).state
    is_made = after.plan_number > before.plan_number
    chip, fate = _fate(reading, entry, after, is_made=is_made)
    frozen = after.criteria if is_made else plan.success_criteria
    return PlanPart(
        chip=chip,
        fate=fate,
        summary=plan.summary,
        worker=plan.selected_worker,
        alternatives=plan.alternative_workers,
        steps=plan.decomposition,
        criteria=criteria_lines(reading, frozen, kept=_kept(frozen, plan) if is_made else _NONE),
        version=version(after) if is_made else "Success criteria, not frozen",
        risks=plan.risks,
        notes=plan.thinker_notes,
    )


_NONE: frozenset[str] = frozenset()


def _kept(frozen: tuple[Criterion, ...], plan: Plan) -> frozenset[str]:
    """Keys of the criteria that the plan had dropped and that were carried over."""
    own = sum(bool(one.words.strip()) for one in plan.success_criteria)
    return frozenset(one.key for one in frozen[own:])


def _fate(reading: Reading, entry: Recorded, after: Any, *, is_made: bool) -> tuple[Chip, str]:
    if is_made:
        number = after.plan_number
        now = reading.fold.state.plan_number if reading.fold else number
        if number == now:
            return _IN_FORCE, f"Plan {number}, in force since this iteration."
        return _REPLACED, f"Plan {number}, replaced by plan {number + 1}."
    assert entry.evidence.plan is not None
    defect = plan_defect(entry.evidence.plan, after.config.pool)
    if entry.evidence.fault or defect:
        return _REFUSED, defect or "The iteration was interrupted, so the plan does not count."
    return _DRAFT, "Not in force: the thinker asked to think once more."


# --- a verifier ----------------------------------------------------------------------------------


def verdict_part(reading: Reading, one: Iteration) -> VerdictPart | None:
    """None while it runs, and where the iteration was interrupted."""
    said, entry = reading.verdict_at.get(one.number), recorded(one)
    if said is None or entry is None:
        return None
    before, report = fold_at(one.session, one.claimed_at_seq).state, said.report
    is_feedback = isinstance(before, FeedbackState)
    return VerdictPart(
        chip=verdict_chip(said.status),
        name=said.verifier,
        kind=reading.kind_of(said.verifier),
        attempt=_judged_attempt(reading, one),
        score=f"{report.score} of 10" if report.score else "",
        feedback=report.feedback,
        judged=_judged(reading, before.criteria, report),
        version=version(before),
        advice=_advice(report) if is_feedback else "",
        failure=_FAILURES[report.failure_type] if report.status is Verdict.FAIL else "",
        contradiction=_contradiction(report) if is_feedback else "",
        made=_made(fold_at(one.session, entry.seq).state),
        note=_note(entry.evidence, report),
    )


def _judged_attempt(reading: Reading, one: Iteration) -> Link | None:
    attempt = attempt_of(reading, one)
    if attempt is None:
        return None
    by = f" by {attempt.by}" if attempt.by else ""
    href = links.iteration(reading.session.pk, attempt.iteration)
    return Link(f"Attempt {attempt.number}{by}", href)


def attempt_of(reading: Reading, one: Iteration, *, with_own: bool = False) -> Attempt | None:
    """The attempt that stood when this iteration ran. with_own: or that it made itself."""
    last = one.number if with_own else one.number - 1
    made = [attempt for attempt in reading.attempts if attempt.iteration <= last]
    return made[-1] if made else None


def _judged(
    reading: Reading, criteria: tuple[Criterion, ...], report: Report
) -> tuple[JudgedLine, ...]:
    """Each criterion in order with what was said of it, then what was said of others."""
    lines = []
    left = list(report.evidence)
    for shown in criteria_lines(reading, criteria):
        said = [one for one in left if one.criterion == shown.key]
        left = [one for one in left if one.criterion != shown.key]
        if not said:
            lines.append(JudgedLine(criterion=shown, chip=None, evidence=""))
        for one in said:
            chip = verdict_chip(one.status)
            lines.append(JudgedLine(criterion=shown, chip=chip, evidence=one.evidence))
    for one in left:
        (unknown,) = criteria_lines(reading, (Criterion(one.criterion, "No such criterion."),))
        chip = verdict_chip(one.status)
        lines.append(JudgedLine(criterion=unknown, chip=chip, evidence=one.evidence))
    return tuple(lines)


def _advice(report: Report) -> str:
    if report.recommended_action is None:
        return "nothing"
    who = f": {report.recommended_worker}" if report.recommended_worker else ""
    return _ADVICE[report.recommended_action] + who


def _contradiction(report: Report) -> str:
    """RULES 2, row 6."""
    if report.status is not Verdict.FAIL:
        return ""
    if report.recommended_action is None:
        return f"It failed the attempt and recommends nothing. {_COUNTS}"
    if report.recommended_action is Action.FINISH:
        return f"It failed the attempt and recommends to finish, a contradiction. {_COUNTS}"
    return ""


def _made(after: Any) -> tuple[Fired, ...]:
    """The rule that fired on this report; a limit, gate or ceiling that then came before the step
    is a second one."""
    directive = controllers.controller_of(after.config.pattern).direct(after)
    if after.end is not None:
        return (_fired(after.end.rule, after.end.sentence),)
    if after.question is not None:
        return (_fired(after.question.rule, after.question.question),)
    step = _fired(after.step.rule, f"{_sentence(after.step.reason)} {_next(after.step)}")
    if isinstance(directive, AskHuman):
        return (step, _fired(directive.rule, directive.question))
    return (step,)


def _fired(rule: str, why: str) -> Fired:
    return Fired(str(rule), rule_text(rule), why)


def _next(step: Step) -> str:
    return f"Next: {step.role.value} {step.agent}".rstrip() + "."


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."


def _note(evidence: Evidence, report: Report) -> str:
    if evidence.report is None or report == evidence.report:
        return ""
    return "What it handed in does not count: the iteration failed or judged another tree."
