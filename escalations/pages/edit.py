"""Edit and approve: the files of the result, one of them in an editor (escalations/edit.html)."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm

from tracker.pages.atoms import CheckLine, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedFile:
    """A file of the list; the button that opens it sends what is typed along."""

    path: str
    is_current: bool
    is_edited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPage:
    """path, text: the file in the editor ("" = none is open; refused: why not). kept: edits of
    other files, sent along. version: of the evidence that the edit goes on top of. changed: what
    happened to the question meanwhile, when the decision was not taken."""

    ref: str
    question: str
    session: Link
    back: str
    post: str
    form: BaseForm
    files: tuple[EditedFile, ...]
    path: str
    text: str
    refused: str = ""
    kept: tuple[tuple[str, str], ...] = ()
    version: int
    lines: tuple[CheckLine, ...]
    button: str
    changed: str = ""
    error: str = ""

    @property
    def rows(self) -> int:
        return min(max(self.text.count("\n") + 3, 12), 2_000)
