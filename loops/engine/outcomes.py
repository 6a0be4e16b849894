"""How one iteration is classed from its evidence, and why, in words (RULES 4; faults: RULES 1)."""

from __future__ import annotations

from loops.engine.faults import AGENT_FAULTS, FAULT_WORDS
from loops.engine.thread_state import ThreadState
from loops.engine.values import Evidence, Outcome, Role, Signal

_SHOWN = 20  # names in one sentence


def has_changed(evidence: Evidence) -> bool:
    """A change = rev, HEAD or a bug's state moved."""
    before, after = evidence.before, evidence.after
    return before.rev != after.rev or before.head != after.head or evidence.moved


def classify(state: ThreadState, evidence: Evidence) -> Outcome:
    """The outcome of one iteration; first match wins.

    The class hangs on the evidence alone: what came before the iteration (streak, human events,
    budgets) decides about its effect only. Raises ValueError for a role of another pattern.
    """
    if evidence.fault is not None and evidence.fault not in AGENT_FAULTS:
        return Outcome.INTERRUPTED
    match evidence.role:
        case Role.WORKER:
            return _classify_worker(evidence)
        case Role.REVIEWER:
            return _classify_review(evidence)
        case Role.COACH:
            return Outcome.COACH
        case _:
            raise ValueError(f"A {evidence.role.value} has no part in a single-threaded loop.")


def _classify_worker(evidence: Evidence) -> Outcome:
    if evidence.fault is not None:
        return Outcome.STALL
    if evidence.signal is Signal.DONE:
        # Files that only this iteration left untracked are gone from the tree by now, and
        # committing what lay there does not move its content: both keep the rev.
        if evidence.before.rev != evidence.after.rev:
            return Outcome.CONFLICT
        if evidence.blockers or evidence.uncommitted:
            return Outcome.REJECTED
        return Outcome.DONE
    if evidence.signal is Signal.NOT_DONE or has_changed(evidence):
        return Outcome.WORK
    return Outcome.STALL


def _classify_review(evidence: Evidence) -> Outcome:
    if review_defect(evidence):
        return Outcome.REVIEW_STALL
    # "review clean" while blockers stand is no clean review: it contradicts the tracker.
    if evidence.findings or evidence.blockers:
        return Outcome.REVIEW_BUGS
    return Outcome.REVIEW_CLEAN


def review_defect(evidence: Evidence) -> str:
    """Why a review has no usable verdict; "" if it has one."""
    signal = evidence.signal
    if evidence.fault is not None:
        return f"The review has no verdict: {FAULT_WORDS[evidence.fault]}."
    if signal not in (Signal.REVIEW_CLEAN, Signal.REVIEW_BUGS):
        return "The review ended without `review clean` or `review bugs`."
    if evidence.unjudged_left:
        return f"The review left {names(evidence.unjudged_left)} unjudged."
    if signal is Signal.REVIEW_CLEAN and evidence.marks_missing:
        return f"`review clean` came without a mark on {names(evidence.marks_missing)}."
    if signal is Signal.REVIEW_BUGS and not evidence.findings and not evidence.blockers:
        return "`review bugs` came without a finding, and nothing is open."
    return ""


def explain(evidence: Evidence, outcome: Outcome) -> str:
    """One sentence for the page and the next prompt: why this iteration has this outcome."""
    match outcome:
        case Outcome.STALL:
            return _explain_stall(evidence)
        case Outcome.CONFLICT:
            paths = f" ({names(evidence.changed_paths)})" if evidence.changed_paths else ""
            return (
                f"`done` came with changes of the tree in the same iteration{paths}; the signal was"
                " dropped. Signal done only in an iteration that changes nothing."
            )
        case Outcome.REJECTED:
            return _explain_rejected(evidence)
        case Outcome.REVIEW_STALL:
            return review_defect(evidence)
        case Outcome.REVIEW_BUGS:
            return _explain_bugs(evidence)
        case Outcome.INTERRUPTED if evidence.fault is not None:
            left = " What it changed is still there." if has_changed(evidence) else ""
            return (
                f"The last try of this step was interrupted: {FAULT_WORDS[evidence.fault]}.{left}"
            )
        case Outcome.COACH if evidence.guidance is not None:
            return f"The coach wrote guidance version {evidence.guidance}."
        case _:
            return _PLAIN.get(outcome, "")


_PLAIN = {
    Outcome.DONE: "`done`, with nothing open and everything committed.",
    Outcome.WORK: "The worker went on with its work.",
    Outcome.REVIEW_CLEAN: "The review found nothing and marked every requirement.",
    Outcome.COACH: "The coach left the guidance as it is.",
}


def _explain_stall(evidence: Evidence) -> str:
    if evidence.fault is None:
        return "The last worker neither changed nor signalled anything."
    left = "what it changed is still there" if has_changed(evidence) else "it left no change"
    return f"The last worker has no result: {FAULT_WORDS[evidence.fault]}; {left}."


def _explain_rejected(evidence: Evidence) -> str:
    reasons = []
    if evidence.blockers:
        reasons.append(f"{names(evidence.blockers)} still open")
    if evidence.uncommitted:
        reasons.append(f"{names(evidence.uncommitted)} not committed")
    return f"`done` was refused: {'; '.join(reasons)}."


def _explain_bugs(evidence: Evidence) -> str:
    what = (
        f"{names(evidence.findings)} found"
        if evidence.findings
        else f"{names(evidence.blockers)} still open"
    )
    if evidence.signal is Signal.REVIEW_CLEAN:
        return f"`review clean` contradicts the tracker: {what}. It counts as `review bugs`."
    return f"The review: {what}."


def names(items: tuple[str, ...]) -> str:
    """A readable list of keys or paths, cut after 20."""
    if len(items) <= _SHOWN:
        return ", ".join(items)
    return f"{', '.join(items[:_SHOWN])} and {len(items) - _SHOWN} more"
