"""Open a question, decide it, supersede it. Every door calls these verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from escalations.models import Decision, Escalation, Status
from loops import criteria, editing, journal, live, moment
from loops import services as loops
from loops.configuration import MONTH
from loops.engine import questions as table
from loops.engine.controllers import entry_to_json
from loops.engine.values import Choice, Decided, Kind, LimitName, Pattern, Snapshot
from loops.models import Session
from loops.questions import Question
from tracker import services as tracker
from tracker.errors import Conflict, Invalid, NotFound
from tracker.services import By

_NEEDS_WORDS = (Choice.ANSWER, Choice.REJECT, Choice.REPLAN, Choice.DENY)
MOST_ATTEMPTS = 1000  # given by one rejection
DISPOSITIONS = ("reopen", "dismiss", "task")
_BOUND = (Choice.APPROVE, Choice.EDIT)  # they name the evidence that the person saw
_SETTLED_AS = {"dismiss": "dismiss", "close": "dismiss", "turn": "task"}  # else it is open again
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


def get_escalation(escalation_id: int) -> Escalation:
    found = Escalation.objects.select_related("session__project").filter(pk=escalation_id).first()
    if found is None:
        raise NotFound(f"There is no escalation E-{escalation_id}.")
    return found


def offered(escalation: Escalation) -> tuple[Choice, ...]:
    """What a person may decide here (table of RULES 6)."""
    kind, pattern = Kind(escalation.kind), Pattern(escalation.session.pattern)
    return table.offered(kind, pattern, has_artefact=bool(escalation.evidence))


def open_question(session: Session, question: Question, at: datetime) -> Escalation:
    """Create the escalation, or add to the open one that asks the same (caller's transaction)."""
    fingerprint = f"{question.kind.value}:{question.subject}"
    known = Escalation.objects.filter(
        session=session, fingerprint=fingerprint, status=Status.OPEN.value
    ).first()
    _say(session)
    if known is None:
        return Escalation.objects.create(
            session=session,
            kind=question.kind.value,
            blocking=question.blocking,
            question=question.text,
            rule=question.rule,
            subject=question.subject,
            limit=question.limit,
            evidence=question.artefact,
            fingerprint=fingerprint,
            created_at=at,
        )
    changed = known.evidence != question.artefact
    Escalation.objects.filter(pk=known.pk).update(
        count=F("count") + 1,
        blocking=known.blocking or question.blocking,
        evidence=question.artefact,
        version=F("version") + (1 if changed else 0),
    )
    known.refresh_from_db()
    return known


def supersede_all(session: Session, at: datetime) -> None:
    """Any end of a session supersedes its open escalations (RULES 1)."""
    Escalation.objects.filter(session=session, status=Status.OPEN.value).update(
        status=Status.SUPERSEDED.value, closed_at=at
    )
    _say(session)


def decide(escalation: Escalation, word: Word, by: By) -> Decision:
    """One decision, its effects and the session's command in one transaction.

    Raises Conflict when it was decided before or the evidence changed, Invalid for a word that
    this question does not take; nothing is written then. An edit is committed first, outside the
    transaction: git takes time, and a commit that nobody ends with harms nothing.
    """
    edited = _edited(escalation, word, by) if word.choice is Choice.EDIT else None
    with transaction.atomic():
        project, session = journal.lock(escalation.session_id)
        locked = Escalation.objects.select_for_update().get(pk=escalation.pk)
        _refuse_closed(locked)
        _refuse_unfit(locked, word)
        decision = _close(locked, word, by, edited)
        if word.choice is Choice.STOP:
            loops.stop(session, by)
            return decision
        if word.choice is Choice.AMEND:
            tracker.edit_requirement(project, word.requirement, text=word.document, by=by)
        if word.choice is Choice.CHANGE:
            loops.reconfigure(session, by, agents=word.agents, limits=word.limits)
        if word.choice is Choice.ANSWER and locked.subject:
            _dispose(locked, word, by)
        _command(locked, decision, word, by, edited)
    return decision


def _edited(escalation: Escalation, word: Word, by: By) -> Snapshot:
    """The person's commit on top of the evidence that they saw."""
    fresh = get_escalation(escalation.pk)
    _refuse_closed(fresh)
    _refuse_unfit(fresh, word)
    note = word.text.strip() or f"Edit before the approval of {fresh.session.ref}"
    message = f"{note}\n\nDecision on {fresh} of {fresh.session.ref}."
    return editing.edit(fresh.session, fresh.evidence, word.edits, message=message, by=by)


def settle(session: Session, subject: str, change: str, by: By) -> None:
    """A person settled the matter through another door: that act is their decision."""
    word = Word(
        choice=Choice.ANSWER,
        text=f"Settled in the tracker ({change}): {subject}.",
        disposition=_SETTLED_AS.get(change, "reopen"),
    )
    for known in Escalation.objects.filter(
        session=session, subject=subject, status=Status.OPEN.value
    ):
        _command(known, _close(known, word, by), word, by)


def _refuse_closed(escalation: Escalation) -> None:
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


def _refuse_unfit(escalation: Escalation, word: Word) -> None:
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


def _close(escalation: Escalation, word: Word, by: By, edited: Snapshot | None = None) -> Decision:
    at = moment.now()
    won = Escalation.objects.filter(pk=escalation.pk, status=Status.OPEN.value).update(
        status=Status.DECIDED.value, closed_at=at
    )
    if not won:
        raise Conflict(f"{escalation} was decided at the same moment; look again.")
    _say(escalation.session)
    details = {
        "grants": dict(word.grants),
        "disposition": word.disposition,
        "attempts": word.attempts,
        "worker": word.worker,
        "agents": dict(word.agents),
        "limits": dict(word.limits),
    }
    if edited is not None:
        details |= {"edits": sorted(word.edits), "commit": edited.head}
    return Decision.objects.create(
        escalation=escalation,
        choice=word.choice.value,
        text=word.text,
        details=details,
        evidence=word.evidence or escalation.evidence,
        version=escalation.version,
        by=by.actor,
        at=at,
    )


def _say(session: Session) -> None:
    live.session_changed(session.pk, session.project_id, live.QUESTIONS)


def _dispose(escalation: Escalation, word: Word, by: By) -> None:
    """What becomes of the tracker entry that the question is about (RULES 6, "answer")."""
    bug = tracker.get_bug(escalation.session.project, escalation.subject)
    if word.disposition == "dismiss":
        tracker.dismiss(bug, by, word.text)
    elif word.disposition == "task":
        tracker.turn_into_task(bug, by, word.text)
    elif bug.state == "BLOCKED":
        tracker.unblock(bug, by, word.text)
    if escalation.kind == Kind.DISPUTED_FIX.value:
        tracker.reset_disputes(bug, by)


def _command(
    escalation: Escalation,
    decision: Decision,
    word: Word,
    by: By,
    edited: Snapshot | None = None,
) -> None:
    """The session's command, in the decision's transaction; taken up right after the commit."""
    still_open = Escalation.objects.filter(
        session=escalation.session_id, status=Status.OPEN.value, blocking=True
    )
    loops.answer(
        escalation.session,
        decision=decision.pk,
        payload=_entry(escalation, word, edited),
        is_last=not still_open.exists(),
        by=by,
    )


def _entry(escalation: Escalation, word: Word, edited: Snapshot | None) -> dict[str, Any]:
    _kind, payload = entry_to_json(
        Decided(
            seq=0,
            escalation=escalation.pk,
            kind=Kind(escalation.kind),
            choice=word.choice,
            text=word.text,
            subject=escalation.subject,
            disposition=word.disposition if word.choice is Choice.ANSWER else "",
            grants=dict(word.grants),
            attempts=word.attempts,
            worker=word.worker,
            criteria=criteria.frozen(escalation.session) if word.choice is Choice.AMEND else (),
            result=edited,
        )
    )
    return dict(payload)
