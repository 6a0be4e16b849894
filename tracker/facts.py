"""The tracker as the loops need it: plain values, read at every iteration.

Every write changes (tracker_seq, write_mark) of its project, so values read before stay right as
long as that pair does: a steady loop costs one query, a change four.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from tracker.engine.citations import bug_key
from tracker.engine.rules import (
    BLOCKING,
    DISPUTED_AFTER,
    PREFIXES,
    UNJUDGED,
    WORK,
    Kind,
    State,
    Verb,
)
from tracker.errors import NotFound
from tracker.models import Bug, Mark, Move, Project, Requirement
from tracker.scope import Scope, bugs_in, requirements_in


@dataclass(frozen=True, slots=True)
class RequirementNow:
    key: str
    version: int
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    key: str
    commit: str
    state: str


@dataclass(frozen=True, slots=True)
class MarkNow:
    key: str
    place: str
    blob: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What holds in one session's scope. Entries are keys such as "B-7", in the order filed.

    seq: tracker_seq, read before the rest (a write in between shows as a higher one).
    spec: hash over key and version of the requirements. unjudged: FIXED or STALE.
    disputed: not closed and reopened DISPUTED_AFTER times since the last decision.
    fixes: entries that this session marked FIXED, still FIXED or CLOSED (dismissed ones left out);
    whether their commits are in HEAD is for the caller to see.
    marks: this session's newest mark of each requirement that was not edited since.
    questioned: requirements that an entry still to be worked on or decided cites.
    """

    seq: int
    spec: str
    requirements: tuple[RequirementNow, ...]
    blockers: tuple[str, ...]
    unjudged: tuple[str, ...]
    blocked: tuple[str, ...]
    disputed: tuple[str, ...]
    fixes: tuple[Fix, ...]
    marks: tuple[MarkNow, ...]
    questioned: frozenset[str]


@dataclass(frozen=True, slots=True)
class During:
    """What one iteration did to the tracker.

    findings: new code bugs, reopened entries, STALE entries re-confirmed. moved: the state of a
    code bug or task changed (new entries are no move). task_worked: a task was marked FIXED.
    marks_added: marks that say something new. guidance: number of the last version written.
    """

    findings: tuple[str, ...] = ()
    moved: bool = False
    task_worked: bool = False
    marks_added: int = 0
    guidance: int | None = None


LIVE = sorted(set(State) - {State.CLOSED})
_CACHE_SIZE = 64
_cache: dict[tuple[int, Scope, str], tuple[tuple[int, int], Facts]] = {}


def facts(project: Project, scope: Scope, session_ref: str) -> Facts:
    """Return what holds now in the scope of `session_ref`. Raises NotFound."""
    rows = Project.objects.filter(pk=project.pk).values_list("tracker_seq", "write_mark")
    state = next(iter(rows), None)
    if state is None:
        raise NotFound(f"There is no project {project} any more.")
    key = (project.pk, scope, session_ref)
    known = _cache.get(key)
    if known is not None and known[0] == state:
        return known[1]
    found = _read(project, scope, session_ref, seq=state[0])
    if len(_cache) >= _CACHE_SIZE:
        _cache.clear()
    _cache[key] = (state, found)
    return found


def during(project: Project, reference: str) -> During:
    """Return what iteration `reference` ("S-3/7") did. One query."""
    if not reference:
        return During()
    moves = (
        Move.objects.filter(project=project, reference=reference)
        .order_by("id")
        .values_list("verb", "subject", "from_state", "to_state")
    )
    findings: dict[str, None] = {}
    moved = task_worked = False
    marks, guidance = 0, None
    for verb, subject, before, after in moves:
        pointer = bug_key(subject)
        kind = pointer[0] if pointer else None
        if (verb == Verb.FILE and kind is Kind.CODE) or verb in (Verb.REOPEN, Verb.CONFIRM):
            findings[subject] = None
        moved |= kind in WORK and bool(before) and before != after
        task_worked |= kind is Kind.TASK and verb == Verb.FIX
        marks += verb == Verb.MARK
        if verb == Verb.GUIDE:
            guidance = int(subject.rpartition("v")[2])
    return During(tuple(findings), moved, task_worked, marks, guidance)


def _read(project: Project, scope: Scope, session_ref: str, *, seq: int) -> Facts:
    rows = list(
        Requirement.objects.filter(requirements_in(scope, session_ref))
        .filter(project=project, removed_at=None)
        .order_by("number")
        .values_list("id", "number", "document", "current_id", "current__number", "current__text")
    )
    current = {row[0]: (f"R-{row[1]}", row[3]) for row in rows}
    now = tuple(RequirementNow(f"R-{row[1]}", row[4], row[2], row[5]) for row in rows)
    entries = _live(project, scope, session_ref)
    return Facts(
        seq=seq,
        spec=spec_version(now),
        requirements=now,
        blockers=_keys(entries, BLOCKING),
        unjudged=_keys(entries, UNJUDGED),
        blocked=_keys(entries, {State.BLOCKED}),
        disputed=tuple(key for key, _, reopened, _ in entries if reopened >= DISPUTED_AFTER),
        fixes=_fixes(project, session_ref),
        marks=_marks(project, session_ref, current),
        questioned=frozenset(
            f"R-{number}"
            for _, state, _, number in entries
            if number is not None and state in _QUESTIONING
        ),
    )


def spec_version(requirements: tuple[RequirementNow, ...]) -> str:
    """Return the hash over (key, version) that stands for a spec in stamps."""
    text = "\n".join(f"{r.key}@{r.version}" for r in requirements)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


_QUESTIONING = BLOCKING | {State.BLOCKED}
Live = tuple[str, str, int, int | None]


def _live(project: Project, scope: Scope, session_ref: str) -> list[Live]:
    """Return key, state, reopen count and number of the cited requirement of the work that is not
    closed (index bug_by_state)."""
    rows = (
        Bug.objects.filter(bugs_in(scope, session_ref))
        .filter(project=project, kind__in=sorted(WORK), state__in=LIVE)
        .order_by("id")
        .values_list("kind", "number", "state", "reopen_count", "requirement__number")
    )
    return [(f"{PREFIXES[Kind(k)]}-{n}", *rest) for k, n, *rest in rows]


def _fixes(project: Project, session_ref: str) -> tuple[Fix, ...]:
    """Return the fixes that the session made (index bug_by_fixing_session)."""
    if not session_ref:
        return ()
    rows = (
        Bug.objects.filter(
            project=project,
            fixed_in=session_ref,
            state__in=(State.FIXED.value, State.CLOSED.value),
            dismiss_reason="",
        )
        .order_by("id")
        .values_list("kind", "number", "commit", "state")
    )
    return tuple(Fix(f"{PREFIXES[Kind(k)]}-{n}", commit, state) for k, n, commit, state in rows)


def _marks(
    project: Project, session_ref: str, current: dict[int, tuple[str, int]]
) -> tuple[MarkNow, ...]:
    rows = (
        Mark.objects.filter(project=project, session_ref=session_ref, is_newest=True)
        .order_by("requirement__number")
        .values_list("requirement_id", "version_id", "place", "blob")
    )
    return tuple(
        MarkNow(current[requirement][0], place, blob)
        for requirement, version, place, blob in rows
        if requirement in current and current[requirement][1] == version
    )


def _keys(entries: list[Live], states: frozenset[State] | set[State]) -> tuple[str, ...]:
    return tuple(key for key, state, _, _ in entries if state in states)
