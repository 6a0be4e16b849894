"""What each decision does, in the words of the form (RULES 6). Pure."""

from __future__ import annotations

from loops.engine.values import Choice, Kind, Pattern

_ST, _TWV, _MV = Pattern.SINGLE_THREAD, Pattern.FEEDBACK, Pattern.MAKER_VERIFIER

_AGAIN_REACHED = " The limit itself stays as it is, so this question comes back."
_NEXT_STEP = "The same step runs again with the new agents or limits."
_ANSWERED = (
    "Your words go into the next prompts, and the entry is reopened, dismissed or made a task."
)
_REJECT = (
    "Your reason goes into the {role}'s next prompt, with as many more attempts as you allow. With"
    " none, the session ends as exhausted and keeps its best attempt."
)
_REPLAN = "The thinker makes a new plan with your words, and one more attempt is allowed."
_REASSIGN = "The worker that you name makes the next attempt, and one more attempt is allowed."
_AMEND = {
    _ST: "The requirement gets your new text; two done signals and a clean review are needed anew.",
    _TWV: (
        "The requirement gets your new text, the thinker replans, and one more attempt is allowed."
    ),
    _MV: (
        "The requirement gets your new text, the criteria a new version, and one more attempt is"
        " allowed."
    ),
}

# (choice, kind, pattern) -> sentence; None = any. The most telling key wins, the pattern first.
EFFECTS: dict[tuple[Choice, Kind | None, Pattern | None], str] = {
    (Choice.APPROVE, None, None): (
        "The session ends as approved by a person and is labelled not proved."
    ),
    (Choice.EDIT, None, None): (
        "Your commit goes on top and the session ends as edited by a person."
    ),
    (Choice.REJECT, None, _TWV): _REJECT.format(role="worker"),
    (Choice.REJECT, None, _MV): _REJECT.format(role="maker"),
    (Choice.REJECT, Kind.LIMIT, _TWV): _REJECT.format(role="worker") + _AGAIN_REACHED,
    (Choice.REJECT, Kind.LIMIT, _MV): _REJECT.format(role="maker") + _AGAIN_REACHED,
    (Choice.REPLAN, None, _TWV): _REPLAN,
    (Choice.REPLAN, Kind.LIMIT, _TWV): _REPLAN + _AGAIN_REACHED,
    (Choice.REASSIGN, None, _TWV): _REASSIGN,
    (Choice.REASSIGN, Kind.LIMIT, _TWV): _REASSIGN + _AGAIN_REACHED,
    (Choice.ANSWER, None, None): _ANSWERED,
    (Choice.ANSWER, Kind.BLOCKED, _ST): (
        "Your words go into the next prompts. A reopened entry or a new task goes to the worker; if"
        " every blocked entry is dismissed, a review comes next."
    ),
    (Choice.ANSWER, Kind.DISPUTED_FIX, _ST): (
        "Your words go into the next prompts, the entry's reopenings are counted anew, and the"
        " worker goes on."
    ),
    (Choice.ALLOW, None, None): "What was held back is let through, with your words.",
    (Choice.ALLOW, Kind.GATE, None): "The role runs this once; before its next turn you are asked.",
    (Choice.DENY, None, None): "What was held back stays out, and the loop is told why.",
    (Choice.DENY, Kind.GATE, _ST): (
        "The role does not run and the worker goes on, with your words; before a worker you are"
        " asked again."
    ),
    (Choice.DENY, Kind.GATE, _TWV): (
        "The role does not run. Without a verifier you are asked to judge the attempt yourself;"
        " before a thinker or a worker you are asked again."
    ),
    (Choice.DENY, Kind.GATE, _MV): (
        "The role does not run. Without a verifier you are asked to judge the attempt yourself;"
        " before a maker you are asked again."
    ),
    (Choice.GRANT, Kind.LIMIT, None): (
        "The limit is raised and the loop goes on with the step it was at."
    ),
    (Choice.GRANT, Kind.NO_PROGRESS, None): (
        "The worker goes on, and idle iterations are counted anew."
    ),
    (Choice.GRANT, Kind.NO_PROGRESS, _MV): (
        "The maker goes on, and attempts without a change are counted anew."
    ),
    (Choice.GRANT, Kind.REVIEW_STALL, None): (
        "The review runs again, and its failures are counted anew."
    ),
    (Choice.CHANGE, None, None): _NEXT_STEP,
    (Choice.CHANGE, Kind.LIMIT, None): (
        "The new limits or agents are in force from the next step, the one the loop was at."
    ),
    (Choice.CHANGE, Kind.REVIEW_STALL, None): (
        "The review runs again with the new agents or limits."
    ),
    (Choice.RETRY, None, None): ("The same step runs again."),
    (Choice.RETRY, Kind.AUTH, None): (
        "The same step runs again once the credential's test call has passed."
    ),
    **{(Choice.AMEND, None, pattern): text for pattern, text in _AMEND.items()},
    **{
        (Choice.AMEND, Kind.LIMIT, pattern): text + _AGAIN_REACHED
        for pattern, text in _AMEND.items()
    },
    (Choice.STOP, None, None): ("The session ends as stopped, and its other questions fall away."),
}
