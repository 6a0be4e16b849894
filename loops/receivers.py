"""What the tracker said, heard inside the write's transaction: human events and blocked entries.
And what follows from a session's end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import receiver

from loops import journal, landing, live, moment
from loops.engine import controllers
from loops.engine.values import REQUIREMENT_EDITED, HumanEvent, Kind, State
from loops.models import Iteration, Session
from loops.questions import Question, artefact
from loops.sight import scope_of
from loops.signals import matter_settled, session_blocked, session_ended
from tracker import signals
from tracker.engine.rules import Verb
from tracker.models import Bug, Project, Requirement
from tracker.scope import bugs_in
from tracker.services import By

# What a person does to an entry that answers what was asked about it; a comment does not.
_SETTLING = (Verb.UNBLOCK, Verb.REOPEN, Verb.DISMISS, Verb.CLOSE, Verb.TURN)
_BEFORE_AND_AFTER = (State.DRAFT.value, State.ENDED.value)


@receiver(signals.bug_changed)
def hear_bug(project: Project, bug: Bug, change: str, by: By, counts: bool, **_: Any) -> None:
    _say(project)
    for session in _live(project):
        if not Bug.objects.filter(bugs_in(scope_of(session), session.ref), pk=bug.pk).exists():
            continue
        if counts:
            _append(session, HumanEvent(0, str(change), bug.key))
        if by.actor.is_person and change in _SETTLING:
            matter_settled.send(
                sender=Session, session=session, subject=bug.key, change=str(change), by=by
            )
        elif bug.state == "BLOCKED" and by.reference.startswith(f"{session.ref}/"):
            _ask_aside(session, bug)


@receiver(signals.requirement_changed)
def hear_requirement(project: Project, requirement: Requirement, **_: Any) -> None:
    _say(project)
    for session in _live(project):
        inside = scope_of(session).holds(
            key=requirement.key,
            document=requirement.document,
            owner=requirement.session_ref,
            session_ref=session.ref,
        )
        if inside:
            _append(session, HumanEvent(0, REQUIREMENT_EDITED, requirement.key))


def _say(project: Project) -> None:
    """Pages of sessions that stand on this tracker show it too."""
    sessions = Session.objects.filter(project=project).exclude(state=State.ENDED.value)
    live.tracker_changed(project.pk, sessions.values_list("pk", flat=True))


def _live(project: Project) -> Iterator[Session]:
    """Sessions with a log, locked: the project's row is locked already by the write itself."""
    live = Session.objects.filter(project=project).exclude(state__in=_BEFORE_AND_AFTER)
    yield from live.select_for_update().order_by("pk")


def _append(session: Session, event: HumanEvent) -> None:
    kind, payload = controllers.entry_to_json(event)
    journal.append(session, kind, payload, moment.now())


def _ask_aside(session: Session, bug: Bug) -> None:
    """A blocked entry is asked about at once and blocks when nothing else is left (RULES 4)."""
    last = Iteration.objects.filter(session=session).exclude(rev="").order_by("-number").first()
    question = Question(
        kind=Kind.BLOCKED,
        text=f"The worker cannot go on with {bug.key} ({bug.title}). What is to become of it?",
        rule="bug blocked",
        subject=bug.key,
        blocking=False,
        artefact=artefact(session, last.rev if last else ""),
    )
    session_blocked.send(sender=Session, session=session, questions=(question,))


@receiver(session_ended)
def land_result(session: Session, **_: Any) -> None:
    """Git work waits for the commit. A process that dies before it leaves it to the delivery."""
    transaction.on_commit(partial(landing.land_quietly, session.pk))
