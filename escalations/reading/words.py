"""Questions and decisions in words."""

from __future__ import annotations

from escalations.models import Escalation, Status
from loops.engine.rule_texts import rule_text
from loops.engine.values import Choice, Kind

KINDS = {
    Kind.UNCERTAIN: "Uncertain",
    Kind.CEILING: "Ceiling",
    Kind.EXHAUSTED: "Exhausted",
    Kind.LIMIT: "Limit",
    Kind.NO_PROGRESS: "No progress",
    Kind.INFRASTRUCTURE: "Infrastructure",
    Kind.AUTH: "Sign-in of an agent",
    Kind.BLOCKED: "Blocked",
    Kind.SPEC_CHANGED: "Spec changed",
    Kind.REVIEW_STALL: "Review without a verdict",
    Kind.VERIFIER_CONFLICT: "Verifiers disagree",
    Kind.DISPUTED_FIX: "Disputed fix",
    Kind.GATE: "Gate",
    Kind.QUARANTINE: "Quarantine",
}
CHOICES = {
    Choice.APPROVE: "Approve as it is",
    Choice.EDIT: "Edit, then approve",
    Choice.REJECT: "Reject",
    Choice.REPLAN: "Replan",
    Choice.REASSIGN: "Reassign the worker",
    Choice.AMEND: "Amend a requirement",
    Choice.GRANT: "Allow more",
    Choice.CHANGE: "Change agents or limits",
    Choice.RETRY: "Try the step again",
    Choice.ANSWER: "Answer",
    Choice.ALLOW: "Let it through",
    Choice.DENY: "Keep it out",
    Choice.STOP: "Stop the session",
}
_BUTTONS = {
    Choice.APPROVE: "Approve, end {ref}",
    Choice.EDIT: "Open the editor",
    Choice.REJECT: "Reject, {ref} goes on",
    Choice.AMEND: "Save the requirement, resume {ref}",
    Choice.GRANT: "Allow more, resume {ref}",
    Choice.RETRY: "Try again, resume {ref}",
    Choice.ANSWER: "Answer, {ref} goes on",
    Choice.ALLOW: "Let it through, resume {ref}",
    Choice.DENY: "Keep it out, resume {ref}",
    Choice.STOP: "Stop {ref}",
}
# Number keys of design/ui.md 5; they select and never submit.
KEYS = {
    Choice.APPROVE: "1",
    Choice.REJECT: "2",
    Choice.EDIT: "3",
    Choice.GRANT: "4",
    Choice.REPLAN: "5",
    Choice.REASSIGN: "6",
    Choice.AMEND: "7",
    Choice.ANSWER: "8",
    Choice.RETRY: "9",
    Choice.STOP: "x",
}


def kind(escalation: Escalation) -> str:
    return KINDS[Kind(escalation.kind)]


def why(escalation: Escalation) -> str:
    """Why it came to a person: the rule that asked, in its own words."""
    return rule_text(escalation.rule) or "The worker says that it cannot go on with this entry."


def effect(escalation: Escalation) -> str:
    """What waits meanwhile."""
    ref = f"S-{escalation.session_id}"
    if escalation.status != Status.OPEN.value:
        return ""
    if escalation.blocking:
        return (
            f"{ref} stands still until somebody decides. Its clocks and its spending have stopped."
        )
    return f"{ref} goes on with what else is open. It stands still when nothing else is left."


def button(choice: Choice, ref: str, *, has_amount: bool = False) -> str:
    """What the one button says; "{}" stands for the number typed."""
    if choice is Choice.GRANT and has_amount:
        return f"Grant {{}} more, resume {ref}"
    return _BUTTONS.get(choice, CHOICES[choice]).format(ref=ref)
