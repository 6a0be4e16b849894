"""A project's spec: the list, one requirement, what saving a draft does to the tracker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.forms import BaseForm

from tracker.engine import citations
from tracker.engine.citations import Pointer
from tracker.engine.rules import BLOCKING, Kind, State
from tracker.models import Bug, Project, Requirement, RequirementVersion
from tracker.pages.atoms import CheckLine
from tracker.pages.spec import (
    Citing,
    Document,
    OldVersion,
    Removal,
    RequirementRow,
    SavingPart,
    SpecPage,
    Theirs,
    VersionRow,
)
from tracker.pages.word_diff import NumberedLine, count_of, numbered, word_diff
from tracker.reading import entries
from tracker.reading.reader import Reader
from tracker.reading.standing import Standing, standings

LINES_SHOWN = 2_000
VERSIONS_SHOWN = 50
GOALS = "Goals of sessions"
_OUTDATED = sorted(BLOCKING | {State.FIXED, State.BLOCKED})
Lines = tuple[CheckLine, ...]


@dataclass(frozen=True, slots=True)
class Urls:
    """Where a project's tracker and spec are. key: of the requirement, "new" for a new one."""

    tracker: str
    spec: str
    key: str = "new"

    @property
    def page(self) -> str:
        return f"{self.spec}{self.key}/"


def spec_page(project: Project, urls: Urls, *, current: str = "", can_edit: bool) -> SpecPage:
    """Read the list alone; the editor is put in by who shows one."""
    rows = standings(project)
    return SpecPage(
        project=project.name,
        index=urls.tracker,
        spec=urls.spec,
        documents=_documents(rows, urls, current),
        count=len(rows),
        new=f"{urls.spec}new/",
        can_edit=can_edit,
    )


def _documents(rows: list[Standing], urls: Urls, current: str) -> tuple[Document, ...]:
    found: dict[str, list[RequirementRow]] = {}
    for one in rows:
        name = GOALS if one.session_ref else one.document
        title = f"{one.session_ref}: {one.title}" if one.session_ref else one.title
        found.setdefault(name, []).append(
            RequirementRow(
                key=one.key,
                title=title,
                href=f"{urls.spec}{one.key}/",
                chip=one.chip,
                is_current=one.key == current,
            )
        )
    # In the order they were written; those in no document first, goals last.
    order = sorted(found, key=lambda name: (name == GOALS, name != ""))
    return tuple(Document(name, tuple(found[name])) for name in order)


def reading_lines(text: str) -> tuple[tuple[NumberedLine, ...], int]:
    """Return the numbered lines to show, and how many are left out of a very long text."""
    return numbered(text, LINES_SHOWN), max(0, count_of(text) - LINES_SHOWN)


def citing(requirement: Requirement) -> list[Bug]:
    return list(
        Bug.objects.filter(requirement=requirement)
        .select_related("version", "requirement")
        .defer("text", "contradiction")
        .order_by("state", "id")
    )


def cited_by(bugs: Sequence[Bug], urls: Urls, most: int = 30) -> tuple[Citing, ...]:
    """Return the entries that cite a requirement, open ones first."""
    ordered = sorted(bugs, key=lambda bug: (bug.state == State.CLOSED, -bug.pk))
    return tuple(
        Citing(
            bug.key,
            bug.title,
            f"{urls.tracker}{bug.key}/",
            entries.chip(bug),
            bug.state != State.CLOSED,
        )
        for bug in ordered[:most]
    )


