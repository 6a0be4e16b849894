"""What a person decides, and why a question does not take it (RULES 6). Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from escalations.models import Decision, Escalation, Status
from loops.configuration import MONTH
from loops.engine import questions as table
from loops.engine.values import Choice, Kind, LimitName, Pattern
from loops.models import Session
from loops.snapshots import Fold, LogUnusable
from tracker.errors import Conflict, Invalid

_NEEDS_WORDS = (Choice.ANSWER, Choice.REJECT, Choice.REPLAN, Choice.DENY)
MOST_ATTEMPTS = 1000  # given by one rejection
DISPOSITIONS = ("reopen", "dismiss", "task")
_BOUND = (Choice.APPROVE, Choice.EDIT)  # they name the evidence that the person saw
_GRANTABLE = [name.value for name in LimitName] + ["repeats"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What a person decides. evidence: the hash they saw (needed to approve). version: of the
    evidence that they saw, None where no page showed one (command line). grants: limit -> amount
    added. disposition: what becomes of the entry the question is about (answer).
    requirement, document: the requirement to amend and its new text. attempts: more of them, with
    a rejection. worker: who tries next (reassign). agents, limits: as in loops.reconfigure. edits:
    new text of files, by path from the repository's root (edit)."""

    choice: Choice
    text: str = ""
    evidence: str = ""
    version: int | None = None
    grants: Mapping[str, int] = field(default_factory=dict)
    disposition: str = "reopen"
    requirement: str = ""
    document: str = ""
    attempts: int = 0
    worker: str = ""
    agents: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, float | None] = field(default_factory=dict)
    edits: Mapping[str, str] = field(default_factory=dict)


def offered(escalation: Escalation) -> tuple[Choice, ...]:
    """What a person may decide here (table of RULES 6)."""
    kind, pattern = Kind(escalation.kind), Pattern(escalation.session.pattern)
    return table.offered(
        kind,
        pattern,
        has_artefact=bool(escalation.evidence),
        has_plan=pattern is Pattern.FEEDBACK and _has_plan(escalation.session),
    )


def _has_plan(session: Session) -> bool:
    """Not before the thinker handed one in that counts."""
    try:
        return getattr(Fold.load(session).state, "plan", None) is not None
    except LogUnusable:
        return False


def refuse_closed(escalation: Escalation) -> None:
    if escalation.status == Status.OPEN.value:
        return
    decision = Decision.objects.filter(escalation=escalation).select_related("by").first()
    if decision is None:
        raise Conflict(
            f"{escalation} is void: S-{escalation.session_id} ended before it was decided."
        )
    raise Conflict(
        f"{escalation} was already decided: {decision.choice} by {decision.by.name} at "
        f"{decision.at:%Y-%m-%d %H:%M} UTC. Your decision was not taken."
    )


def refuse_unfit(escalation: Escalation, word: Word) -> None:
    if word.version is not None and word.version != escalation.version:
        raise Conflict(
            f"{escalation} now stands on evidence version {escalation.version}, "
            f"not {word.version}; look at it, then decide."
        )
    choices = offered(escalation)
    if word.choice not in choices:
        names = ", ".join(choice.value for choice in choices)
        raise Invalid(f"{escalation} does not take {word.choice.value}; it takes {names}.")
    if word.choice in _BOUND and word.evidence != escalation.evidence:
        raise Conflict(
            f"{escalation} now stands on evidence {escalation.evidence}; look at it, then decide."
        )
    if word.choice is Choice.EDIT and not word.edits:
        raise Invalid("Change a file, or approve the result as it is.")
    if word.choice in _NEEDS_WORDS and not word.text.strip():
        raise Invalid(f"{word.choice.value} needs words: the next step reads them.")
    if word.choice is Choice.ANSWER and word.disposition not in DISPOSITIONS:
        raise Invalid(f"The entry can be {', '.join(DISPOSITIONS)}; {word.disposition!r} is none.")
    if word.choice is Choice.AMEND and not (word.requirement and word.document.strip()):
        raise Invalid("To amend, name the requirement and give its new text.")
    if word.choice is Choice.GRANT:
        _refuse_grant(escalation, word)
    if word.choice is Choice.REJECT and not 0 <= word.attempts <= MOST_ATTEMPTS:
        raise Invalid(f"Give 0 to {MOST_ATTEMPTS} more attempts; 0 ends the session.")
    if word.choice is Choice.REASSIGN and word.worker not in _pool(escalation):
        raise Invalid(f"Name the worker to try next: {', '.join(_pool(escalation))}.")


def _pool(escalation: Escalation) -> list[str]:
    return [worker["name"] for worker in escalation.session.config.get("pool", ())]


def _refuse_grant(escalation: Escalation, word: Word) -> None:
    if escalation.kind == Kind.LIMIT.value and not word.grants:
        raise Invalid(f"Say how much of the limit to grant, for example {escalation.limit}=20.")
    for name, amount in word.grants.items():
        if name not in _GRANTABLE:
            raise Invalid(f"{name!r} is no limit; the limits are {', '.join(_GRANTABLE)}.")
        most = MONTH if name == LimitName.WALL_SECONDS else 10_000
        if name in (LimitName.TOKENS, LimitName.MONEY):
            most = 10**12
        if not 0 < amount <= most:
            raise Invalid(
                f"A grant is a positive number, at most {most:,}; {name}={amount} is not."
            )
