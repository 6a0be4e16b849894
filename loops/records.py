"""A session as plain data: what the command line prints with --json, and pages later show."""

from __future__ import annotations

from typing import Any

from loops import deliveries, landing
from loops.engine.values import State
from loops.models import Delivery, Iteration, Session
from loops.reading import whereabouts
from loops.reading.reading import Reading
from loops.reading.waiting import waits
from loops.sight import scope_of
from loops.snapshots import Fold
from tracker.facts import facts


def line(session: Session) -> dict[str, Any]:
    """One row of a list; whoever knows the escalations adds `waiting_for`. waits_for: why it does
    not run this moment though it could, else null."""
    return {
        "id": session.pk,
        "project": session.project.name,
        "pattern": session.pattern,
        "state": session.state,
        "end_reason": session.end_reason,
        "waiting_for": [],
        "waits_for": waits(session),
        "host": session.host,
        "iteration_count": session.iteration_count,
    }


def whole(session: Session) -> dict[str, Any]:
    """The row and what the log says; raises LogUnusable when it says nothing.

    snapshot_elsewhere: number of the iteration whose tree other hosts reach, 0 for the base.
    host_lost: a sentence, "" while the host lives.
    """
    detail = line(session) | {
        "goal": session.goal,
        "end_sentence": session.end_sentence,
        "held_until": _iso(session.held_until),
        "branch": f"loopwatch/{session.ref}",
        "result": _result(session),
        "deliveries": [delivery(row) for row in deliveries.made(session)],
        "snapshot_elsewhere": session.kept["iteration"] if session.kept else None,
        "host_lost": whereabouts.lost_sentence(Reading(session)),
        "iterations": [_iteration(row) for row in session.iterations.order_by("number")],
    }
    if session.state == State.DRAFT.value:
        return detail | {"streak": 0, "why_not_done": [], "limits": {}, "at_most": None}
    fold = Fold.load(session)
    state = fold.state
    return detail | {
        "streak": getattr(state, "streak", 0),
        "why_not_done": why_not_done(session, fold),
        "limits": {
            now.name.value: {"used": _round(now.used), "limit": now.limit}
            for now in fold.controller.limits_now(state)
        },
        "at_most": fold.controller.at_most(state),
    }


def why_not_done(session: Session, fold: Fold) -> list[dict[str, str]]:
    """The rules that are not met; empty once the session has ended."""
    if session.state == State.ENDED.value:
        return []
    now = facts(session.project, scope_of(session), session.ref)
    state = fold.state
    reasons = fold.controller.why_not_done(
        state,
        rev=state.rev,
        head=state.head,
        spec=now.spec,
        blockers=now.blockers,
        unjudged=now.unjudged,
        blocked=now.blocked,
    )
    return [{"rule": why.rule, "text": why.text} for why in reasons]


def _result(session: Session) -> dict[str, Any] | None:
    """What an ended session leaves; None before, and where it ended before anything ran."""
    if not session.result_rev:
        return None
    return {
        "commit": landing.commit_of(session) or None,
        "rev": session.result_rev,
        "label": deliveries.label(session),
        "not_delivered_because": deliveries.why_not(session) or None,
    }


def delivery(row: Delivery) -> dict[str, Any]:
    return {
        "id": row.pk,
        "kind": row.kind,
        "target": row.target,
        "commit": row.commit or None,
        "ok": row.ok,
        "said": row.said,
        "by": str(row.by),
        "at": _iso(row.at),
    }


def _iteration(row: Iteration) -> dict[str, Any]:
    return {
        "number": row.number,
        "role": row.role,
        "outcome": row.outcome,
        "started_at": _iso(row.started_at),
        "ended_at": _iso(row.ended_at),
        "rev": row.rev,
        "head": row.head,
        "rule": row.rule,
        "detail": row.detail,
    }


def _iso(moment: Any) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _round(number: float) -> float:
    return round(number, 3) if isinstance(number, float) else number
