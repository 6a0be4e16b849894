"""What the verdict on an attempt leads to: rows 1 to 11 of RULES 2, first match wins."""

from __future__ import annotations

from loops.engine.contracts import Report
from loops.engine.feedback_plans import is_out_of_date, next_reserve, untried
from loops.engine.feedback_rules import Rule
from loops.engine.feedback_state import (
    FEEDBACK_KEPT,
    FEEDBACK_TEXT,
    Best,
    Feedback,
    FeedbackState,
)
from loops.engine.feedback_table import row_after_fail
from loops.engine.run_state import Step
from loops.engine.values import AskHuman, EndReason, Finish, Kind, Role, Verdict
from loops.engine.verdicts import combine


def judged(state: FeedbackState) -> FeedbackState:
    """The state once every verifier has reported on the current attempt."""
    combined = combine(state.config.verifiers, state.given, state.criteria)
    if combined.verdict is Verdict.UNCERTAIN:
        again = _again(state)
        if again is not None:
            return again
    state = _remembered(state, combined.report)
    match combined.verdict:
        case Verdict.OK:
            return accepted(state)
        case Verdict.UNCERTAIN:
            kind = Kind.VERIFIER_CONFLICT if combined.is_conflict else Kind.UNCERTAIN
            text = (
                "The verifiers contradict each other."
                if combined.is_conflict
                else "No verifier is sure of it."
            )
            return uncertain(state, Rule.ASK_UNCERTAIN, text, kind)
        case Verdict.FAIL:
            return _failed(state, combined.report)


def _again(state: FeedbackState) -> FeedbackState | None:
    """Row 2."""
    name = next_reserve(state)
    if not name or state.reverified >= state.config.reverifications:
        return None
    reason = f"attempt {state.attempts} was left UNCERTAIN"
    step = Step(Role.VERIFIER, Rule.VERIFY_AGAIN, reason, agent=name)
    return state.but(reverified=state.reverified + 1, step=step)


def _remembered(state: FeedbackState, report: Report) -> FeedbackState:
    """The verdict, what was said, and whether this is the best output: ties go to the latest."""
    best, attempt = state.best, state.attempt
    assert attempt is not None  # only an attempt is judged
    if best is None or report.score >= best.score:
        best = Best(attempt, state.worker, report.score, state.attempts)
    return with_feedback(
        state.but(verdict=report.status, best=best),
        "verification",
        report.status,
        report.score,
        _words(report),
    )


def _words(report: Report) -> str:
    """What the verifiers said, and what they saw of each criterion that does not hold."""
    seen = (
        f"{one.criterion}: {one.status.value}: {one.evidence}"
        for one in report.evidence
        if one.status is not Verdict.OK and one.evidence.strip()
    )
    return "\n".join(text for text in (report.feedback, *seen) if text)


def with_feedback(
    state: FeedbackState, by: str, verdict: Verdict, score: int, text: str
) -> FeedbackState:
    """What was said about the current attempt, kept for every prompt that may see it."""
    said = Feedback(
        plan=state.plan_number,
        attempt=state.attempts,
        worker=state.worker,
        by=by,
        verdict=verdict,
        score=score,
        text=text[:FEEDBACK_TEXT],
    )
    return state.but(feedback=(*state.feedback, said)[-FEEDBACK_KEPT:])


def accepted(state: FeedbackState) -> FeedbackState:
    """Row 1: the end, or a question if the criteria are of requirements that read otherwise now."""
    if is_out_of_date(state):
        text = "The attempt meets its criteria, but a requirement changed after they were written."
        return state.but(
            end=None,
            question=AskHuman(
                rule=Rule.OK, kind=Kind.SPEC_CHANGED, question=text, shown=state.attempt
            ),
        )
    tree = state.attempt
    if tree is not None and tree.rev == state.base_rev and not state.task_worked:
        return state.but(
            end=Finish(
                rule=Rule.OK,
                reason=EndReason.NO_OP,
                sentence="Nothing had to be done: the tree is the one the session started from.",
                result=tree,
            )
        )
    sentence = (
        f"Proved: attempt {state.attempts} meets every criterion of plan {state.plan_number}."
    )
    end = Finish(rule=Rule.OK, reason=EndReason.DONE, sentence=sentence, result=tree)
    return state.but(end=end)


def uncertain(state: FeedbackState, rule: str, why: str, kind: Kind) -> FeedbackState:
    """Row 3: a person looks at the current attempt."""
    text = f"Attempt {state.attempts} could not be judged. {why}"
    asked = AskHuman(rule=rule, kind=kind, question=text, shown=state.attempt)
    return state.but(question=asked)


def _failed(state: FeedbackState, report: Report) -> FeedbackState:
    """Rows 4 to 11."""
    target = untried(state, report.recommended_worker)
    rule, passed = row_after_fail(state, report.recommended_action, bool(target))
    because = f"attempt {state.attempts} failed"
    if report.recommended_action and rule is not Rule.EXTRA_RETRY:
        because = f"{because}, {report.recommended_action.value} is recommended"
    because = "; ".join((because, *passed))
    is_nested = state.config.is_nested
    match rule:
        case Rule.EXTRA_RETRY:
            return with_extra_retry(state, because)
        case Rule.RETRY:
            return _retry(state.but(retried=state.retried + 1), rule, because)
        case Rule.REASSIGN:
            return state.but(
                reassigned=state.reassigned + 1,
                retried=0 if is_nested else state.retried,
                step=Step(Role.WORKER, rule, because, agent=target, start_from=state.base),
            )
        case Rule.REPLAN:
            return state.but(
                replanned=state.replanned + 1,
                retried=0 if is_nested else state.retried,
                reassigned=0 if is_nested else state.reassigned,
                keeps_tried=False,
                step=Step(Role.THINKER, rule, because),
            )
        case Rule.FINAL_RETRY:
            return _final_retry(state, because)
        case _:
            return _exhausted(state)


def with_extra_retry(state: FeedbackState, because: str) -> FeedbackState:
    """Row 4: an attempt that a person granted."""
    return _retry(state.but(extra=state.extra - 1), Rule.EXTRA_RETRY, because)


def _retry(state: FeedbackState, rule: Rule, because: str) -> FeedbackState:
    return state.but(
        step=Step(Role.WORKER, rule, because, agent=state.worker, start_from=state.attempt)
    )


def _final_retry(state: FeedbackState, because: str) -> FeedbackState:
    best = state.best
    assert best is not None  # an attempt was judged just now
    return state.but(
        final_used=True,
        step=Step(Role.WORKER, Rule.FINAL_RETRY, because, agent=best.worker, start_from=best.tree),
    )


def _exhausted(state: FeedbackState) -> FeedbackState:
    best = state.best
    assert best is not None  # an attempt was judged just now
    score = f", score {best.score}" if best.score else ""
    text = (
        f"All {state.attempts} attempts failed. The best is attempt {best.attempt}, by"
        f" {best.worker}{score}; it is not verified."
    )
    asked = AskHuman(rule=Rule.ASK_EXHAUSTED, kind=Kind.EXHAUSTED, question=text, shown=best.tree)
    return state.but(question=asked)
