"""The statements of a steady loop, written out and handed to the database's own driver.

They run at every iteration. Through Django's cursors each costs five times as much as the database
takes for it, through the ORM ten times, and together more than all the rest of an iteration
(tests.benchmarks.overhead). Everything that happens less often goes through the ORM.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection, connections

from loops.agents.base import Reply
from loops.engine.rules import Rule
from loops.engine.values import RunRole, Snapshot, Stamp
from loops.in_flight import InFlight, stamp_of
from loops.models import Iteration, LogEntry, OutputPiece, PromptText, Session
from tracker.models import Project

_PROJECT = Project._meta.db_table
_SESSION = Session._meta.db_table
_ITERATION = Iteration._meta.db_table
_LOG = LogEntry._meta.db_table
_PIECE = OutputPiece._meta.db_table
_PROMPT = PromptText._meta.db_table

# Rules under which a step comes again after it was interrupted.
_REPEATS = (Rule.FAULT_AGAIN, Rule.HELD)

_json = json.JSONEncoder(separators=(",", ":")).encode


@cache
def _sql(statement: str) -> str:
    """With the driver's own mark for a value."""
    return statement.replace("%s", "?") if connection.vendor == "sqlite" else statement


def _link() -> Any:
    """Django's connection, open: what it began in atomic() is our transaction too."""
    link = connections[DEFAULT_DB_ALIAS]
    if link.connection is None:
        link.ensure_connection()
    return link


def _change(statement: str, *values: Any) -> int:
    """How many rows it changed."""
    link = _link()
    with link.wrap_database_errors:
        changed: int = link.connection.execute(_sql(statement), values).rowcount
        return changed


def _row(statement: str, *values: Any) -> Any:
    link = _link()
    with link.wrap_database_errors:
        return link.connection.execute(_sql(statement), values).fetchone()


@lru_cache(maxsize=8)
def _time(moment: datetime) -> Any:
    """One moment is written into several rows."""
    return connection.ops.adapt_datetimefield_value(moment)


def lock(project: Project, session: Session) -> None:
    """Lock both rows, the project first, and refresh what others may have changed in them."""
    lock = " FOR UPDATE" if connection.features.has_select_for_update else ""
    project.tracker_seq, project.write_mark = _row(
        f"SELECT tracker_seq, write_mark FROM {_PROJECT} WHERE id = %s{lock}", project.pk
    )
    state, fence, log_seq, count, stepping = _row(
        f"SELECT state, fence, log_seq, iteration_count, stepping FROM {_SESSION} "
        f"WHERE id = %s{lock}",
        session.pk,
    )
    session.state, session.fence, session.log_seq = state, fence, log_seq
    session.iteration_count, session.stepping = count, bool(stepping)


def refresh(project: Project) -> None:
    """Where the tracker stands now; locks nothing."""
    project.tracker_seq, project.write_mark = _row(
        f"SELECT tracker_seq, write_mark FROM {_PROJECT} WHERE id = %s", project.pk
    )


def save_counts(session: Session) -> None:
    """What append(), a claim and a record changed in `session`."""
    _change(
        f"UPDATE {_SESSION} SET log_seq = %s, iteration_count = %s, stepping = %s WHERE id = %s",
        session.log_seq,
        session.iteration_count,
        session.stepping,
        session.pk,
    )


def append(session: Session, kind: str, payload: Mapping[str, Any], at: datetime) -> None:
    """A log entry; the session's own row is written by save_counts."""
    session.log_seq += 1
    _change(
        f"INSERT INTO {_LOG} (session_id, seq, kind, payload, at) VALUES (%s, %s, %s, %s, %s)",
        session.pk,
        session.log_seq,
        kind,
        _json(payload),
        _time(at),
    )


def open_iteration(
    session: Session, directive: RunRole, before: Stamp, *, fence: int, prompt: str, at: datetime
) -> InFlight:
    """The session's iteration number iteration_count, claimed. prompt: the digest of its text."""
    start = directive.start_from
    goes_to = start if start and start != Snapshot(before.rev, before.head) else None
    number, claimed_at = session.iteration_count, session.log_seq
    (row_id,) = _row(
        f"INSERT INTO {_ITERATION} (session_id, number, role, agent, rule, reason, fence, before, "
        "claimed_at_seq, started_at, rev, head, detail, prompt_id) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, '', '', '', %s) RETURNING id",
        *(session.pk, number, directive.role.value, directive.agent),
        *(directive.rule, directive.reason, fence),
        *(_json(stamp_of(before, goes_to)), claimed_at, _time(at), prompt),
    )
    return InFlight(
        id=row_id,
        session_id=session.pk,
        number=number,
        role=directive.role,
        agent=directive.agent,
        fence=fence,
        before=before,
        claimed_at=claimed_at,
        goes_to=goes_to,
        repeats=directive.rule in _REPEATS,
    )


def close_iteration(
    iteration: InFlight, *, outcome: str, rev: str, head: str, reply: Reply, at: datetime
) -> bool:
    """Write its one outcome, where it is still in flight under the fence it began with."""
    changed = _change(
        f"UPDATE {_ITERATION} SET ended_at = %s, outcome = %s, rev = %s, head = %s, detail = %s, "
        "version = %s WHERE id = %s AND fence = %s AND ended_at IS NULL",
        *(_time(at), outcome, rev, head, reply.detail, reply.version),
        *(iteration.id, iteration.fence),
    )
    return changed == 1


def keep_prompt(digest: str, text: str) -> None:
    """Equal prompts are kept once: in a long loop most are equal to one before."""
    _change(
        f"INSERT INTO {_PROMPT} (digest, text) VALUES (%s, %s) ON CONFLICT DO NOTHING", digest, text
    )


class Kept(NamedTuple):
    """A piece of an iteration's output as its row holds it."""

    seq: int
    offset: int
    text: str
    at: datetime


def keep_pieces(iteration: InFlight, pieces: Iterable[Kept]) -> None:
    """A piece that is there already stays as it is."""
    rows = [(iteration.id, p.seq, p.offset, p.text, _time(p.at)) for p in pieces]
    if not rows:
        return
    link = _link()
    with link.wrap_database_errors:
        link.connection.cursor().executemany(
            _sql(
                f'INSERT INTO {_PIECE} (iteration_id, seq, "offset", text, at) '
                "VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
            ),
            rows,
        )
