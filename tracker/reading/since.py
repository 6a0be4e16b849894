"""What moved in a project's tracker since a moment, for whoever goes on from there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from tracker.engine.rules import WORK, State, Verb
from tracker.models import Bug, Move, Project, Requirement
from tracker.scope import Scope, bugs_in, requirements_in

MOST = 500  # subjects told one by one
_SPEC = (Verb.EDIT.value, Verb.REMOVE.value)
_TEXT = (Verb.REWORD.value, Verb.DISPUTE.value, Verb.MERGE.value)


@dataclass(frozen=True, slots=True)
class Changed:
    """One requirement, entry or the guidance. key: "R-7", "B-12", "Guidance". text: what became of
    it since, such as "edited, version 4 now" or "filed
    since, closed now"."""

    key: str
    text: str


def changed_since(
    project: Project, seq: int, scope: Scope, session_ref: str, *, until: datetime | None = None
) -> tuple[Changed, ...]:
    """What the writes after tracker_seq `seq` (and not after `until`) left different in the scope,
    in the order of the first change. session_ref: whose goal counts; entries that one session alone
    sees are left out."""
    moves = _moves(project, seq, scope, session_ref)
    if until is not None:
        moves = moves.filter(at__lte=until)
    told: dict[str, _Story] = {}
    columns = ("subject", "verb", "from_state", "to_state", "note")
    for subject, verb, before, after, note in moves.order_by("id").values_list(*columns):
        key = "Guidance" if verb == Verb.GUIDE else subject
        if key not in told and len(told) >= MOST:
            continue
        told.setdefault(key, _Story(before)).add(subject, verb, after, note)
    found = ((key, story.text()) for key, story in told.items())
    return tuple(Changed(key, text) for key, text in found if text)


def left_behind(project: Project, seq: int, session_ref: str) -> tuple[Changed, ...]:
    """Entries that `session_ref` alone sees and that were not closed at tracker_seq `seq`: whoever
    goes on from there as another session has to find them again."""
    moves = Move.objects.filter(
        project=project, seq__lte=seq, bug__session_ref=session_ref, bug__kind__in=sorted(WORK)
    )
    then = dict(moves.order_by("id").values_list("subject", "to_state"))
    open_then = [(key, state) for key, state in then.items() if state != State.CLOSED.value]
    return tuple(
        Changed(key, f"{_word(state)} then; it stays with {session_ref}")
        for key, state in open_then[:MOST]
    )


def _moves(project: Project, seq: int, scope: Scope, ref: str) -> QuerySet[Move]:
    needs = Requirement.objects.filter(requirements_in(scope, ref), project=project)
    entries = Bug.objects.filter(bugs_in(scope, ""), project=project)
    told = Q(verb__in=_SPEC, requirement__in=needs) | Q(bug__in=entries)
    return Move.objects.filter(told | Q(verb=Verb.GUIDE.value), project=project, seq__gt=seq)


class _Story:
    """What happened to one subject, as it is told at the end."""

    def __init__(self, before: str) -> None:
        self.before = before
        self.after = before
        self.is_new = self.is_removed = self.is_reworded = False
        self.version = self.guidance = ""

    def add(self, subject: str, verb: str, after: str, note: str) -> None:
        self.after = after or self.after
        self.is_new |= verb == Verb.FILE
        self.is_removed |= verb == Verb.REMOVE
        self.is_reworded |= verb in _TEXT
        if verb == Verb.EDIT:
            self.version = note
        if verb == Verb.GUIDE:
            self.guidance = subject

    def text(self) -> str:
        """Empty where nothing is different in the end."""
        if self.guidance:
            return f"{self.guidance} now"
        if self.is_removed:
            return "removed"
        if self.version:
            return "edited, " + self.version + " now" if self.version != "version 1" else "new"
        if self.is_new:
            return f"filed since, {_word(self.after)} now"
        if self.after != self.before:
            return f"{_word(self.before)} then, {_word(self.after)} now"
        return "reworded or disputed" if self.is_reworded else ""


def _word(state: str) -> str:
    return state.lower().replace("_", " ")
