"""The reviewer's marks: this requirement holds, look there."""

from __future__ import annotations

from tracker.engine import rules
from tracker.engine.citations import path_of
from tracker.engine.rules import Verb
from tracker.errors import Invalid
from tracker.models import Mark, Project, Requirement
from tracker.services.actors import By
from tracker.services.reading import get_requirement
from tracker.services.writing import Write, allowed, given, writing


def add_mark(
    project: Project, key: str, *, by: By, place: str, blob: str, session_ref: str
) -> Mark:
    """Mark the current version of a requirement as holding, seen at `place` ("file:line").

    blob: content id of that file ("" if unknown). A mark equal to the one that stands is written
    again (it belongs to a later review) but adds nothing: `facts.during` does not count it.
    """
    allowed(rules.act(Verb.MARK, by.party, "requirements"))
    place = given(place, "The place where the requirement holds").strip()
    with writing(project, by) as write:
        requirement = get_requirement(write.project, key, session_ref or by.session_ref)
        if requirement.removed_at is not None:
            raise Invalid(f"{requirement.key} was removed; there is nothing to mark.")
        fields = {"place": place, "blob": blob, "version": requirement.current}
        return _replace(write, requirement, session_ref, fields)


def _replace(write: Write, requirement: Requirement, session_ref: str, fields: dict) -> Mark:
    standing = Mark.objects.filter(
        project=write.project, session_ref=session_ref, requirement=requirement, is_newest=True
    )
    old = standing.first()
    standing.update(is_newest=False)
    mark = Mark.objects.create(
        project=write.project,
        requirement=requirement,
        session_ref=session_ref,
        actor=write.by.actor,
        reference=write.by.reference,
        **fields,
    )
    write.record(
        Verb.MARK_AGAIN if _is_same(old, mark) else Verb.MARK,
        subject=requirement.key,
        requirement=requirement,
        note=mark.place,
    )
    return mark


def _is_same(old: Mark | None, new: Mark) -> bool:
    """Return whether `new` says nothing that `old` did not: another line of a file is no news."""
    return old is not None and (old.version_id, path_of(old.place), old.blob) == (
        new.version_id,
        path_of(new.place),
        new.blob,
    )
