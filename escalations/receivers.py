"""What the loops said, heard inside the same transaction."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from escalations import services
from loops import moment, signals
from loops.models import Session
from loops.questions import Question
from tracker.services import By


@receiver(signals.session_blocked)
def open_questions(session: Session, questions: tuple[Question, ...], **_: Any) -> None:
    for question in questions:
        services.open_question(session, question, moment.now())


@receiver(signals.session_ended)
def supersede(session: Session, **_: Any) -> None:
    services.supersede_all(session, moment.now())


@receiver(signals.matter_settled)
def settle(session: Session, subject: str, change: str, by: By, **_: Any) -> None:
    services.settle(session, subject, change, by)
