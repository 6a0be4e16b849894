"""Patterns by name, folding a log, replaying it, and the JSON of entries and states.

A log is folded entry by entry: `fold` of a tail onto a snapshot gives what the whole log gives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from loops.engine import feedback, maker_verifier, single_thread
from loops.engine.codec import Json, from_json, to_json
from loops.engine.feedback_state import FeedbackState
from loops.engine.maker_state import MakerState
from loops.engine.run_state import LimitNow
from loops.engine.thread_state import ThreadState
from loops.engine.values import (
    Config,
    Configured,
    Decided,
    Directive,
    Entry,
    Evidence,
    Forked,
    HumanEvent,
    Opened,
    Outcome,
    Pattern,
    Recorded,
    Why,
)

S = TypeVar("S")


class Controller(Protocol[S]):
    """The pure rules of one pattern; a module with these functions is one."""

    def initial(self, config: Config) -> S:
        """The state of an empty log."""

    def apply(self, state: S, entry: Entry) -> S:
        """The state after one more entry, in time that does not depend on the log's length."""

    def classify(self, state: S, evidence: Evidence) -> Outcome:
        """The outcome of an iteration claimed from `state`."""

    def explain(self, evidence: Evidence, outcome: Outcome) -> str:
        """Why it has that outcome, in a sentence for people; may be empty."""

    def direct(self, state: S) -> Directive:
        """What is due now."""

    def at_most(self, state: S) -> int:
        """Most iterations that can still run before an end or a question."""

    def limits_now(self, state: S) -> tuple[LimitNow, ...]:
        """Used and limit, by limit."""

    def needs_script(self, state: S, *, rev: str, head: str, spec: str) -> bool:
        """True if the done script has to judge this tree."""

    def why_not_done(
        self,
        state: S,
        *,
        rev: str,
        head: str,
        spec: str,
        blockers: tuple[str, ...],
        unjudged: tuple[str, ...],
        blocked: tuple[str, ...],
    ) -> tuple[Why, ...]:
        """Which conditions of the end are not met; empty = none."""


_SINGLE_THREAD: Controller[ThreadState] = single_thread
_FEEDBACK: Controller[FeedbackState] = feedback
_MAKER_VERIFIER: Controller[MakerState] = maker_verifier

CONTROLLERS: dict[Pattern, Controller[Any]] = {
    Pattern.SINGLE_THREAD: _SINGLE_THREAD,
    Pattern.FEEDBACK: _FEEDBACK,
    Pattern.MAKER_VERIFIER: _MAKER_VERIFIER,
}
_STATES: dict[Pattern, type[Any]] = {
    Pattern.SINGLE_THREAD: ThreadState,
    Pattern.FEEDBACK: FeedbackState,
    Pattern.MAKER_VERIFIER: MakerState,
}

# Raised whenever a state's fields change their meaning: older snapshots are then folded anew.
SNAPSHOT_VERSION = 2


def controller_of(pattern: Pattern | str) -> Controller[Any]:
    """The controller of that name; ValueError for an unknown one."""
    return CONTROLLERS[Pattern(pattern)]


def fold(config: Config, entries: Iterable[Entry], start: Any = None) -> Any:
    """The state after `entries`, in order of seq. start: a state to go on from, such as a snapshot.

    Raises ValueError if the entries are out of order or begin before the start's end.
    """
    controller = controller_of(config.pattern)
    state = controller.initial(config) if start is None else start
    for entry in entries:
        state = controller.apply(state, entry)
    return state


def replay(config: Config, entries: Iterable[Entry]) -> list[tuple[int, Outcome, Outcome]]:
    """(seq, recorded outcome, recomputed outcome) of every iteration; they differ only if the log
    was written under other rules or was tampered with."""
    controller = controller_of(config.pattern)
    state = controller.initial(config)
    compared = []
    for entry in entries:
        if isinstance(entry, Recorded):
            recomputed = controller.classify(state, entry.evidence)
            compared.append((entry.seq, entry.outcome, recomputed))
        state = controller.apply(state, entry)
    return compared


# --- JSON ----------------------------------------------------------------------------------------

_ENTRIES: dict[str, type[Entry]] = {
    "opened": Opened,
    "configured": Configured,
    "recorded": Recorded,
    "human_event": HumanEvent,
    "decided": Decided,
    "forked": Forked,
}
_KINDS: dict[type[Any], str] = {kind: name for name, kind in _ENTRIES.items()}


def entry_to_json(entry: Entry) -> tuple[str, dict[str, Json]]:
    """(kind, payload); the sequence number is the row's own and not in the payload."""
    payload = to_json(entry)
    del payload["seq"]
    return _KINDS[type(entry)], payload


def entry_from_json(seq: int, kind: str, payload: Json) -> Entry:
    """The entry again. Raises ValueError if the kind or a field is unknown."""
    if kind not in _ENTRIES:
        raise ValueError(f"Log entry {seq} is of unknown kind {kind!r}.")
    entry: Entry = from_json(_ENTRIES[kind], payload, seq=seq)
    return entry


def config_to_json(config: Config) -> dict[str, Json]:
    payload: dict[str, Json] = to_json(config)
    return payload


def config_from_json(payload: Json) -> Config:
    """Raises ValueError for an unknown field; limits are checked by bounds.check_config."""
    config: Config = from_json(Config, payload)
    return config


def state_to_json(state: Any) -> dict[str, Json]:
    """A snapshot: only a cache of the fold."""
    pattern = state.config.pattern
    return {"version": SNAPSHOT_VERSION, "pattern": pattern.value, "state": to_json(state)}


def state_from_json(payload: Json) -> Any | None:
    """The state again, or None if the snapshot is of another version: then fold the whole log."""
    if payload.get("version") != SNAPSHOT_VERSION:
        return None
    return from_json(_STATES[Pattern(payload["pattern"])], payload["state"])
