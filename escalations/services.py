"""Open a question, decide it, supersede it. Every door calls these verbs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from escalations.models import Decision, Escalation, Status
from escalations.word import Word, refuse_closed, refuse_unfit
from loops import configuration, criteria, editing, journal, live, moment, trials
from loops import services as loops
from loops.engine.controllers import entry_to_json
from loops.engine.values import Choice, Decided, Fault, Kind, Role, Snapshot
from loops.models import Iteration, Session
from loops.questions import Question
from tracker import services as tracker
from tracker.errors import Conflict, Invalid, NotFound
from tracker.services import By

# What a person did in the tracker, as a disposition; else the entry is open again.
_SETTLED_AS = {"dismiss": "dismiss", "close": "dismiss", "turn": "task"}


def get_escalation(escalation_id: int) -> Escalation:
    found = Escalation.objects.select_related("session__project").filter(pk=escalation_id).first()
    if found is None:
        raise NotFound(f"There is no escalation E-{escalation_id}.")
    return found


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
    if word.choice is Choice.RETRY and escalation.kind == Kind.AUTH.value:
        _test_credential(_fit(escalation, word).session)
    edited = _edited(escalation, word, by) if word.choice is Choice.EDIT else None
    with transaction.atomic():
        project, session = journal.lock(escalation.session_id)
        locked = Escalation.objects.select_for_update().get(pk=escalation.pk)
        refuse_closed(locked)
        refuse_unfit(locked, word)
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


def _fit(escalation: Escalation, word: Word) -> Escalation:
    """As it stands now, before what takes time; the transaction asks again."""
    fresh = get_escalation(escalation.pk)
    refuse_closed(fresh)
    refuse_unfit(fresh, word)
    return fresh


def _test_credential(session: Session) -> None:
    """One tiny call of the agent that was refused; takes up to a minute, so never in the
    transaction. A command has none that is tiny for sure."""
    last = Iteration.objects.filter(session=session).order_by("-number").first()
    if last is None:
        return
    agent = configuration.parse(session.config).agent(Role(last.role), last.agent)
    if agent.adapter == "command":
        return
    tried = trials.trial(agent)
    if tried.fault == Fault.AUTH.value:
        raise Invalid(
            f"The credential of the {last.role} is refused still: {tried.sentence} "
            "Set it again, then retry."
        )


def _edited(escalation: Escalation, word: Word, by: By) -> Snapshot:
    """The person's commit on top of the evidence that they saw."""
    fresh = _fit(escalation, word)
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
