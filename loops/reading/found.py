"""What a search over all sessions shows; no log is folded for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.utils import timezone

from loops.engine.values import EndReason, Pattern, State
from loops.models import Session
from loops.pages.index import FoundRow, SearchPart
from loops.pages.states import PATTERN_WORDS, end_chip, state_chip
from loops.reading import links
from loops.reading.head import title
from loops.search import Query, search
from tracker.models import Project
from tracker.pages.words import moment

LONGEST = 200  # characters of a search
_STATES = tuple((one.value, state_chip(one).word) for one in State if one is not State.ENDED)
_ENDS = tuple((one.value, end_chip(one).word) for one in EndReason)


def query_of(sent: Mapping[str, str]) -> Query:
    """From an address; what makes no sense there is left out."""
    before = sent.get("before", "")
    pattern = sent.get("pattern", "")
    return Query(
        words=" ".join(sent.get("q", "").replace("\0", "")[:LONGEST].split()),
        state=_known(sent.get("state", ""), ("ended", *dict(_STATES), *dict(_ENDS))),
        pattern=_known(pattern, tuple(one.value for one in Pattern)),
        project=sent.get("project", "")[:63],
        before=int(before) if before.isascii() and before.isdigit() and len(before) < 16 else 0,
    )


def _known(value: str, known: tuple[str, ...]) -> str:
    return value if value in known else ""


def search_part(projects: QuerySet[Project], query: Query) -> SearchPart:
    names = tuple((one.name, one.name) for one in projects)
    part = SearchPart(
        words=query.words,
        state=query.state,
        pattern=query.pattern,
        project=query.project,
        states=(*_STATES, ("ended", "Ended"), *_ENDS),
        patterns=tuple((one.value, PATTERN_WORDS[one]) for one in Pattern),
        projects=names,
    )
    if query.is_empty and not query.before:
        return part
    found, has_more = search(projects, query)
    now = timezone.localtime()
    return replace(
        part,
        rows=tuple(_row(session, now) for session in found),
        is_first=not query.before,
        first=_address(query, 0),
        more=_address(query, found[-1].pk) if has_more else "",
    )


def _address(query: Query, before: int) -> str:
    said = {
        "q": query.words,
        "state": query.state,
        "pattern": query.pattern,
        "project": query.project,
        "before": str(before or ""),
    }
    return f"{links.INDEX}?{urlencode({name: value for name, value in said.items() if value})}"


def _row(session: Session, now: datetime) -> FoundRow:
    end = EndReason(session.end_reason) if session.end_reason else None
    lost = session.lease_until is not None and session.lease_until < now
    chip = state_chip(State(session.state), end=end, is_responding=not lost)
    at, verb = session.created_at, "Made"
    if session.ended_at is not None:
        at, verb = session.ended_at, "Ended"
    elif session.started_at is not None:
        at, verb = session.started_at, "Started"
    return FoundRow(
        ref=session.ref,
        title=title(session),
        href=links.session(session.pk),
        project=session.project.name,
        chip=replace(chip, loud=chip.loud and chip.tone in ("wait", "bad")),
        now=session.end_sentence or f"Made by {session.created_by}",
        sub=f"{verb} {moment(timezone.localtime(at), now)}",
        pattern=PATTERN_WORDS[Pattern(session.pattern)],
    )
