"""States, outcomes and roles as chips: colour + icon + word (design/ui.md 3)."""

from __future__ import annotations

from dataclasses import replace

from loops.engine.values import EndReason, Outcome, Pattern, Role, State, Verdict
from tracker.pages.atoms import Chip
from tracker.pages.words import plural

_STATES = {
    State.DRAFT: Chip("off", "pencil", "Draft"),
    State.QUEUED: Chip("off", "queued", "Queued"),
    State.RUNNING: Chip("run", "run", "Running", spins=True),
    State.PAUSING: Chip("off", "paused", "Pausing"),
    State.PAUSED: Chip("off", "paused", "Paused"),
    State.WAITING_HUMAN: Chip("wait", "person", "Waiting for human", loud=True),
    State.RESUMING: Chip("run", "play", "Resuming"),
    State.STOPPING: Chip("off", "stopped", "Stopping"),
}
_ENDS = {
    EndReason.DONE: Chip("ok", "ok", "Done"),
    EndReason.NO_OP: Chip("ok", "stall", "Nothing to do"),
    EndReason.HUMAN_APPROVED: Chip("ok", "person", "Approved by a person"),
    EndReason.HUMAN_EDITED: Chip("ok", "pencil", "Approved with edits"),
    EndReason.EXHAUSTED: Chip("lim", "hourglass", "Exhausted"),
    EndReason.STOPPED: Chip("off", "stopped", "Stopped"),
    EndReason.FAILED: Chip("bad", "fail", "Failed", loud=True),
}
_OUTCOMES = {
    Outcome.WORK: Chip("off", "commit", "Work"),
    Outcome.DONE: Chip("ok", "check", "Done signal"),
    Outcome.CONFLICT: Chip("warn", "warn", "Conflict"),
    Outcome.REJECTED: Chip("lim", "x", "Done rejected"),
    Outcome.STALL: Chip("off", "stall", "Stall"),
    Outcome.REVIEW_CLEAN: Chip("ok", "ok", "Review clean"),
    Outcome.REVIEW_STALL: Chip("off", "stall", "Review, no verdict"),
    Outcome.PLAN: Chip("acc", "bulb", "Plan"),
    Outcome.ATTEMPT: Chip("off", "commit", "Attempt"),
    Outcome.VERDICT: Chip("off", "shield", "Verdict"),
    Outcome.INTERRUPTED: Chip("off", "undo", "Interrupted"),
}
_VERDICTS = {
    Verdict.OK: Chip("ok", "ok", "Verdict OK"),
    Verdict.FAIL: Chip("bad", "x", "Verdict fail"),
    Verdict.UNCERTAIN: Chip("warn", "q", "Verdict uncertain"),
}
_SHORT = {
    Verdict.OK: Chip("ok", "check", "OK"),
    Verdict.FAIL: Chip("bad", "x", "Fail"),
    Verdict.UNCERTAIN: Chip("warn", "q", "Uncertain"),
}
_ROLES = {
    Role.WORKER: ("wrench", "Worker"),
    Role.REVIEWER: ("eye", "Reviewer"),
    Role.COACH: ("compass", "Coach"),
    Role.THINKER: ("bulb", "Thinker"),
    Role.MAKER: ("wrench", "Maker"),
    Role.VERIFIER: ("shield", "Verifier"),
}
# A person's decision adds the two in the middle, and after a rejection `exhausted`.
_THREAD_ENDS = (
    EndReason.DONE,
    EndReason.NO_OP,
    EndReason.HUMAN_APPROVED,
    EndReason.HUMAN_EDITED,
    EndReason.STOPPED,
    EndReason.FAILED,
)
_JUDGED_ENDS = (*_THREAD_ENDS[:4], EndReason.EXHAUSTED, *_THREAD_ENDS[4:])
POSSIBLE_ENDS = {
    Pattern.SINGLE_THREAD: _THREAD_ENDS,
    Pattern.MAKER_VERIFIER: _JUDGED_ENDS,
    Pattern.FEEDBACK: _JUDGED_ENDS,
}
PATTERN_NAMES = {
    Pattern.SINGLE_THREAD: "Single-threaded loop",
    Pattern.MAKER_VERIFIER: "Maker-Verifier",
    Pattern.FEEDBACK: "Thinker-Worker-Verifier",
}
PATTERN_WORDS = {
    Pattern.SINGLE_THREAD: "Worker, Reviewer, Coach",
    Pattern.MAKER_VERIFIER: "Maker, Verifier",
    Pattern.FEEDBACK: "Thinker, Worker, Verifier",
}


def state_chip(
    state: State,
    *,
    end: EndReason | None = None,
    held_until: str = "",
    is_quiet: bool = False,
    is_responding: bool = True,
) -> Chip:
    """Return the chip of a session's state, never better than its evidence.

    held_until: local time when the agent's own limit resets. is_quiet: no output for a while.
    is_responding: False when the lease ran out, so nobody is known to run it.
    """
    if state is State.ENDED:
        return _ENDS[end or EndReason.FAILED]
    if state is not State.RUNNING:
        return _STATES[state]
    if not is_responding:
        return Chip("bad", "offline", "Not responding", loud=True)
    if held_until:
        return Chip("run", "run", f"Running, held until {held_until}")
    if is_quiet:
        return Chip("run", "run", "Running, quiet", spins=True)
    return _STATES[state]


def end_chip(end: EndReason) -> Chip:
    return _ENDS[end]


def outcome_chip(
    outcome: Outcome | None,
    *,
    findings: int = 0,
    guidance: int | None = None,
    verdict: Verdict | None = None,
    attempt: int = 0,
) -> Chip:
    """Return the chip of an iteration; None = it runs now. verdict: what a VERDICT says. attempt:
    which one an ATTEMPT is, 0 where that is not known."""
    if outcome is None:
        return Chip("run", "run", "Running", spins=True)
    if outcome is Outcome.REVIEW_BUGS:
        return Chip(
            "bad", "bug", f"Review, {plural(findings, 'bug')}" if findings else "Review, bugs"
        )
    if outcome is Outcome.COACH:
        return Chip("acc", "compass", f"Guidance v{guidance}" if guidance else "No change")
    if outcome is Outcome.VERDICT and verdict is not None:
        return _VERDICTS[verdict]
    if outcome is Outcome.ATTEMPT and attempt:
        return replace(_OUTCOMES[outcome], word=f"Attempt {attempt}")
    return _OUTCOMES.get(outcome, Chip("off", "commit", outcome.value.capitalize()))


def verdict_chip(verdict: Verdict) -> Chip:
    """Return the short chip of a verdict, for where "Verdict" stands at the head already."""
    return _SHORT[verdict]


def role_icon(role: Role) -> str:
    return _ROLES[role][0] if role in _ROLES else "wrench"


def role_word(role: Role) -> str:
    return _ROLES[role][1] if role in _ROLES else role.value.capitalize()
