"""Filing entries of the three kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracker.engine import citations, rules
from tracker.engine.rules import MERGEABLE, PRIORITIES, Kind, State, Verb
from tracker.errors import Conflict, Invalid
from tracker.models import Bug, Project
from tracker.services.actors import By
from tracker.services.citing import OFFER, Citation, cite, quote
from tracker.services.writing import Write, allowed, given, optional, title_of, writing

_COUNTERS = {Kind.CODE: "last_code", Kind.TASK: "last_task", Kind.SPEC: "last_spec"}


@dataclass(frozen=True)
class Filed:
    """merged: the finding was known, `bug` is the entry that counts it once more."""

    bug: Bug
    merged: bool


class _Accepted(Conflict):
    """A person dismissed this very finding."""

    def __init__(self, bug: Bug, by: By) -> None:
        way = "reopen it" if by.is_person else "file a spec bug"
        super().__init__(
            f"{bug.key} is this finding, and {bug.dismissed_by} dismissed it:"
            f" {bug.dismiss_reason}. If you disagree, {way}."
        )
        self.bug = bug


def file_code_bug(
    project: Project,
    *,
    by: By,
    title: str,
    cites: str,
    quote: str,
    contradiction: str,
    place: str = "",
    session_ref: str = "",
    blob: str = "",
    priority: str = "P2",
    version: int | None = None,
) -> Filed:
    """File that the code contradicts a requirement.

    cites: "R-2" or "R-2.3". quote: words that stand there now. place: "file:line". blob: content
    id of that file. version: the version that was read. session_ref: the session that
    alone sees it. Raises Invalid if the citation does not hold, Conflict if a person accepted this
    very finding.
    """
    allowed(rules.filing(Kind.CODE, by.party))
    checked = {
        "title": title_of(title),
        "contradiction": _contradiction(contradiction),
        "quote": optional(quote, "The quote"),
        "place": optional(place, "The place").strip(),
        "blob": blob,
        "priority": priority_of(priority),
    }
    try:
        with writing(project, by) as write:
            return _code_bug(write, cites, session_ref, version, checked)
    except _Accepted as refusal:
        # A person who dismissed without looking at a tree accepted the file as it was then; the
        # first one to file again says which content that is. Written after the refusal is undone.
        Bug.objects.filter(pk=refusal.bug.pk, blob="").update(blob=blob)
        raise


def file_spec_bug(
    project: Project, *, by: By, title: str, text: str, cites: str = "", session_ref: str = ""
) -> Bug:
    """File a doubt about the requirements themselves. Anyone may; it never blocks done."""
    allowed(rules.filing(Kind.SPEC, by.party))
    fields = {"title": title_of(title), "text": given(text, "The text of the spec bug")}
    with writing(project, by) as write:
        citation = cite(write, cites, session_ref) if cites else None
        return _file(write, Kind.SPEC, citation, session_ref=session_ref, **fields)


def file_task(
    project: Project,
    *,
    by: By,
    title: str,
    text: str = "",
    cites: str = "",
    session_ref: str = "",
    priority: str = "P2",
) -> Bug:
    """File work that a person wants done; blocks done. Raises NotAllowed for agents."""
    allowed(rules.filing(Kind.TASK, by.party))
    fields = {
        "title": title_of(title),
        "text": optional(text, "The text of the task"),
        "priority": priority_of(priority),
    }
    with writing(project, by) as write:
        citation = cite(write, cites, session_ref) if cites else None
        return _file(write, Kind.TASK, citation, session_ref=session_ref, **fields)


def turn_into_task(bug: Bug, by: By, text: str = "") -> Bug:
    """Close a code or spec bug by filing a task for it, and return the task.

    The task has the person's words if given, else the entry's; it cites the same requirement.
    """
    with writing(bug.project, by) as write:
        bug = write.current(bug)
        state = rules.move(Verb.TURN, Kind(bug.kind), State(bug.state), by.party, bug.key)
        if isinstance(state, rules.Refused):
            allowed(state)
        citation = None
        if bug.requirement is not None and bug.requirement.removed_at is None:
            citation = Citation(bug.requirement, bug.requirement.current, None)
        words = optional(text, "The text") or bug.text or bug.contradiction
        task = _file(
            write,
            Kind.TASK,
            citation,
            session_ref=bug.session_ref,
            title=bug.title,
            text=words,
            priority=bug.priority,
            place=bug.place,
        )
        reason = f"turned into {task.key}"
        changes: dict[str, Any] = {}
        if bug.kind == Kind.CODE:
            # Found again while the task is open, it is refused with the name of this entry.
            changes = {"dismiss_reason": reason, "dismissed_by": by.actor}
        write.change(bug, Verb.TURN, State.CLOSED, note=reason, **changes)
        return task


def priority_of(priority: str) -> str:
    if priority not in PRIORITIES:
        raise Invalid(f'"{priority}" is no priority; P0 to P3 are.')
    return priority


def _contradiction(text: str) -> str:
    text = optional(text, "The contradiction")
    if not text.strip():
        raise Invalid("Say how the code contradicts the quoted words." + OFFER)
    return text


def _code_bug(
    write: Write, cites: str, session_ref: str, version: int | None, fields: dict[str, str]
) -> Filed:
    """Return the new entry or the open one that it joins."""
    citation = quote(write, cites, fields["quote"], session_ref, version=version)
    finding = citations.finding(
        citation.requirement.number, citation.line_text, fields["place"], fields["title"]
    )
    same = Bug.objects.filter(
        project=write.project,
        kind=Kind.CODE.value,
        finding=finding,
        session_ref__in=sorted({"", session_ref, citation.owner, write.by.session_ref}),
    ).order_by("id")
    known = same.filter(state__in=MERGEABLE).first()
    if known is not None:
        return Filed(_merge(write, known, fields), merged=True)
    for dismissed in same.exclude(dismiss_reason="").select_related("dismissed_by"):
        # Words unchanged: they are part of `finding`. File unchanged, as far as is known:
        if not (dismissed.blob and fields["blob"]) or dismissed.blob == fields["blob"]:
            raise _Accepted(dismissed, write.by)
    bug = _file(write, Kind.CODE, citation, session_ref=session_ref, finding=finding, **fields)
    return Filed(bug, merged=False)


def _merge(write: Write, bug: Bug, fields: dict[str, str]) -> Bug:
    note = f"{fields['title']}\n{fields['contradiction']}"
    changes = {"blob": fields["blob"]} if fields["blob"] else {}
    return write.change(bug, Verb.MERGE, count=bug.count + 1, note=note, **changes)


def _file(
    write: Write, kind: Kind, citation: Citation | None, *, session_ref: str, **fields: Any
) -> Bug:
    if citation is not None:
        fields |= {
            "requirement": citation.requirement,
            "version": citation.version,
            "line": citation.line,
        }
        session_ref = citation.owner or session_ref
    bug = Bug.objects.create(
        project=write.project,
        kind=kind.value,
        number=write.number(_COUNTERS[kind]),
        session_ref=session_ref,
        filed_by=write.by.actor,
        filed_as=write.by.party.value,
        reference=write.by.reference,
        **fields,
    )
    write.record(
        Verb.FILE, subject=bug.key, bug=bug, to_state=bug.state, note=fields.get("title", "")
    )
    write.tell(bug, Verb.FILE)
    return bug
