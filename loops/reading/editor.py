"""One requirement with what saving, restoring or removing it does to tracker and loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loops.reading import effects
from tracker.errors import NotFound
from tracker.forms import RequirementForm
from tracker.models import Bug, Project, Requirement
from tracker.pages.spec import EditorPart
from tracker.pages.word_diff import changed_count, count_of
from tracker.reading import spec
from tracker.reading.reader import Reader
from tracker.reading.spec import Urls
from tracker.reading.standing import title_of


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a person reads or writes one requirement (None: a new one)."""

    project: Project
    requirement: Requirement | None
    urls: Urls
    reader: Reader
    can_edit: bool

    @property
    def text(self) -> str:
        now = self.requirement.current if self.requirement else None
        return now.text if now else ""

    @property
    def version(self) -> int:
        now = self.requirement.current if self.requirement else None
        return now.number if now else 0

    def citing(self) -> list[Bug]:
        return spec.citing(self.requirement) if self.requirement else []

    def blank(self) -> RequirementForm:
        """Return the form with the text in use."""
        return RequirementForm(
            initial={"text": self.text, "based_on": self.version},
            citing=[bug.key for bug in self.citing()],
        )

    def bound(self, data: object) -> RequirementForm:
        return RequirementForm(data, citing=[bug.key for bug in self.citing()])


def writing(
    desk: Desk, form: RequirementForm, *, notice: str = "", lost_to: int | None = None
) -> EditorPart:
    """Return the editor. lost_to: the version that the draft is based on, when somebody saved
    another one since: both texts are shown then."""
    draft = str(form["text"].value() or "").replace("\r\n", "\n")
    bugs = desk.citing()
    loops = effects.saving_lines(desk.project, desk.requirement, desk.version + 1)
    theirs = None
    if lost_to is not None and desk.requirement is not None:
        base = spec.version_of(desk.requirement, lost_to)
        theirs = spec.theirs(desk.requirement, base, desk.reader)
    return EditorPart(
        **_common(desk, bugs),
        form=form,
        line_count=count_of(draft),
        changed=changed_count(draft, desk.text) if desk.requirement else 0,
        saving=spec.saving(desk.requirement, draft, bugs, loops, form=form),
        notice=notice,
        theirs=theirs,
    )


def reading(desk: Desk, *, compare: int | None = None, is_removing: bool = False) -> EditorPart:
    """Return a requirement for reading. compare: number of an older version to show beside it.

    Raises NotFound if there is no such version.
    """
    assert desk.requirement is not None  # only what exists is read
    bugs = desk.citing()
    old = removal = None
    if compare is not None and compare != desk.version:
        row = spec.version_of(desk.requirement, compare)
        if row is None:
            raise NotFound(f"{desk.requirement.key} has no version {compare}.")
        loops = effects.saving_lines(desk.project, desk.requirement, desk.version + 1)
        old = spec.old_version(
            desk.requirement, row, desk.urls, loops=loops, can_edit=_can_edit(desk)
        )
    if is_removing and _can_edit(desk) and not desk.requirement.session_ref:
        loops = effects.saving_lines(desk.project, desk.requirement, 0)
        removal = spec.removal(bugs, desk.urls, loops)
    lines, left_out = spec.reading_lines(desk.text)
    form = desk.blank()
    return EditorPart(
        **_common(desk, bugs),
        form=form,
        lines=lines,
        left_out=left_out,
        saving=spec.saving(desk.requirement, desk.text, (), (), form=form),
        is_reading=True,
        old=old,
        removal=removal,
        notice=_gone(desk),
    )


def _common(desk: Desk, bugs: list[Bug]) -> dict[str, Any]:
    urls, requirement = desk.urls, desk.requirement
    found: dict[str, Any] = {
        "key": requirement.key if requirement else "",
        "title": title_of(desk.text[:1000]),
        "post": urls.page,
        "preview": f"{urls.page}preview/",
        "discard": urls.page if requirement else urls.spec,
        "can_edit": _can_edit(desk),
    }
    if requirement is None:
        return found
    return found | {
        "read_url": urls.page,
        "write_url": f"{urls.page}?write=1",
        # The goal of a session goes with its session.
        "remove": "" if requirement.session_ref else f"{urls.page}?remove=1",
        "versions": spec.versions(
            requirement, urls, desk.reader, effects.uses(desk.project, requirement)
        ),
        "cited_by": spec.cited_by(bugs, urls),
        "citing_url": f"{urls.tracker}?cites={requirement.key}&closed=all",
    }


def _can_edit(desk: Desk) -> bool:
    return desk.can_edit and not (desk.requirement and desk.requirement.removed_at)


def _gone(desk: Desk) -> str:
    if desk.requirement is None or desk.requirement.removed_at is None:
        return ""
    if desk.requirement.session_ref:
        return f"{desk.requirement.session_ref} has ended; its goal is kept for reading."
    return f"{desk.requirement.key} was removed from the spec. It is kept for reading."
