"""What one iteration does to a Maker-Verifier session (RULES 3; faults: RULES 1)."""

from __future__ import annotations

from dataclasses import replace

from loops.engine.contracts import Criterion, Given, Report
from loops.engine.faults import AGENT_FAULTS, FAULT_WORDS, NO_FAULTS, repeated
from loops.engine.maker_rules import Rule
from loops.engine.maker_state import (
    REJECTIONS_KEPT,
    MakerState,
    Output,
    Rejection,
    reserve,
    waiting,
)
from loops.engine.run_state import NOTES_KEPT, Note, Step
from loops.engine.values import (
    AskHuman,
    EndReason,
    Evidence,
    Finish,
    Kind,
    Outcome,
    Role,
    Snapshot,
    Verdict,
)
from loops.engine.verdicts import combine


def classify(state: MakerState, evidence: Evidence) -> Outcome:
    """The outcome of one iteration, from the evidence alone. ValueError for another's role."""
    if evidence.role not in (Role.MAKER, Role.VERIFIER):
        raise ValueError(f"A {evidence.role.value} has no part in a Maker-Verifier loop.")
    fault, is_maker = evidence.fault, evidence.role is Role.MAKER
    if fault is not None and (is_maker or fault not in AGENT_FAULTS):
        return Outcome.INTERRUPTED
    return Outcome.ATTEMPT if is_maker else Outcome.VERDICT


def explain(evidence: Evidence, outcome: Outcome) -> str:
    """One sentence for the page and the next prompt: why this iteration has this outcome."""
    match outcome:
        case Outcome.INTERRUPTED if evidence.fault is not None:
            left = " What it changed is still there." if _maker_left_something(evidence) else ""
            return (
                f"The last try of this step was interrupted: {FAULT_WORDS[evidence.fault]}.{left}"
            )
        case Outcome.ATTEMPT:
            same = ", which left the tree as it was" if not _moves_tree(evidence) else ""
            return f"The maker handed in an attempt{same}."
        case Outcome.VERDICT:
            report = _report(evidence)
            why = f" {report.feedback}" if report is not evidence.report else ""
            return f"{evidence.agent or 'The verifier'} judged the attempt {report.status}.{why}"
        case _:
            return ""


def notes_after(notes: tuple[Note, ...], evidence: Evidence, outcome: Outcome) -> tuple[Note, ...]:
    """All notes are the maker's: what a prompt has shown is gone, unless the step is repeated. A
    verifier is told nothing but what it judges (RULES 3)."""
    if evidence.role is not Role.MAKER:
        return notes
    is_interrupted = outcome is Outcome.INTERRUPTED
    kept = list(notes) if is_interrupted else []
    if is_interrupted and _maker_left_something(evidence):
        kept.append(Note(Role.MAKER, explain(evidence, outcome)))
    kept += (Note(Role.MAKER, text) for text in evidence.notes)
    return tuple(kept[-NOTES_KEPT:])


def frozen(state: MakerState, criteria: tuple[Criterion, ...], seq: int) -> MakerState:
    """With a new version of the criteria in force; without criteria the old one stays."""
    if not criteria:
        return state
    version = state.criteria_version + 1
    return state.but(criteria=criteria, criteria_version=version, frozen_seq=seq)


def making(state: MakerState, rule: Rule, reason: str) -> MakerState:
    """The maker is due, from the tree of the last attempt."""
    step = Step(Role.MAKER, rule, reason, start_from=state.start)
    return state.but(step=step, question=None)


def interrupted(state: MakerState, evidence: Evidence) -> MakerState:
    """The same step again. What an interrupted maker left behind is gone on from."""
    if _maker_left_something(evidence):
        step = state.step
        if step.role is Role.MAKER:
            step = replace(step, start_from=None)
        state = state.but(idle=0, start=None, step=step)
    return repeated(state, evidence)


def attempted(state: MakerState, evidence: Evidence) -> MakerState:
    tree = Snapshot(evidence.after.rev, evidence.after.head)
    state = state.but(
        attempts=state.attempts + 1,
        idle=0 if _moves_tree(evidence) else state.idle + 1,
        given=(),
        current=tree,
        start=tree,
        question=None,
        **NO_FAULTS,
    )
    return weighed(state)


def judged(state: MakerState, evidence: Evidence) -> MakerState:
    """A report on the last attempt. Once the maker is due or a person is asked (somebody amended,
    rejected or took the verifier away while it ran), there is nothing left to judge."""
    state = state.but(**NO_FAULTS)
    if not state.is_verifying or state.question is not None:
        return state
    report = _report(evidence)
    if state.current is not None and evidence.before.rev != state.current.rev:
        report = Report(status=Verdict.UNCERTAIN, feedback="It judged another tree.")
    given = Given(verifier=evidence.agent, iteration=evidence.number, report=report)
    return weighed(state.but(given=(*state.given, given)))


