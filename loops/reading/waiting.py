"""Why a session that could run does not run this moment."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from loops import moment as clock
from loops import turns
from loops.engine.values import State
from loops.models import Session
from loops.reading import whereabouts
from loops.reading.reading import Reading
from tracker.pages.words import moment


def ahead_of(session: Session, *, them: bool = True) -> QuerySet[Session]:
    """Sessions that come before this one on its project; them=False: those that come after."""
    if them:
        first = Q(holds_project=True) | Q(state=State.QUEUED.value, pk__lt=session.pk)
    else:
        first = Q(state=State.QUEUED.value) & ~Q(holds_project=True)
    others = Session.objects.filter(first, project=session.project_id).exclude(pk=session.pk)
    return others.order_by("pk")


def waits_for(reading: Reading) -> str:
    """A sentence for a queued session, and for a running one between two steps."""
    session = reading.session
    if session.not_before and session.not_before > reading.now:
        at = moment(reading.local(session.not_before), reading.now)
        if session.held_until:
            return f"Agent limit resets {at}, resumes by itself"
        return f"Waits until {at} after a fault of the last step, then goes on by itself"
    first = ahead_of(session).first() if not session.holds_project else None
    if first is not None:
        return f"Waits behind {first.ref} on this project"
    if whereabouts.is_lost(session):
        return f"Waits for the host {session.host}"
    if session.lease_until is not None:
        return "Between two iterations"
    busy, of = turns.slots(session.host, clock.now())
    if busy >= of:
        return f"Waits for a slot, {busy} of {of} busy"
    return "A slot is free; it goes on within seconds"


def waits(session: Session) -> str | None:
    """What a session waits for that could run; None for one that runs, or waits for a person."""
    is_held = session.lease_until is not None and not whereabouts.is_lost(session)
    if is_held or session.state not in turns.MOVABLE:
        return None
    return waits_for(Reading(session))
