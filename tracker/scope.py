"""What a session is about: all of a spec, or chosen documents and requirement keys (RULES 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from tracker.engine.citations import requirement_key
from tracker.errors import Invalid


@dataclass(frozen=True)
class Scope:
    """Frozen with a session. Naming a document or a key narrows: `everything` is False then.

    New requirements in a chosen document join by themselves. A session's own goal is always in,
    the goals of other sessions never.
    """

    documents: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    everything: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "documents", tuple(sorted(set(self.documents))))
        object.__setattr__(self, "requirements", tuple(sorted(set(self.requirements))))
        if self.documents or self.requirements:
            object.__setattr__(self, "everything", False)

    def to_json(self) -> dict[str, Any]:
        return {
            "documents": list(self.documents),
            "requirements": list(self.requirements),
            "everything": self.everything,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Scope:
        return cls(
            documents=tuple(data.get("documents", ())),
            requirements=tuple(data.get("requirements", ())),
            everything=bool(data.get("everything", True)),
        )

    def holds(self, *, key: str, document: str, owner: str, session_ref: str) -> bool:
        """Return whether a requirement is in this scope for `session_ref`. owner: its session."""
        if owner:
            return owner == session_ref
        return self.everything or document in self.documents or key in self.requirements

    def numbers(self) -> list[int]:
        pointers = [requirement_key(key) for key in self.requirements]
        if any(pointer is None or pointer.line is not None for pointer in pointers):
            raise Invalid(f"A scope names whole requirements like R-2, not {self.requirements}.")
        return [pointer.number for pointer in pointers if pointer]


def requirements_in(scope: Scope, session_ref: str, prefix: str = "") -> Q:
    """Return the condition on Requirement rows (or, with `prefix`, on rows that point to them)."""
    project_wide = Q(**{f"{prefix}session_ref": ""})
    if not scope.everything:
        project_wide &= Q(**{f"{prefix}document__in": scope.documents}) | Q(
            **{f"{prefix}number__in": scope.numbers()}
        )
    if not session_ref:
        return project_wide
    return project_wide | Q(**{f"{prefix}session_ref": session_ref})


def bugs_in(scope: Scope, session_ref: str) -> Q:
    """Return the condition on Bug rows: what cites a requirement in scope, or none at all, and does
    not belong to another session.

    An entry that cites a session's goal belongs to that session, so `everything` needs no join.
    """
    visible = Q(session_ref__in=sorted({"", session_ref}))
    if scope.everything:
        return visible
    return visible & (
        Q(requirement__isnull=True) | requirements_in(scope, session_ref, "requirement__")
    )
