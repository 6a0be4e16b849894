"""Moves of the engine that need no slot: decisions into the log, stopped sessions to their end."""

from __future__ import annotations

from django.db import transaction

from loops import journal, moment
from loops.engine.lifecycle import Move
from loops.engine.values import EndReason, Finish, State
from loops.models import Answer, Session
from loops.snapshots import Fold


def take_up(session_id: int) -> bool:
    """Append every waiting answer once; resume or end the session if it waited for the last.

    Returns True when something was taken up. Safe to repeat and to race.
    """
    with transaction.atomic():
        _project, session = journal.lock(session_id)
        answers = list(Answer.objects.filter(session=session, taken_at=None).order_by("pk"))
        at = moment.now()
        for answer in answers:
            if session.state != State.ENDED.value:
                journal.append(session, "decided", answer.payload, at)
        Answer.objects.filter(pk__in=[answer.pk for answer in answers]).update(taken_at=at)
        if session.state != State.RESUMING.value:
            return bool(answers)
        directive = Fold.load(session).direct()
        if isinstance(directive, Finish):
            journal.end(
                session,
                Move.DECISION_ENDS,
                directive.reason,
                directive.sentence,
                by=journal.ENGINE,
                at=at,
                result=directive.result,
            )
        else:
            journal.move(session, Move.TAKEN_UP, by=journal.ENGINE, at=at)
    return True


def end_stopped(session_id: int) -> None:
    """A stopping session that nobody holds has no process tree left: it is over."""
    with transaction.atomic():
        _project, session = journal.lock(session_id)
        if session.state == State.STOPPING.value and session.lease_until is None:
            end_as_stopped(session)


def end_as_stopped(session: Session) -> None:
    """The caller holds the session's lock and knows that its process tree is gone."""
    journal.end(
        session,
        Move.TREE_GONE,
        EndReason.STOPPED,
        "Stopped by a person.",
        by=journal.ENGINE,
        at=moment.now(),
    )
