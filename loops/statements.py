"""The statements of a steady loop, written out.

They run at every iteration. Through the ORM each costs five to ten times as much as the database
takes for it, and together more than all the rest of an iteration (tests.benchmarks.overhead).
Everything that happens less often goes through the ORM.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import connection

from loops.models import Iteration, LogEntry, OutputPiece, PromptText, Session
from tracker.models import Project

_PROJECT = Project._meta.db_table
_SESSION = Session._meta.db_table
_ITERATION = Iteration._meta.db_table
_LOG = LogEntry._meta.db_table
_PIECE = OutputPiece._meta.db_table
_PROMPT = PromptText._meta.db_table


def _time(moment: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(moment)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def lock(project: Project, session: Session) -> None:
    """Lock both rows, the project first, and refresh what others may have changed in them."""
    lock = " FOR UPDATE" if connection.features.has_select_for_update else ""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT tracker_seq, write_mark FROM {_PROJECT} WHERE id = %s{lock}", [project.pk]
        )
        project.tracker_seq, project.write_mark = cursor.fetchone()
        cursor.execute(
            f"SELECT state, fence, log_seq, iteration_count, stepping FROM {_SESSION} "
            f"WHERE id = %s{lock}",
            [session.pk],
        )
        state, fence, log_seq, count, stepping = cursor.fetchone()
    session.state, session.fence, session.log_seq = state, fence, log_seq
    session.iteration_count, session.stepping = count, bool(stepping)


def refresh(project: Project) -> None:
    """Where the tracker stands now; locks nothing."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT tracker_seq, write_mark FROM {_PROJECT} WHERE id = %s", [project.pk]
        )
        project.tracker_seq, project.write_mark = cursor.fetchone()


def save_counts(session: Session) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {_SESSION} SET log_seq = %s, iteration_count = %s, stepping = %s "
            "WHERE id = %s",
            [session.log_seq, session.iteration_count, session.stepping, session.pk],
        )


def append(session: Session, kind: str, payload: Mapping[str, Any], at: datetime) -> None:
    """A log entry; the session's own row is written by save_counts."""
    session.log_seq += 1
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {_LOG} (session_id, seq, kind, payload, at) VALUES (%s, %s, %s, %s, %s)",
            [session.pk, session.log_seq, kind, _json(payload), _time(at)],
        )


def open_iteration(iteration: Iteration) -> None:
    """Insert it and learn its id."""
    row = iteration
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {_ITERATION} (session_id, number, role, rule, reason, fence, before, "
            "claimed_at_seq, started_at, rev, head, detail, prompt_id) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, '', '', '', %s) RETURNING id",
            [row.session_id, row.number, row.role, row.rule, row.reason, row.fence,
             _json(row.before), row.claimed_at_seq, _time(row.started_at), row.prompt_id],
        )  # fmt: skip
        (iteration.pk,) = cursor.fetchone()


def close_iteration(
    iteration: Iteration, *, outcome: str, rev: str, head: str, detail: str, at: datetime
) -> bool:
    """Write its one outcome, where it is still in flight under the fence it began with."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {_ITERATION} SET ended_at = %s, outcome = %s, rev = %s, head = %s, "
            "detail = %s WHERE id = %s AND fence = %s AND ended_at IS NULL",
            [_time(at), outcome, rev, head, detail, iteration.pk, iteration.fence],
        )
        return cursor.rowcount == 1


def keep_prompt(digest: str, text: str) -> None:
    """Equal prompts are kept once: in a long loop most are equal to one before."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {_PROMPT} (digest, text) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            [digest, text],
        )


def keep_pieces(pieces: Iterable[OutputPiece]) -> None:
    rows = [[p.iteration_id, p.seq, p.offset, p.text, _time(p.at)] for p in pieces]
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.executemany(
            f'INSERT INTO {_PIECE} (iteration_id, seq, "offset", text, at) '
            "VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            rows,
        )
