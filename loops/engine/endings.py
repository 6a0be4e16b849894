"""When a single-threaded session is done, and why it is not (RULES 4, row DONE and done mode)."""

from __future__ import annotations

from loops.engine.outcomes import names
from loops.engine.rules import Rule
from loops.engine.thread_state import JUDGED_KEPT, Judged, ThreadState
from loops.engine.values import DoneMode, EndReason, Finish, Why

DONES_NEEDED = 2


def why_not_done(
    state: ThreadState,
    *,
    rev: str,
    head: str,
    spec: str,
    blockers: tuple[str, ...],
    unjudged: tuple[str, ...],
    blocked: tuple[str, ...],
) -> tuple[Why, ...]:
    """The conditions of the ending row that are not met now, in words; empty = it ends.

    The arguments say what stands now: tree, commit, spec version and the keys of tracker entries.
    """
    mode = state.config.done_mode
    found: list[Why] = []
    if mode is not DoneMode.SCRIPT:
        found += _signals_missing(state, rev, spec)
    for keys, rule, words in (
        (blockers, Rule.NEEDS_NO_BLOCKERS, "Still open"),
        (unjudged, Rule.NEEDS_NO_UNJUDGED, "Not judged by a review yet"),
        (blocked, Rule.NEEDS_NO_BLOCKED, "Blocked, a person has to decide"),
    ):
        if keys:
            found.append(Why(rule, f"{words}: {names(keys)}."))
    if mode is not DoneMode.AGENT:
        code = script_exit(state, rev=rev, head=head, spec=spec)
        if code is None:
            found.append(Why(Rule.NEEDS_SCRIPT, "The done script has not judged this tree yet."))
        elif code != 0:
            found.append(Why(Rule.NEEDS_SCRIPT, f"The done script failed on this tree ({code})."))
    return tuple(found)


def _signals_missing(state: ThreadState, rev: str, spec: str) -> list[Why]:
    found = []
    if state.streak < DONES_NEEDED:
        text = f"{state.streak} of {DONES_NEEDED} done signals in a row."
        found.append(Why(Rule.NEEDS_STREAK, text))
    if state.clean_review is None:
        found.append(Why(Rule.NEEDS_REVIEW, "No clean review since the last change."))
    elif state.clean_review[0] != rev:
        found.append(Why(Rule.NEEDS_REVIEW, "The last clean review was of another tree."))
    elif state.clean_review[1] != spec:
        found.append(Why(Rule.NEEDS_REVIEW, "The last clean review was of another spec version."))
    return found


def only_blocked(missing: tuple[Why, ...]) -> bool:
    """True when nothing but BLOCKED entries stands before the end."""
    return len(missing) == 1 and missing[0].rule == Rule.NEEDS_NO_BLOCKED


def proved(state: ThreadState) -> Finish:
    """The end of a session whose ending row is met; `no_op` if it leaves its base as it was."""
    rule = Rule.SCRIPT_PASSED if state.config.done_mode is DoneMode.SCRIPT else Rule.PROVED
    if state.rev == state.base_rev and not state.task_worked:
        return Finish(
            rule=rule,
            reason=EndReason.NO_OP,
            sentence="Nothing had to be done: the tree is the one the session started from.",
        )
    how = (
        "the done script passed on this tree and nothing is open"
        if rule is Rule.SCRIPT_PASSED
        else "two done signals in a row, nothing open, a clean review of this tree and spec"
    )
    return Finish(rule=rule, reason=EndReason.DONE, sentence=f"Proved: {how}.")


def needs_script(state: ThreadState, *, rev: str, head: str, spec: str) -> bool:
    """True if the done script has to judge this committed tree at a worker's boundary.

    Only the latest verdicts are remembered; an older tree that comes back is judged again.
    """
    if state.config.done_mode is DoneMode.AGENT:
        return False
    return script_exit(state, rev=rev, head=head, spec=spec) is None


def script_exit(state: ThreadState, *, rev: str, head: str, spec: str) -> int | None:
    for judged in reversed(state.judged):
        if judged.rev == rev and judged.head == head and judged.spec == spec:
            return judged.exit
    return None


def remember(judged: tuple[Judged, ...], verdict: Judged) -> tuple[Judged, ...]:
    """The script's verdicts with the new one last; bounded."""
    return (*judged, verdict)[-JUDGED_KEPT:]
