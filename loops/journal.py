"""The only writers of a session's log and state: append an entry, make a move.

Lock order everywhere: the project's row, then the session's. Every tracker write locks the project
first too, so no bug or edit slips between a record and the move it causes (RULES 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from loops import live
from loops.engine import lifecycle
from loops.engine.lifecycle import Move
from loops.engine.values import EndReason, Snapshot, State
from loops.models import Iteration, LogEntry, Session, Transition
from loops.signals import session_ended
from tracker.errors import Conflict, NotFound
from tracker.models import Project

ENGINE = "engine"


def lock(session_id: int) -> tuple[Project, Session]:
    """The session and its project, locked until the transaction ends."""
    session = Session.objects.filter(pk=session_id).only("project_id").first()
    if session is None:
        raise NotFound(f"There is no session S-{session_id}.")
    project = Project.objects.select_for_update().get(pk=session.project_id)
    return project, Session.objects.select_for_update().get(pk=session_id)


def append(session: Session, kind: str, payload: Mapping[str, Any], at: datetime) -> int:
    """Append one fact; returns its sequence. The caller holds the session's lock."""
    session.log_seq += 1
    Session.objects.filter(pk=session.pk).update(log_seq=session.log_seq)
    LogEntry.objects.create(session=session, seq=session.log_seq, kind=kind, payload=payload, at=at)
    live.session_changed(session.pk, session.project_id, live.STEP)
    return session.log_seq


def move(
    session: Session, event: Move, *, by: str, at: datetime, note: str = "", **fields: Any
) -> None:
    """Make one row of the move table: conditional UPDATE, Transition row, `session` kept in step.

    Raises Conflict with a sentence when the table has no such row or somebody was faster.
    """
    before = State(session.state)
    try:
        after = lifecycle.move(before, event, session=session.ref)
    except lifecycle.IllegalMove as illegal:
        raise Conflict(str(illegal)) from None
    changed = Session.objects.filter(pk=session.pk, state=before.value).update(
        state=after.value, **fields
    )
    if not changed:
        raise Conflict(f"{session.ref} changed at the same moment; look again and repeat.")
    session.state = after.value
    for name, value in fields.items():
        setattr(session, name, value)
    Transition.objects.create(
        session=session,
        before=before.value,
        move=event.value,
        after=after.value,
        by=by,
        note=note,
        at=at,
    )
    live.session_changed(session.pk, session.project_id, live.STATE)


def end(
    session: Session,
    event: Move,
    reason: EndReason,
    sentence: str,
    *,
    by: str,
    at: datetime,
    result: Snapshot | None = None,
) -> None:
    """End the session once and for all; the project is free for the next in line.

    result: the tree that it ends with; None = the one that stands.
    """
    tree = result or standing(session)
    move(
        session,
        event,
        by=by,
        at=at,
        note=sentence,
        end_reason=reason.value,
        end_sentence=sentence,
        ended_at=at,
        result_rev=tree.rev,
        result_head=tree.head,
        holds_project=False,
        not_before=None,
        held_until=None,
        lease_owner=None,
        lease_until=None,
        process=None,
        fence=session.fence + 1,
    )
    session_ended.send(sender=Session, session=session, by=by)


def standing(session: Session) -> Snapshot:
    """The tree of the newest iteration that was recorded, else the base; ("", "") before it."""
    recorded = Iteration.objects.filter(session=session.pk).exclude(rev="").order_by("-number")
    newest = recorded.values_list("rev", "head").first()
    return Snapshot(*(newest or (session.base_rev, session.base_head)))
