"""Fork: go on from a recorded iteration of a session as a session of its own (RULES 1, DESIGN 4).

The fork takes along the tree, the log up to that iteration and what was learnt from it, scope,
goal, done script and configuration. It does not take along: counters, streak, money spent, marks,
and entries that only the parent sees. The tracker is today's; `differences` lists what moved since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from loops import configuration, independence, journal, ledger, live, moment, stage, wake
from loops.engine import controllers
from loops.engine.lifecycle import Move
from loops.engine.values import Configured, Entry, Forked, Snapshot
from loops.models import Iteration, LogEntry, Session
from loops.sight import scope_of
from loops.snapshots import Fold
from tracker import services as tracker
from tracker.errors import Conflict, NotFound
from tracker.models import Project
from tracker.reading.since import Changed, changed_since, left_behind
from tracker.services import By

Limits = Mapping[str, float | None]
Agents = Mapping[str, dict[str, Any]]
_LOG = LogEntry._meta.db_table


@dataclass(frozen=True, slots=True)
class Point:
    """Where a fork begins. seq: the iteration's entry in the log; tracker_seq: of that time."""

    iteration: Iteration
    seq: int
    tracker_seq: int

    @property
    def base(self) -> Snapshot:
        return Snapshot(self.iteration.rev, self.iteration.head)


def point_of(session: Session, number: int) -> Point:
    """Raises NotFound and Conflict with a sentence where nothing can be forked."""
    iteration = session.iterations.filter(number=number).first()
    if iteration is None:
        raise NotFound(f"{session.ref} has no iteration {number} to fork from.")
    if iteration.ended_at is None:
        raise Conflict(
            f"Iteration {number} of {session.ref} still runs; fork it when it has ended."
        )
    entry = recorded_entry(session, iteration)
    if entry is None or not iteration.rev:
        raise Conflict(f"Iteration {number} of {session.ref} left no recorded tree to go on from.")
    return Point(iteration, entry.seq, int(entry.payload["evidence"]["after"]["tracker_seq"]))


def recorded_entry(session: Session, iteration: Iteration) -> LogEntry | None:
    """The log's entry of a finished iteration: the first record after its claim."""
    later = session.own_log.filter(seq__gt=iteration.claimed_at_seq, kind="recorded")
    entry = later.order_by("seq").first()
    is_its = entry is not None and entry.payload["evidence"]["number"] == iteration.number
    return entry if is_its else None


def check(session: Session, number: int) -> dict[str, Any]:
    """What a fork will find, in the shape of services.check. The source is not looked at: a fork
    goes on from a tree in the project's store. Runs git."""
    point = point_of(session, number)
    refusal = stage.lacks(session, point.base.rev, point.base.head)
    known = session.preflight or {}
    return {**known, "refusals": [refusal] if refusal else [], "warnings": []}


def fork(
    session: Session,
    number: int,
    by: By,
    *,
    limits: Limits | None = None,
    agents: Agents | None = None,
    look: dict[str, Any] | None = None,
) -> Session:
    """A new session that goes on after iteration `number` and is queued at once.

    limits: name -> number, None = an explicit none; agents: role, worker of a pool or verifier ->
    settings; what they do not name stays the parent's. look: what check() found; None: it is
    looked at here. Raises NotFound, Conflict, Invalid.
    """
    point = point_of(session, number)
    parsed = configuration.parse(changed_config(session.config, limits or {}, agents or {}))
    configuration.refuse_unpriced(parsed, priced=ledger.are_priced(parsed))
    independence.refuse_own_judges(parsed)
    found = check(session, number) if look is None else look
    if found["refusals"]:
        raise Conflict(f"{session.ref} cannot be forked there. " + " ".join(found["refusals"]))
    fold = Fold.as_of(session, point.seq)  # before the transaction: a long log takes seconds
    with transaction.atomic():
        project, parent = journal.lock(session.pk)
        at = moment.now()
        new = Session.objects.create(
            project=project,
            pattern=parent.pattern,
            config=parsed.model_dump(mode="json"),
            scope=parent.scope,
            preflight=found,
            base_rev=point.base.rev,
            base_head=point.base.head,
            forked_from=parent,
            forked_at=number,
            own_log_after=point.seq + 1,
            host=parent.host,  # where the recorded tree is
            created_by=str(by.actor),
            created_at=at,
        )
        _take_goal_along(parent, new, by)
        journal.move(
            new, Move.START, by=str(by.actor), at=at, note=f"forked from {parent.ref}/{number}"
        )
        _copy_log(parent, new, point.seq)
        for entry in begin(parent, point, parsed):
            kind, payload = controllers.entry_to_json(entry)
            journal.append(new, kind, payload, at)
            fold.apply(entry, new)
        fold.save(new)
        live.session_changed(parent.pk, project.pk, live.STATE)
        wake.wake_on_commit(new.pk)
    new.refresh_from_db()
    return new


def begin(
    parent: Session, point: Point, config: configuration.SessionConfig
) -> tuple[Entry, Entry]:
    """The first two entries of a fork's own."""
    forked = Forked(point.seq + 1, parent.pk, point.iteration.number, point.base)
    return forked, Configured(point.seq + 2, config.engine())


def changed_config(config: dict[str, Any], limits: Limits, agents: Agents) -> dict[str, Any]:
    """A session's configuration with other limits and agents, or as it is. Raises Invalid."""
    return configuration.changed(config, agents, limits) if limits or agents else config


def differences(
    parent: Session, point: Point, *, until: datetime | None = None
) -> tuple[Changed, ...]:
    """What the fork's tracker holds otherwise than at the iteration's time. until: None = now."""
    project, seq = parent.project, point.tracker_seq
    moved = changed_since(project, seq, scope_of(parent), parent.ref, until=until)
    return (*left_behind(project, seq, parent.ref), *moved)


def _take_goal_along(parent: Session, new: Session, by: By) -> None:
    """A goal belongs to one session, so the fork gets its own copy, in today's words."""
    text = goal_now(parent.project, parent)
    if text.strip():
        tracker.edit_requirement(new.project, None, text=text, by=by, session_ref=new.ref)
        Session.objects.filter(pk=new.pk).update(goal=text)
        new.goal = text


def goal_now(project: Project, session: Session) -> str:
    own = project.requirements.filter(session_ref=session.ref).select_related("current").first()
    return own.current.text if own and own.current else session.goal


def _copy_log(parent: Session, new: Session, last: int) -> None:
    """Entry by entry with number and time, by the database alone: a long log costs no memory."""
    columns = "seq, kind, payload, at"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {_LOG} (session_id, {columns}) "
            f"SELECT %s, {columns} FROM {_LOG} WHERE session_id = %s AND seq <= %s ORDER BY seq",
            [new.pk, parent.pk, last],
        )
    Session.objects.filter(pk=new.pk).update(log_seq=last)
    new.log_seq = last
