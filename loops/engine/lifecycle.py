"""The moves of a session, one table (RULES 1, "States and moves"): (state, move) -> state.

Whatever is not in the table is an illegal move; the refusal is a sentence for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from loops.engine.values import State


class Move(StrEnum):
    START = "start"
    CLAIM = "claim"
    PAUSE = "pause"
    BOUNDARY = "boundary"
    RESUME = "resume"
    STEP = "step"
    ASK = "ask"
    LAST_DECIDED = "last_decided"
    TAKEN_UP = "taken_up"
    DECISION_ENDS = "decision_ends"
    STOP = "stop"
    TREE_GONE = "tree_gone"
    FINISH = "finish"
    UNUSABLE = "unusable"


class By(StrEnum):
    OPERATOR = "operator"
    ENGINE = "engine"


@dataclass(frozen=True, slots=True)
class Row:
    """Where a move leads and who may make it."""

    to: State
    by: By


class IllegalMove(ValueError):
    """str() is a sentence for the person who asked."""


_STOPPABLE = (
    State.QUEUED,
    State.RUNNING,
    State.PAUSING,
    State.PAUSED,
    State.WAITING_HUMAN,
    State.RESUMING,
)

TABLE: dict[tuple[State, Move], Row] = {
    (State.DRAFT, Move.START): Row(State.QUEUED, By.OPERATOR),
    (State.QUEUED, Move.CLAIM): Row(State.RUNNING, By.ENGINE),
    (State.RUNNING, Move.PAUSE): Row(State.PAUSING, By.OPERATOR),
    (State.PAUSING, Move.BOUNDARY): Row(State.PAUSED, By.ENGINE),
    (State.PAUSED, Move.RESUME): Row(State.QUEUED, By.OPERATOR),
    # A step is a resume after whose claim the session pauses on behalf of the same person.
    (State.PAUSED, Move.STEP): Row(State.QUEUED, By.OPERATOR),
    (State.RUNNING, Move.ASK): Row(State.WAITING_HUMAN, By.ENGINE),
    (State.PAUSING, Move.ASK): Row(State.WAITING_HUMAN, By.ENGINE),
    (State.WAITING_HUMAN, Move.LAST_DECIDED): Row(State.RESUMING, By.OPERATOR),
    (State.RESUMING, Move.TAKEN_UP): Row(State.QUEUED, By.ENGINE),
    (State.RESUMING, Move.DECISION_ENDS): Row(State.ENDED, By.ENGINE),
    **{(state, Move.STOP): Row(State.STOPPING, By.OPERATOR) for state in _STOPPABLE},
    (State.STOPPING, Move.TREE_GONE): Row(State.ENDED, By.ENGINE),
    (State.RUNNING, Move.FINISH): Row(State.ENDED, By.ENGINE),
    **{
        (state, Move.UNUSABLE): Row(State.ENDED, By.ENGINE)
        for state in State
        if state is not State.ENDED
    },
}

_IS = {
    State.DRAFT: "is a draft",
    State.QUEUED: "is queued",
    State.RUNNING: "is running",
    State.PAUSING: "is pausing",
    State.PAUSED: "is paused",
    State.WAITING_HUMAN: "waits for a person",
    State.RESUMING: "is taking up a decision",
    State.STOPPING: "is stopping",
    State.ENDED: "has ended",
}

_DONE_TO_IT = {
    Move.START: "started",
    Move.CLAIM: "claimed",
    Move.PAUSE: "paused",
    Move.BOUNDARY: "paused at a boundary",
    Move.RESUME: "resumed",
    Move.STEP: "stepped",
    Move.ASK: "made to wait for a person",
    Move.LAST_DECIDED: "answered",
    Move.TAKEN_UP: "queued by a decision",
    Move.DECISION_ENDS: "ended by a decision",
    Move.STOP: "stopped",
    Move.TREE_GONE: "ended by a stop",
    Move.FINISH: "finished",
    Move.UNUSABLE: "ended as failed",
}


def move(state: State, event: Move, *, session: str = "The session") -> State:
    """The state after `event`; raises IllegalMove. `session`: how the sentence names it ("S-3")."""
    row = TABLE.get((state, event))
    if row is None:
        raise IllegalMove(_refusal(state, event, session))
    return row.to


def moves(state: State, by: By) -> tuple[Move, ...]:
    """The moves that `by` may make from `state`, in the order of Move."""
    return tuple(
        event for event in Move if (row := TABLE.get((state, event))) is not None and row.by is by
    )


def _refusal(state: State, event: Move, session: str) -> str:
    open_moves = [_DONE_TO_IT[possible] for possible in moves(state, By.OPERATOR)]
    if not open_moves:
        return f"{session} {_IS[state]}; it cannot be {_DONE_TO_IT[event]}."
    return f"{session} {_IS[state]}; it can be {_or(open_moves)}, not {_DONE_TO_IT[event]}."


def _or(words: list[str]) -> str:
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last
