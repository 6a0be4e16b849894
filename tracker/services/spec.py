"""Requirements: edited only by people, as immutable versions."""

from __future__ import annotations

from django.utils import timezone

from tracker.engine import rules
from tracker.engine.citations import requirement_key
from tracker.engine.rules import BLOCKING, WORK, State, Verb
from tracker.errors import Conflict, Invalid
from tracker.models import Bug, Project, Requirement, RequirementVersion
from tracker.services.actors import By
from tracker.services.reading import get_requirement
from tracker.services.writing import (
    REQUIREMENT_LIMIT,
    TEXT_LIMIT,
    Write,
    allowed,
    given,
    writing,
)

_OUTDATED = sorted(BLOCKING | {State.FIXED, State.BLOCKED})


def edit_requirement(
    project: Project,
    key: str | None,
    *,
    text: str,
    by: By,
    document: str = "",
    session_ref: str = "",
    based_on: int | None = None,
) -> RequirementVersion:
    """Save a new version of `key`, or a new requirement if key is None; entries citing it go stale.

    document: "" keeps the document of an existing requirement. session_ref: a new requirement is
    that session's goal. based_on: number of the version that was edited; if that is not the
    current one any more, nothing is saved (Conflict). An unchanged text adds no version.
    """
    allowed(rules.act(Verb.EDIT, by.party, "requirements"))
    limit = TEXT_LIMIT if session_ref else REQUIREMENT_LIMIT
    text = given(text, "The goal" if session_ref else "The text of the requirement", limit=limit)
    with writing(project, by) as write:
        if key is None:
            requirement = _new(write, document, session_ref)
            return _save_version(write, requirement, text, 1)
        requirement = _active(write.project, key, session_ref)
        current = requirement.current
        if based_on is not None and based_on != current.number:
            raise Conflict(
                f"{requirement.key} is at version {current.number} now, you edited version"
                f" {based_on}. Nothing was saved: bring your change into version"
                f" {current.number} and save again."
            )
        is_moved = bool(document) and document != requirement.document
        if text == current.text and not is_moved:
            return current
        if is_moved:
            _check_document(document, requirement.session_ref)
            Requirement.objects.filter(pk=requirement.pk).update(document=document)
            requirement.document = document
        return _save_version(write, requirement, text, current.number + 1)


def remove_requirement(project: Project, key: str, *, by: By) -> Requirement:
    """Take a requirement out of the spec; its key is not used again, entries citing it go stale."""
    allowed(rules.act(Verb.REMOVE, by.party, "requirements"))
    with writing(project, by) as write:
        requirement = _active(write.project, key, "")
        _retire(write, requirement, Verb.REMOVE)
        _outdate(write, requirement, f"{requirement.key} was removed.")
        return requirement


def archive_goal(project: Project, session_ref: str, *, by: By) -> None:
    """Put away the goal of an ended session. Nothing happens if it has none or did so before."""
    allowed(rules.act(Verb.ARCHIVE, by.party, "a session's goal"))
    goals = Requirement.objects.filter(project=project, removed_at=None)
    if not session_ref or not goals.filter(session_ref=session_ref).exists():
        return
    with writing(project, by) as write:
        goal = goals.filter(session_ref=session_ref).select_related("current").first()
        if goal is not None:
            _retire(write, goal, Verb.ARCHIVE)


def _new(write: Write, document: str, session_ref: str) -> Requirement:
    _check_document(document, session_ref)
    if session_ref and write.project.requirements.filter(session_ref=session_ref).exists():
        raise Conflict(f"{session_ref} has a goal already. Edit that one.")
    return Requirement.objects.create(
        project=write.project,
        number=write.number("last_requirement"),
        document=document,
        session_ref=session_ref,
    )


def _check_document(document: str, session_ref: str) -> None:
    if document and session_ref:
        raise Invalid("The goal of a session stands in no document.")
    if len(document) > 255 or "\x00" in document:
        raise Invalid("The name of a document has at most 255 characters.")


def _active(project: Project, key: str, session_ref: str) -> Requirement:
    # Only people come here, and a person may edit the goal of any session.
    owner = session_ref or _owner_of(project, key)
    requirement = get_requirement(project, key, owner)
    if requirement.removed_at is not None:
        raise Conflict(f"{requirement.key} was removed. Write a new requirement.")
    return requirement


def _owner_of(project: Project, key: str) -> str:
    pointer = requirement_key(key)
    if pointer is None:
        return ""
    found = project.requirements.filter(number=pointer.number)
    return found.values_list("session_ref", flat=True).first() or ""


def _save_version(
    write: Write, requirement: Requirement, text: str, number: int
) -> RequirementVersion:
    version = RequirementVersion.objects.create(
        requirement=requirement,
        number=number,
        text=text,
        actor=write.by.actor,
        reference=write.by.reference,
    )
    Requirement.objects.filter(pk=requirement.pk).update(current=version)
    requirement.current = version
    write.record(
        Verb.EDIT, subject=requirement.key, requirement=requirement, note=f"version {number}"
    )
    _outdate(write, requirement, f"{requirement.key} is at version {number} now.")
    write.tell_requirement(requirement, version)
    return version


def _retire(write: Write, requirement: Requirement, verb: Verb) -> None:
    requirement.removed_at = timezone.now()
    requirement.save(update_fields=["removed_at"])
    write.record(verb, subject=requirement.key, requirement=requirement)
    write.tell_requirement(requirement, requirement.current)


def _outdate(write: Write, requirement: Requirement, why: str) -> None:
    """Mark as STALE whatever work cites the requirement and is not closed (RULES 5)."""
    citing = Bug.objects.filter(requirement=requirement, kind__in=WORK, state__in=_OUTDATED)
    for bug in citing.order_by("id"):
        write.change(bug, Verb.OUTDATE, State.STALE, note=why)
