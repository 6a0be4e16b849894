"""Questions and decisions in words."""

from __future__ import annotations

from typing import Any

from escalations.models import Decision, Escalation, Status
from loops.engine.rule_texts import rule_text
from loops.engine.values import Choice, Kind
from tracker.pages.words import plural

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
    Choice.REJECT: "Reject, allow {{}} more",
    Choice.REPLAN: "Replan, resume {ref}",
    Choice.REASSIGN: "Reassign, resume {ref}",
    Choice.CHANGE: "Change, resume {ref}",
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


def gate_words(choice: Choice, role: str) -> str:
    """The choice on a gate, with who waits behind it; "" for another choice."""
    return {
        Choice.ALLOW: f"Let the {role} run",
        Choice.DENY: f"Do not let the {role} run",
    }.get(choice, "")


def details(decision: Decision) -> tuple[str, ...]:
    """What was given or changed with it, one sentence each."""
    said: dict[str, Any] = decision.details
    found = []
    if decision.choice == Choice.REJECT.value:
        attempts = said.get("attempts", 0)
        found.append(f"{plural(attempts, 'more attempt')} allowed." if attempts else "For good.")
    if said.get("worker"):
        found.append(f"The next attempt is made by {said['worker']}.")
    found += [f"{amount:,} more {_limit(name)}." for name, amount in said.get("grants", {}).items()]
    found += [f"{who} is played by {agent}." for who, agent in said.get("agents", {}).items()]
    for name, number in said.get("limits", {}).items():
        found.append(f"Limit of {_limit(name)}: {'none' if number is None else f'{number:,}'}.")
    return tuple(found)


def _limit(name: str) -> str:
    return {"wall_seconds": "seconds", "no_progress": "iterations without a change"}.get(name, name)


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
