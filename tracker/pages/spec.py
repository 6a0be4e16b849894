"""A project's spec: list and editor (templates/tracker/requirement.html and parts)."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm

from tracker.pages.atoms import CheckLine, Chip, Empty, Link
from tracker.pages.word_diff import NumberedLine, Span

LINES_NUMBERED = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementRow:
    key: str
    title: str
    href: str
    chip: Chip
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """Requirements under their document; name "" for those in none."""

    name: str
    rows: tuple[RequirementRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingPart:
    """What saving will do, and what the draft changes (part tracker/_saving.html).

    version: the one that saving makes. against: the one in use, 0 for a new requirement.
    citing: keys of code bugs that cite the old text; each is offered as "still contradicts".
    """

    version: int
    against: int
    lines: tuple[CheckLine, ...]
    diff: tuple[tuple[Span, ...], ...]
    citing: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citing:
    key: str
    title: str
    href: str
    chip: Chip
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """note: e.g. "in use by S-41". compare: URL of the page with this version compared."""

    number: int
    who: str
    when: str
    title: str = ""
    note: str = ""
    compare: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldVersion:
    """An older version beside the one in use. diff: what restoring it would change. restore: URL
    that saves its text as version `makes`."""

    number: int
    against: int
    makes: int
    text: str
    diff: tuple[tuple[Span, ...], ...]
    lines: tuple[CheckLine, ...]
    restore: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Theirs:
    """What somebody saved while this draft was written. text: theirs in full; diff: what they
    changed against the version that the draft is based on."""

    number: int
    based_on: int
    who: str
    when: str
    text: str
    diff: tuple[tuple[Span, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """The second step of taking a requirement out of the spec."""

    post: str
    keep: str
    lines: tuple[CheckLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorPart:
    """One requirement. key "" = a new one. lines: the text with numbers, for reading; left_out: how
    many are not shown. line_count, changed: of the draft, for writing. can_edit: people with the
    right; else only `lines` are shown. remove: URL of the second step."""

    key: str
    title: str
    form: BaseForm
    post: str
    preview: str
    discard: str
    saving: SavingPart
    lines: tuple[NumberedLine, ...] = ()
    line_count: int = 1
    changed: int = 0
    versions: tuple[VersionRow, ...] = ()
    cited_by: tuple[Citing, ...] = ()
    can_edit: bool = True
    is_reading: bool = False
    write_url: str = ""
    read_url: str = ""
    remove: str = ""
    notice: str = ""
    left_out: int = 0
    old: OldVersion | None = None
    theirs: Theirs | None = None
    removal: Removal | None = None
    citing_url: str = ""

    @property
    def is_long(self) -> bool:
        """Whether line numbers are left out and the text scrolls in its own field."""
        return self.line_count > LINES_NUMBERED

    @property
    def gutter(self) -> str:
        return "\n".join(map(str, range(1, self.line_count + 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecPage:
    """index: the tracker; spec: the list. editor: None on the list alone."""

    project: str
    index: str
    spec: str
    documents: tuple[Document, ...]
    count: int
    new: str
    editor: EditorPart | None = None
    can_edit: bool = True
    session: Link | None = None
    empty: Empty | None = None