def saving(
    requirement: Requirement | None,
    draft: str,
    bugs: Sequence[Bug],
    loops: Lines,
    *,
    form: BaseForm,
) -> SavingPart:
    """Return what saving `draft` does. loops: what it does to sessions (told by who knows them)."""
    now = requirement.current if requirement else None
    against = now.number if now else 0
    draft = citations.clean(draft)
    outdated = [bug for bug in bugs if bug.state in _OUTDATED and bug.kind != Kind.SPEC]
    confirmable = tuple(bug.key for bug in outdated if now and _still_stands(bug, draft))
    confirmed = form["confirm"].value() or ()
    return SavingPart(
        version=against + 1,
        against=against,
        lines=(
            *loops,
            *(_stale_line(bug, against + 1, bug.key in confirmable) for bug in outdated),
        ),
        diff=word_diff(now.text, draft) if now else (),
        citing=confirmable,
        confirmed=tuple(key for key in confirmable if key in confirmed),
    )


def _still_stands(bug: Bug, draft: str) -> bool:
    if bug.kind != Kind.CODE or bug.requirement is None:
        return bug.kind == Kind.TASK
    found = citations.quoted(draft, bug.quote, Pointer(bug.requirement.number))
    return isinstance(found, citations.Stands)


def _stale_line(bug: Bug, version: int, is_confirmable: bool) -> CheckLine:
    cited = f"v{bug.version.number}" if bug.version else "it"
    if is_confirmable:
        sub = f"The reviewer judges it against v{version}, unless you confirm it now"
    else:
        sub = f"Its quoted words are gone; the reviewer judges it against v{version}"
    return CheckLine(
        tone="warn", icon="warn", text=f"{bug.key} cites {cited} and becomes stale", sub=sub
    )


def versions(
    requirement: Requirement, urls: Urls, reader: Reader, notes: Mapping[int, str]
) -> tuple[VersionRow, ...]:
    """Return versions, newest first. notes: which loop uses which (number -> words)."""
    rows = requirement.versions.select_related("actor").defer("text").order_by("-number")
    current = requirement.current.number if requirement.current else 0
    return tuple(
        VersionRow(
            number=row.number,
            who=reader.who(row.actor, row.reference),
            when=reader.when(row.created_at),
            title=reader.stamp(row.created_at),
            note=notes.get(row.number, ""),
            compare="" if row.number == current else f"{urls.page}?compare={row.number}",
        )
        for row in rows[:VERSIONS_SHOWN]
    )


def version_of(requirement: Requirement, number: int) -> RequirementVersion | None:
    return requirement.versions.select_related("actor").filter(number=number).first()


def old_version(
    requirement: Requirement, old: RequirementVersion, urls: Urls, *, loops: Lines, can_edit: bool
) -> OldVersion:
    """Return an older version beside the current one; loops: what restoring does to sessions."""
    now = requirement.current
    assert now is not None  # set with the first version, in one transaction
    return OldVersion(
        number=old.number,
        against=now.number,
        makes=now.number + 1,
        text=old.text,
        diff=word_diff(now.text, old.text),
        lines=loops,
        restore=f"{urls.page}restore/" if can_edit else "",
    )


def theirs(requirement: Requirement, based_on: RequirementVersion | None, reader: Reader) -> Theirs:
    """Return what somebody else saved since `based_on`."""
    now = RequirementVersion.objects.select_related("actor").get(pk=requirement.current_id)
    return Theirs(
        number=now.number,
        based_on=based_on.number if based_on else 0,
        who=reader.who(now.actor, now.reference),
        when=reader.when(now.created_at),
        text=now.text,
        diff=word_diff(based_on.text, now.text) if based_on else (),
    )


def removal(bugs: Sequence[Bug], urls: Urls, loops: Lines) -> Removal:
    outdated = [bug for bug in bugs if bug.state in _OUTDATED and bug.kind != Kind.SPEC]
    lines = tuple(
        CheckLine(
            tone="warn",
            icon="warn",
            text=f"{bug.key} cites it and becomes stale",
            sub="The reviewer or a person closes it",
        )
        for bug in outdated
    )
    kept = CheckLine(
        tone="off", icon="doc", text="Its key is not used again, its versions are kept"
    )
    return Removal(post=f"{urls.page}remove/", keep=urls.page, lines=(*loops, *lines, kept))
