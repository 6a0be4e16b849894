"""From the controller's directive to a question that a person can answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from loops import journal
from loops.engine.lifecycle import Move
from loops.engine.values import AskHuman, Kind
from loops.models import Session
from loops.signals import session_blocked
from loops.workspaces import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What escalations hear. subject: the tracker entry it is about, or "".

    artefact: hash of the tree a person would approve, "" when the session has changed nothing.
    """

    kind: Kind
    text: str
    rule: str
    subject: str = ""
    blocking: bool = True
    artefact: str = ""
    limit: str = ""


def ask(session: Session, directive: AskHuman, tree: Tree, at: datetime) -> None:
    """The session waits; the questions exist in the same transaction (RULES 1, ESCALATIONS 2)."""
    journal.move(session, Move.ASK, by=journal.ENGINE, at=at, note=directive.question)
    shown = directive.shown.rev if directive.shown else tree.rev
    questions = tuple(
        Question(
            kind=directive.kind,
            text=directive.question,
            rule=directive.rule,
            subject=subject,
            artefact=artefact(session, shown),
            limit=directive.limit or "",
        )
        for subject in directive.subjects or ("",)
    )
    session_blocked.send(sender=Session, session=session, questions=questions)


def artefact(session: Session, rev: str) -> str:
    return rev if rev and rev != session.base_rev else ""
