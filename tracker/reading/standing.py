"""How each requirement stands: open entries that cite it, and the reviewer's mark."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.db.models import F
from django.db.models.functions import Substr

from tracker.engine.rules import BLOCKING, Kind, State
from tracker.models import Bug, Mark, Project, Requirement
from tracker.pages.atoms import Chip
from tracker.pages.board import Coverage
from tracker.pages.words import plural

HEAD = 300  # characters of a text that are read for its title
_WRONG = frozenset(BLOCKING | {State.BLOCKED})


@dataclass(slots=True)
class Standing:
    """One requirement. states: of the entries that cite it and are not closed.

    mark: where the reviewer saw it hold ("" = no mark on the present text). Whether that file is
    still the same is not known here: a page says "reviewed", a report may say "proved".
    """

    pk: int
    key: str
    version: int
    title: str
    document: str
    session_ref: str
    states: list[tuple[str, str]] = field(default_factory=list)
    mark: str = ""

    @property
    def is_contradicted(self) -> bool:
        return any(kind == Kind.CODE for kind, _state in self.states)

    @property
    def chip(self) -> Chip:
        bugs = sum(kind == Kind.CODE and state in _WRONG for kind, state in self.states)
        if bugs:
            return Chip("bad", "bug", plural(bugs, "bug"))
        if any(state == State.STALE for _kind, state in self.states):
            return Chip("warn", "warn", "Stale", title="An entry cites an older text")
        if any(kind == Kind.CODE and state == State.FIXED for kind, state in self.states):
            return Chip("wait", "eye", "Confirm", title="A fix waits for the reviewer")
        if any(kind == Kind.SPEC for kind, _state in self.states):
            return Chip("lim", "doc", "Unclear", title="A spec bug about it is open")
        if self.mark:
            return Chip("ok", "ok", "Reviewed", title=f"Marked by the reviewer at {self.mark}")
        return Chip("off", "queued", "Not yet", title="No reviewer has marked this text")


def standings(project: Project) -> list[Standing]:
    """Return every requirement that is not removed, goals of sessions too. Three queries."""
    rows = (
        Requirement.objects.filter(project=project, removed_at=None)
        .order_by("number")
        .annotate(head=Substr("current__text", 1, HEAD), at=F("current__number"))
        .values_list("pk", "number", "at", "head", "document", "session_ref")
    )
    found = {
        pk: Standing(pk, f"R-{number}", at, title_of(head), document, session_ref)
        for pk, number, at, head, document, session_ref in rows
    }
    entries = Bug.objects.filter(project=project).exclude(state=State.CLOSED.value)
    for pk, kind, state in entries.values_list("requirement_id", "kind", "state"):
        if pk in found:
            found[pk].states.append((kind, state))
    marks = Mark.objects.filter(
        project=project, is_newest=True, version=F("requirement__current")
    ).order_by("id")
    for pk, place, reference in marks.values_list("requirement_id", "place", "reference"):
        if pk in found:
            found[pk].mark = f"{place}, {reference}" if reference else place
    return list(found.values())


def coverage(standing: list[Standing]) -> Coverage:
    wrong = sum(one.is_contradicted for one in standing)
    held = sum(bool(one.mark) and not one.is_contradicted for one in standing)
    return Coverage(
        proved=held, with_bugs=wrong, rest=len(standing) - wrong - held, word="reviewed"
    )


def title_of(text: str) -> str:
    """Return the first line with words, as one would say it: without the signs of Markdown."""
    line = next((line for line in text.split("\n") if line.strip("# \t")), "")
    title = line.strip().lstrip("#").strip()
    return title if len(title) <= 80 else title[:79].rstrip() + "…"
