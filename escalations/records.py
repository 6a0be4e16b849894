"""Escalations, and sessions with what they wait for, as plain data."""

from __future__ import annotations

from typing import Any

from escalations.models import Escalation, Status
from escalations.word import offered
from loops.engine import questions as table
from loops.engine.values import Kind, Pattern
from loops.models import Session


def open_of(session: Session) -> list[dict[str, Any]]:
    found = Escalation.objects.filter(session=session, status=Status.OPEN.value).order_by("pk")
    return [{"escalation": e.pk, "kind": e.kind, "blocking": e.blocking} for e in found]


def record(escalation: Escalation) -> dict[str, Any]:
    return {
        "id": escalation.pk,
        "session": escalation.session_id,
        "kind": escalation.kind,
        "blocking": escalation.blocking,
        "question": escalation.question,
        "evidence": escalation.evidence or None,
        "version": escalation.version,
        "decisions": [choice.value for choice in offered(escalation)],
    }


def whole(escalation: Escalation) -> dict[str, Any]:
    decision = getattr(escalation, "decision", None)
    kind, pattern = Kind(escalation.kind), Pattern(escalation.session.pattern)
    return record(escalation) | {
        "status": escalation.status,
        "subject": escalation.subject or None,
        "count": escalation.count,
        "effects": {c.value: table.effect(kind, c, pattern) for c in offered(escalation)},
        "decided": None
        if decision is None
        else {"choice": decision.choice, "text": decision.text, "by": str(decision.by)},
    }