def weighed(state: MakerState) -> MakerState:
    """The next verifier, or once all have judged what follows from their verdict (RULES 3)."""
    for verifier in waiting(state):
        reason = f"{verifier.name} judges attempt {state.attempts}"
        return _verifying(state, verifier.name, Rule.VERIFY, reason)
    combined = combine(state.config.verifiers, state.given, state.criteria)
    verdict = combined.verdict
    if verdict is Verdict.FAIL and not combined.reason:
        verdict = Verdict.UNCERTAIN  # a rejection without a reason helps nobody
    if verdict is Verdict.UNCERTAIN:
        for verifier in reserve(state):
            reason = f"attempt {state.attempts} was left open: {verifier.name} judges it too"
            return _verifying(state, verifier.name, Rule.REVERIFY, reason)
    state = _scored(state, combined.report.score)
    match verdict:
        case Verdict.OK:
            return _approved(state)
        case Verdict.FAIL:
            return _rejected(state, combined.reason)
        case _ if combined.is_conflict:
            text = f"The verifiers contradict each other on attempt {state.attempts}."
            return _ask(state, Rule.ASK_CONFLICT, Kind.VERIFIER_CONFLICT, text)
        case _:
            return left_open(state, "The verifiers could not tell whether it meets the criteria")


def left_open(state: MakerState, why: str) -> MakerState:
    """A person has to judge the last attempt."""
    text = f"Attempt {state.attempts} is neither approved nor rejected. {why}."
    return _ask(_scored(state, 0), Rule.ASK_UNCERTAIN, Kind.UNCERTAIN, text)


def ask_spec_changed(state: MakerState) -> MakerState:
    text = (
        f"Attempt {state.attempts} meets version {state.criteria_version} of the criteria, but a"
        " requirement was edited since that version was frozen."
    )
    return _ask(state, Rule.ASK_SPEC_CHANGED, Kind.SPEC_CHANGED, text).but(end=None)


def _ask(state: MakerState, rule: Rule, kind: Kind, text: str) -> MakerState:
    asked = AskHuman(rule=rule, kind=kind, question=text, shown=state.current)
    return state.but(question=asked)


def _verifying(state: MakerState, name: str, rule: Rule, reason: str) -> MakerState:
    step = Step(Role.VERIFIER, rule, reason, agent=name, start_from=state.current)
    return state.but(step=step)


def _scored(state: MakerState, score: int) -> MakerState:
    """Best output = highest score, ties to the latest; an attempt is scored once."""
    best, tree = state.best, state.current
    if tree is None or (best and (best.attempt == state.attempts or score < best.score)):
        return state
    return state.but(best=Output(state.attempts, score, tree))


def _approved(state: MakerState) -> MakerState:
    if state.is_outdated:
        return ask_spec_changed(state)
    tree = state.current
    if tree is not None and tree.rev == state.base_rev and not state.task_worked:
        reason = EndReason.NO_OP
        text = "Nothing had to be done: the criteria hold in the tree the session started from."
    else:
        reason = EndReason.DONE
        text = f"Proved: the verifiers approved attempt {state.attempts} by every criterion."
    return state.but(end=Finish(rule=Rule.PROVED, reason=reason, sentence=text, result=tree))


def _rejected(state: MakerState, reason: str) -> MakerState:
    rejection = Rejection(state.attempts, state.criteria_version, reason)
    state = state.but(rejections=(*state.rejections, rejection)[-REJECTIONS_KEPT:])
    return making(state, Rule.REJECTED, f"attempt {state.attempts} was rejected")


def _report(evidence: Evidence) -> Report:
    """What the verifier reported; a verifier that failed or said nothing judged nothing."""
    if evidence.fault is not None:
        why = f"It gave no verdict: {FAULT_WORDS[evidence.fault]}."
        return Report(status=Verdict.UNCERTAIN, feedback=why)
    if evidence.report is None:
        return Report(status=Verdict.UNCERTAIN, feedback="It ended without handing in a report.")
    return evidence.report


def _moves_tree(evidence: Evidence) -> bool:
    return evidence.before.rev != evidence.after.rev


def _maker_left_something(evidence: Evidence) -> bool:
    before, after = evidence.before, evidence.after
    return evidence.role is Role.MAKER and (before.rev, before.head) != (after.rev, after.head)
