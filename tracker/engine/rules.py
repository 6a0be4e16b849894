"""Who may file, move, mark and close what (RULES 5). Pure: standard library only.

One table (`MOVES`) holds every move of an entry's state; a second (`RIGHTS`) every act that moves
no state. Anything that no row allows is refused with a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Kind of a tracker entry."""

    CODE = "code"
    TASK = "task"
    SPEC = "spec"


class State(StrEnum):
    OPEN = "OPEN"
    IN_PROGRESS = "IN_PROGRESS"
    FIXED = "FIXED"
    CLOSED = "CLOSED"
    REOPENED = "REOPENED"
    STALE = "STALE"
    BLOCKED = "BLOCKED"


class Party(StrEnum):
    """Who acts: a person, the engine itself, or an agent in one role."""

    PERSON = "person"
    ENGINE = "engine"
    THINKER = "thinker"
    WORKER = "worker"
    VERIFIER = "verifier"
    MAKER = "maker"
    REVIEWER = "reviewer"
    COACH = "coach"


class Verb(StrEnum):
    """What was done; also the word in an entry's history."""

    FILE = "file"
    MERGE = "merge"
    START = "start"
    FIX = "fix"
    BLOCK = "block"
    UNBLOCK = "unblock"
    CLOSE = "close"
    REOPEN = "reopen"
    CONFIRM = "confirm"
    DISMISS = "dismiss"
    TURN = "turn"
    OUTDATE = "outdate"
    REWORD = "reword"
    DISPUTE = "dispute"
    PRIORITIZE = "prioritize"
    COMMENT = "comment"
    RESET = "reset"
    MARK = "mark"
    MARK_AGAIN = "mark again"
    GUIDE = "guide"
    EDIT = "edit"
    REMOVE = "remove"
    ARCHIVE = "archive"
    CREATE = "create"


PREFIXES = {Kind.CODE: "B", Kind.TASK: "T", Kind.SPEC: "Q"}
KINDS = {prefix: kind for kind, prefix in PREFIXES.items()}
PRIORITIES = ("P0", "P1", "P2", "P3")

WORK = frozenset({Kind.CODE, Kind.TASK})
"""Kinds that a worker works on and that can block done; spec bugs never do."""

BLOCKING = frozenset({State.OPEN, State.IN_PROGRESS, State.REOPENED})
"""The open states: a worker's list, and RULES 4's blockers."""

UNJUDGED = frozenset({State.FIXED, State.STALE})
MERGEABLE = BLOCKING | {State.BLOCKED}
"""A finding filed again joins an entry in one of these. FIXED and STALE are left out: there the
reviewer has to reopen or confirm, which is a finding, and a merge would hide it."""

DISPUTED_AFTER = 3
"""Reopened this often, a person is asked (RULES 4, `disputed_fix`)."""

_EVERYONE = frozenset(Party) - {Party.ENGINE}
_PEOPLE = frozenset({Party.PERSON})
_JUDGES = frozenset({Party.REVIEWER, Party.PERSON})
_WORKERS = frozenset({Party.WORKER})
_SPEC = frozenset({Kind.SPEC})
_ALL_KINDS = frozenset(Kind)


@dataclass(frozen=True, slots=True)
class Row:
    verb: Verb
    kinds: frozenset[Kind]
    sources: frozenset[State]
    target: State
    parties: frozenset[Party]


MOVES: tuple[Row, ...] = (
    Row(Verb.START, WORK, frozenset({State.OPEN, State.REOPENED}), State.IN_PROGRESS, _WORKERS),
    Row(Verb.FIX, WORK, frozenset({State.IN_PROGRESS, State.FIXED}), State.FIXED, _WORKERS),
    Row(Verb.BLOCK, WORK, BLOCKING, State.BLOCKED, _WORKERS),
    Row(Verb.UNBLOCK, WORK, frozenset({State.BLOCKED}), State.OPEN, _PEOPLE),
    Row(Verb.CLOSE, WORK, UNJUDGED, State.CLOSED, _JUDGES),
    Row(Verb.CLOSE, _SPEC, frozenset({State.OPEN, State.REOPENED}), State.CLOSED, _PEOPLE),
    Row(Verb.REOPEN, WORK, frozenset({State.FIXED, State.CLOSED}), State.REOPENED, _JUDGES),
    Row(Verb.REOPEN, WORK, frozenset({State.BLOCKED}), State.OPEN, _PEOPLE),
    Row(Verb.REOPEN, _SPEC, frozenset({State.CLOSED}), State.REOPENED, _PEOPLE),
    Row(Verb.CONFIRM, WORK, frozenset({State.STALE}), State.OPEN, _JUDGES),
    Row(Verb.OUTDATE, WORK, BLOCKING | {State.FIXED, State.BLOCKED}, State.STALE, _PEOPLE),
    Row(Verb.DISMISS, _ALL_KINDS, frozenset(State), State.CLOSED, _PEOPLE),
    Row(
        Verb.TURN,
        frozenset({Kind.CODE, Kind.SPEC}),
        frozenset(State) - {State.CLOSED},
        State.CLOSED,
        _PEOPLE,
    ),
)

