"""Who looks: times and people are told from the reader's side."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from tracker.models import Actor
from tracker.pages import words


@dataclass(frozen=True, slots=True)
class Reader:
    """name: of the person's actor. session_ref: the loop that the page speaks of ("" = none);
    iterations of that one are told without it. now: aware time."""

    name: str
    session_ref: str
    now: datetime

    def who(self, actor: Actor, reference: str = "") -> str:
        """Return "you", "ana", "Reviewer, it. 53", or "Reviewer, S-40/12" of another session."""
        if actor.is_person:
            return "you" if actor.name == self.name else actor.name
        role = str(actor.role).capitalize()
        return f"{role}, {self.iteration(reference)}" if reference else role

    def iteration(self, reference: str) -> str:
        session_ref, _, number = reference.partition("/")
        return f"it. {number}" if number and session_ref == self.session_ref else reference

    def when(self, at: datetime) -> str:
        return words.moment(timezone.localtime(at), timezone.localtime(self.now))

    def stamp(self, at: datetime) -> str:
        return words.stamp(timezone.localtime(at))
