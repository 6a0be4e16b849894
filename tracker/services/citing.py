"""Citations against the spec as it is now, under the lock of the write that needs them."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.engine import citations
from tracker.engine.citations import Fails, Pointer
from tracker.errors import Invalid
from tracker.models import Bug, Requirement, RequirementVersion
from tracker.services.reading import get_requirement
from tracker.services.writing import Write

OFFER = " If no requirement says it, file a spec bug instead."


@dataclass(frozen=True)
class Citation:
    """A pointer that was checked. line_text: the folded words of the line (needs a quote)."""

    requirement: Requirement
    version: RequirementVersion
    line: int | None
    line_text: str = ""

    @property
    def owner(self) -> str:
        """The session whose goal is cited: the entry then belongs to it."""
        return self.requirement.session_ref


def cite(write: Write, cites: str, session_ref: str, *, version: int | None = None) -> Citation:
    """Return a citation without a quote (tasks and spec bugs)."""
    requirement, pointer = _cited(write, cites, session_ref, version)
    failure = citations.cited_line(requirement.current.text, pointer)
    if failure is not None:
        raise Invalid(failure.sentence)
    return Citation(requirement, requirement.current, pointer.line)


def quote(
    write: Write, cites: str, words: str, session_ref: str, *, version: int | None = None
) -> Citation:
    """Return a citation whose quoted words stand in the current version (code bugs)."""
    if not cites.strip():
        raise Invalid("A code bug needs the requirement that it contradicts." + OFFER)
    requirement, pointer = _cited(write, cites, session_ref, version)
    return _standing(requirement, pointer, words)


def requote(bug: Bug, words: str) -> Citation:
    """Return the citation of a code bug again, against the current version of its requirement."""
    requirement = Requirement.objects.select_related("current").get(pk=bug.requirement_id)
    if requirement.removed_at is not None:
        raise Invalid(f"{requirement.key} was removed; close {bug.key}.")
    if bug.version_id == requirement.current_id and not words:
        return Citation(requirement, requirement.current, bug.line)
    return _standing(requirement, Pointer(requirement.number), words or bug.quote)


def _cited(
    write: Write, cites: str, session_ref: str, version: int | None
) -> tuple[Requirement, Pointer]:
    owner = session_ref or write.by.session_ref
    requirement = get_requirement(write.project, cites, owner)
    pointer = citations.requirement_key(cites)
    assert pointer is not None  # get_requirement has refused what is no key
    if requirement.removed_at is not None:
        raise Invalid(f"{requirement.key} was removed, so nothing can contradict it." + OFFER)
    if version is not None and version != requirement.current.number:
        raise Invalid(
            f"{requirement.key} is at version {requirement.current.number} now, you cite version"
            f" {version}. Read it again."
        )
    return requirement, pointer


def _standing(requirement: Requirement, pointer: Pointer, words: str) -> Citation:
    current = requirement.current
    result = citations.quoted(current.text, words, pointer)
    if isinstance(result, Fails):
        raise Invalid(f"{result.sentence} It is at version {current.number}." + OFFER)
    return Citation(requirement, current, result.line, result.line_text)