MAY_FILE: dict[Kind, frozenset[Party]] = {
    Kind.CODE: _JUDGES,
    Kind.TASK: _PEOPLE,
    Kind.SPEC: _EVERYONE,
}

RIGHTS: dict[Verb, frozenset[Party]] = {
    Verb.REWORD: _PEOPLE,
    Verb.DISPUTE: _PEOPLE,
    Verb.PRIORITIZE: _PEOPLE,
    Verb.RESET: _PEOPLE,
    Verb.COMMENT: frozenset({Party.PERSON, Party.WORKER, Party.REVIEWER}),
    Verb.MARK: frozenset({Party.REVIEWER}),
    Verb.GUIDE: frozenset({Party.COACH, Party.PERSON}),
    Verb.EDIT: _PEOPLE,
    Verb.REMOVE: _PEOPLE,
    Verb.ARCHIVE: frozenset({Party.PERSON, Party.ENGINE}),
    Verb.CREATE: _PEOPLE,
}

# Where "<verb> B-7" would be no English.
_DOING = {
    Verb.FIX: "mark {} as fixed",
    Verb.UNBLOCK: "answer {}",
    Verb.TURN: "turn {} into a task",
    Verb.OUTDATE: "mark {} as stale",
    Verb.PRIORITIZE: "set the priority of {}",
    Verb.RESET: "reset the disputes of {}",
    Verb.COMMENT: "comment on {}",
    Verb.GUIDE: "write {}",
}


@dataclass(frozen=True, slots=True)
class Refused:
    """Why not. lacks_right: True when no state of the entry would make it allowed."""

    sentence: str
    lacks_right: bool


def move(verb: Verb, kind: Kind, state: State, party: Party, key: str) -> State | Refused:
    """Return the state that `verb` leads to, or why it is refused. `key` only names the entry."""
    rows = [row for row in MOVES if row.verb is verb and kind in row.kinds]
    mine = [row for row in rows if party in row.parties]
    for row in mine:
        if state in row.sources:
            return row.target
    if mine:
        sources = _either(sorted(s for row in mine for s in row.sources))
        return Refused(f"{key} is {state}; to {_do(verb, 'it')}, it has to be {sources}.", False)
    if rows:
        return Refused(_no_right(verb, party, _parties(rows), key), True)
    return Refused(f"{key} is a {noun(kind)}; nobody can {_do(verb, 'one')}.", True)


def act(verb: Verb, party: Party, what: str) -> Refused | None:
    """Return why `party` may not do `verb` (an act that moves no state), None if it may."""
    if party in RIGHTS[verb]:
        return None
    return Refused(_no_right(verb, party, RIGHTS[verb], what), True)


def filing(kind: Kind, party: Party) -> Refused | None:
    """Return why `party` may not file an entry of `kind`, None if it may."""
    if party in MAY_FILE[kind]:
        return None
    who = _either(sorted(_the(p) for p in MAY_FILE[kind]))
    offer = "" if kind is Kind.SPEC else " File a spec bug instead."
    return Refused(f"The {party} may not file a {noun(kind)}; only {who} may.{offer}", True)


def is_human_event(verb: Verb, kind: Kind, party: Party) -> bool:
    """Return whether a write counts against a running session (RULES 4, "Human events")."""
    return (
        party is Party.PERSON
        and kind in WORK
        and verb
        in {Verb.FILE, Verb.MERGE, Verb.REWORD, Verb.REOPEN, Verb.DISPUTE, Verb.DISMISS, Verb.TURN}
    )


def noun(kind: Kind) -> str:
    return {Kind.CODE: "code bug", Kind.TASK: "task", Kind.SPEC: "spec bug"}[kind]


def _do(verb: Verb, what: str) -> str:
    return _DOING.get(verb, f"{verb} {{}}").format(what)


def _parties(rows: list[Row]) -> frozenset[Party]:
    return frozenset(party for row in rows for party in row.parties)


def _no_right(verb: Verb, party: Party, allowed: frozenset[Party], what: str) -> str:
    who = _either(sorted(_the(p) for p in allowed))
    return f"The {party} may not {_do(verb, what)}; only {who} may."


def _the(party: Party) -> str:
    return "a person" if party is Party.PERSON else f"the {party}"


def _either(words: list[str]) -> str:
    unique = list(dict.fromkeys(words))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} or {unique[-1]}"
