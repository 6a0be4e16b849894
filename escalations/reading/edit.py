"""The page of "edit and approve", and what came back from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.http import QueryDict

from escalations.forms import EditForm
from escalations.models import Escalation
from escalations.pages.edit import EditedFile, EditPage
from escalations.reading import queue
from loops import editing
from loops.reading import links
from loops.reading.head import title
from tracker.errors import DomainError, Invalid
from tracker.pages.atoms import CheckLine, Link, met
from tracker.pages.words import plural

LONGEST = 1_000_000  # characters in the browser's editor; the command line takes more


@dataclass
class Draft:
    """What a person typed so far. edits: new text by path, only of files that differ. path: the
    file to show next, text: what to show of it; refused: why it cannot be shown."""

    path: str = ""
    text: str = ""
    refused: str = ""
    edits: dict[str, str] = field(default_factory=dict)


def draft_of(escalation: Escalation, posted: QueryDict | None, wanted: str = "") -> Draft:
    """posted: the form as it came back; wanted: the file to open, else the first that can be."""
    draft = Draft()
    for path, text in _typed(posted):
        try:
            now = _text(escalation, path)
        except DomainError:
            continue
        new = _as_the_file(now, text)
        if new != now:
            draft.edits[path] = new
    for path in (wanted,) if wanted else editing.files(escalation.session, escalation.evidence):
        draft.path, draft.refused = path, ""
        try:
            now = _text(escalation, path)
            draft.text = draft.edits.get(path, now)
            break
        except DomainError as refusal:
            draft.refused = str(refusal)
    return draft


def _typed(posted: QueryDict | None) -> list[tuple[str, str]]:
    """Path and text of every file that was edited, the one in the editor last."""
    if posted is None:
        return []
    kept = list(zip(posted.getlist("kept_path"), posted.getlist("kept_text"), strict=False))
    return [*kept, (posted.get("path", ""), posted.get("text", ""))]


def _text(escalation: Escalation, path: str) -> str:
    text = editing.text_of(escalation.session, escalation.evidence, path)
    if len(text) > LONGEST:
        raise Invalid(f"{path} is too long for this editor: escalation decide --edit takes it.")
    return text


def _as_the_file(now: str, typed: str) -> str:
    """A browser sends every line break as CRLF: give the file's own back."""
    text = typed.replace("\r\n", "\n")
    if text == now.replace("\r\n", "\n").replace("\r", "\n"):
        return now
    is_crlf = "\r\n" in now and "\n" not in now.replace("\r\n", "")
    return text.replace("\n", "\r\n") if is_crlf else text


def edit_page(
    escalation: Escalation, draft: Draft, form: EditForm, *, changed: str = "", error: str = ""
) -> EditPage:
    session = escalation.session
    names = editing.files(session, escalation.evidence)
    listed = names if draft.path in names or not draft.path else (*names, draft.path)
    return EditPage(
        ref=str(escalation),
        question=escalation.question,
        session=Link(f"{session.ref} {title(session)}", links.session(session.pk)),
        back=f"{queue.HREF}{escalation.pk}/",
        post=f"{queue.HREF}{escalation.pk}/edit/",
        form=form,
        files=tuple(
            EditedFile(path=name, is_current=name == draft.path, is_edited=name in draft.edits)
            for name in listed
        ),
        path="" if draft.refused else draft.path,
        text=draft.text,
        refused=draft.refused,
        kept=tuple((path, text) for path, text in draft.edits.items() if path != draft.path),
        version=escalation.version,
        lines=_lines(session.ref, len(draft.edits)),
        button=f"Commit and approve, end {session.ref}",
        changed=changed,
        error=error,
    )


def edit_form(escalation: Escalation, posted: QueryDict | None = None) -> EditForm:
    """The hidden fields always name the evidence that this page shows."""
    bound = {"evidence": escalation.evidence, "version": str(escalation.version)}
    return EditForm(None if posted is None else {**posted.dict(), **bound}, initial=bound)


def _lines(ref: str, edited: int) -> tuple[CheckLine, ...]:
    so_far = f"{plural(edited, 'file')} edited so far" if edited else "No file edited yet"
    return (
        CheckLine(tone="off", icon="pencil", text=so_far),
        met(f"Your commit goes on top of the result of {ref}"),
        CheckLine(tone="warn", icon="warn", text="Labelled “Approved with edits”, not proved",
                  sub="The verifiers do not run on your edit."),
        CheckLine(tone="off", icon="branch", text="Nothing is pushed"),
    )  # fmt: skip
