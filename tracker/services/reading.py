"""Looking things up. Reads take no lock."""

from __future__ import annotations

from collections.abc import Iterable

from tracker.engine.citations import bug_key, requirement_key
from tracker.engine.rules import Kind, Party
from tracker.errors import Invalid, NotFound
from tracker.models import Bug, Move, Project, Requirement
from tracker.scope import Scope, bugs_in, requirements_in


def get_bug(project: Project, key: str) -> Bug:
    """Return the entry "B-7", "T-7" or "Q-7". Raises Invalid, NotFound."""
    pointer = bug_key(key)
    if pointer is None:
        raise Invalid(f'"{key}" is no key of an entry: B-7, T-7 or Q-7 is.')
    kind, number = pointer
    found = (
        Bug.objects.select_related("project", "requirement", "version", "filed_by")
        .filter(project=project, kind=kind.value, number=number)
        .first()
    )
    if found is None:
        raise NotFound(f"There is no {key.upper()} in {project}.")
    return found


def bugs(
    project: Project,
    scope: Scope | None = None,
    session_ref: str = "",
    *,
    states: Iterable[str] | None = None,
    kinds: Iterable[str] | None = None,
    role: str = Party.PERSON,
) -> list[Bug]:
    """Return entries in scope in the order they were filed; a worker is never shown spec bugs.

    scope None = every entry of the project, those of all sessions included (for people).
    """
    found = Bug.objects.filter(project=project)
    if scope is not None:
        found = found.filter(bugs_in(scope, session_ref))
    if states is not None:
        found = found.filter(state__in=[str(state) for state in states])
    if kinds is not None:
        found = found.filter(kind__in=[str(kind) for kind in kinds])
    if role == Party.WORKER:
        found = found.exclude(kind=Kind.SPEC.value)
    return list(
        found.select_related("project", "requirement", "version", "filed_by").order_by("id")
    )


def requirements(
    project: Project, scope: Scope | None = None, session_ref: str = ""
) -> list[Requirement]:
    """Return requirements that are not removed, with their current version, in order of keys.

    scope None = the whole spec without the goals of other sessions.
    """
    return list(
        Requirement.objects.filter(requirements_in(scope or Scope(), session_ref))
        .filter(project=project, removed_at=None)
        .select_related("current")
        .order_by("number")
    )


def check_scope(project: Project, scope: Scope) -> None:
    """Raise NotFound, naming it, for a chosen document or requirement that is not in the spec."""
    known = requirements(project)
    keys, documents = {one.key for one in known}, {one.document for one in known}
    missing = [key for key in scope.requirements if key not in keys]
    missing += [f"document {name}" for name in scope.documents if name not in documents]
    if missing:
        raise NotFound(f"There is no {' and no '.join(missing)} in {project}. See: req list.")


def get_requirement(project: Project, key: str, session_ref: str = "") -> Requirement:
    """Return the requirement "R-2", removed or not. Raises Invalid, NotFound.

    The goal of another session is not found.
    """
    pointer = requirement_key(key)
    if pointer is None:
        raise Invalid(f'"{key}" is no key of a requirement: R-2 is, and R-2.3 is its line 3.')
    found = (
        Requirement.objects.select_related("current")
        .filter(requirements_in(Scope(), session_ref))
        .filter(project=project, number=pointer.number)
        .first()
    )
    if found is None:
        raise NotFound(f"There is no R-{pointer.number} in {project}.")
    return found


def history(bug: Bug) -> list[Move]:
    """Return every write to the entry, oldest first."""
    return list(bug.moves.select_related("actor").order_by("id"))
