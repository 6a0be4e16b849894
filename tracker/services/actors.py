"""Who acts."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.engine.rules import Party
from tracker.errors import Invalid
from tracker.models import Actor, Project


@dataclass(frozen=True)
class By:
    """Who does it. reference: the iteration of an agent, "S-3/7" ("" for people)."""

    actor: Actor
    reference: str = ""

    @property
    def party(self) -> Party:
        return self.actor.party

    @property
    def is_person(self) -> bool:
        return self.actor.is_person

    @property
    def session_ref(self) -> str:
        return self.actor.session_ref

    def __str__(self) -> str:
        return described(self.actor, self.reference)


def described(actor: Actor, reference: str) -> str:
    """Return the actor in words: "ana", "the worker in S-3/7"."""
    if actor.is_person or not reference:
        return str(actor)
    return f"the {actor.role} in {reference}"


def person(name: str) -> By:
    """Return the person of that name, known from now on."""
    name = name.strip()
    if not name or len(name) > 150:
        raise Invalid("A person's name has 1 to 150 characters.")
    actor, _ = Actor.objects.get_or_create(role=Party.PERSON.value, name=name)
    return By(actor)


def engine() -> By:
    """Return the engine itself, for what follows from a session's end."""
    actor, _ = Actor.objects.get_or_create(role=Party.ENGINE.value)
    return By(actor)


def agent(project: Project, role: str, session_ref: str, reference: str) -> By:
    """Return the agent that plays `role` in that session, acting in iteration `reference`."""
    if role not in set(Party) - {Party.PERSON, Party.ENGINE}:
        raise Invalid(f'"{role}" is no role of an agent.')
    actor, _ = Actor.objects.get_or_create(project=project, role=str(role), session_ref=session_ref)
    return By(actor, reference)
