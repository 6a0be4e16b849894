"""Finding sessions: filters served by indexes, words looked for in the rest, a page at a time.

Pages follow each other by the number of the last session shown, newest first, so that a page costs
the same wherever it stands and new sessions move nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from loops.engine.values import EndReason, Pattern, State
from loops.models import Session
from loops.pages.states import PATTERN_WORDS, end_chip, state_chip
from tracker.models import Project

PAGE = 50
MOST_TERMS = 8
_REF = re.compile(r"(?:s-)?(\d{1,15})", re.IGNORECASE)
_STATES = {one.value: one for one in State if one is not State.ENDED}
_ENDS = {one.value: one for one in EndReason}
_MEANINGS = {  # as people say them
    **{word: {"state": one.value} for word, one in _STATES.items()},
    **{word: {"end_reason": one.value} for word, one in _ENDS.items()},
    **{state_chip(one).word.lower(): {"state": one.value} for one in _STATES.values()},
    **{end_chip(one).word.lower(): {"end_reason": one.value} for one in EndReason},
    "ended": {"state": State.ENDED.value},
    "waiting": {"state": State.WAITING_HUMAN.value},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """words: what was typed. state: a state's or end reason's value, or "ended". project: a name.
    before: sessions with smaller numbers only, 0 = from the newest."""

    words: str = ""
    state: str = ""
    pattern: str = ""
    project: str = ""
    before: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.state or self.pattern or self.project)


def search(projects: QuerySet[Project], query: Query) -> tuple[list[Session], bool]:
    """(at most PAGE sessions of `projects`, newest first; whether there are more)."""
    seen = {one.name: one.pk for one in projects}
    if query.project and query.project not in seen:
        return [], False
    wanted = [seen[query.project]] if query.project else list(seen.values())
    found = Session.objects.filter(project__in=wanted)
    if query.pattern:
        found = found.filter(pattern=query.pattern)
    if query.state:
        found = found.filter(**_MEANINGS.get(query.state, {"state": query.state}))
    for term in query.words.split()[:MOST_TERMS]:
        found = found.filter(_term(term, seen))
    if query.before:
        found = found.filter(pk__lt=query.before)
    rows = found.select_related("project").defer("fold", "preflight", "config", "process")
    shown = list(rows.order_by("-pk")[: PAGE + 1])
    return shown[:PAGE], len(shown) > PAGE


def _term(term: str, projects: dict[str, int]) -> Q:
    """One word: a session's number alone, else in what it is about, is, or is called."""
    number = _REF.fullmatch(term)
    if number and term[:1] in "sS":
        return Q(pk=int(number[1]))
    word = term.lower()
    match = Q(goal__icontains=term)
    if number:
        match |= Q(pk=int(number[1]))
    named = [pk for name, pk in projects.items() if word in name]
    if named:
        match |= Q(project__in=named)
    for known, fields in _MEANINGS.items():
        if word == known:
            match |= Q(**fields)
    patterns = [
        one.value for one in Pattern if word in re.split(r"\W+", PATTERN_WORDS[one].lower())
    ]
    return match | Q(pattern__in=patterns) if patterns else match
