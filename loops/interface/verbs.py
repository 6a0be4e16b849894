"""What the verbs of `loopwatch` do for an agent. `dispatch` is the door: with or without a socket."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

from loops.engine.values import Role, Signal
from loops.interface import bug_verbs, spec_verbs
from loops.interface.call import Call, Said
from loops.interface.context import Answer, Collector, Context
from loops.interface.grammar import Help, Verb, find, parse
from loops.interface.marks import missing_marks
from tracker.errors import DomainError
from tracker.facts import facts

BROKEN = (
    "This failed inside Loopwatch, not through your fault; nothing was written. "
    "Try once more, and go on without it if it fails again.\n"
)
KEYS_SHOWN = 20

log = logging.getLogger(__name__)


def dispatch(context: Context, collector: Collector, argv: Sequence[str], stdin: str) -> Answer:
    """Carry out one command of the agent. Never raises: exit code 2 comes with a sentence of
    refusal (nothing was written), 1 with a sentence of failure (logged)."""
    try:
        verb, words = find(VERBS, argv, context.role)
        args = parse(verb, words)
        said = verb.run(Call(context, collector, args, stdin))
        out = json.dumps(said.data, ensure_ascii=False) if args.json else said.text
        return Answer(0, out + "\n")
    except Help as wanted:
        return Answer(0, str(wanted))
    except DomainError as refused:
        return Answer(2, "", f"{refused}\n")
    except Exception:
        log.exception("`loopwatch` failed for %s", context.reference)
        return Answer(1, "", BROKEN)


def _done(call: Call) -> Said:
    call.collector.say(Signal.DONE)
    now = facts(call.context.project, call.context.scope, call.context.session_ref)
    hints = []
    if now.blockers:
        hints.append(f"Open entries, so this `done` will be rejected: {_some(now.blockers)}.")
    return _noted(Signal.DONE, hints)


def _not_done(call: Call) -> Said:
    call.collector.say(Signal.NOT_DONE)
    return _noted(Signal.NOT_DONE, [])


def _clean(call: Call) -> Said:
    call.collector.say(Signal.REVIEW_CLEAN)
    context = call.context
    now = facts(context.project, context.scope, context.session_ref)
    hints = []
    if now.blockers:
        hints.append(f"Open entries, so this review is not clean: {_some(now.blockers)}.")
    if now.unjudged:
        hints.append(f"Still to be judged (close, reopen or confirm): {_some(now.unjudged)}.")
    if missing := missing_marks(now, context.blob):
        hints.append(f"Still without a mark that holds: {_some(missing)}.")
    return _noted(Signal.REVIEW_CLEAN, hints)


def _bugs(call: Call) -> Said:
    call.collector.say(Signal.REVIEW_BUGS)
    context = call.context
    now = facts(context.project, context.scope, context.session_ref)
    hints = []
    if now.unjudged:
        hints.append(f"Still to be judged (close, reopen or confirm): {_some(now.unjudged)}.")
    if not now.blockers:
        hints.append("No entry is open: file or reopen one, or this review does not count.")
    return _noted(Signal.REVIEW_BUGS, hints)


def _noted(signal: Signal, hints: list[str]) -> Said:
    data = {"signal": signal.value, "hints": hints}
    return Said("\n".join([f"Noted: {signal.value}.", *hints]), data)


def _some(keys: Sequence[str]) -> str:
    more = len(keys) - KEYS_SHOWN
    return " ".join(keys[:KEYS_SHOWN]) + (f" and {more} more" if more > 0 else "")


VERBS: tuple[Verb, ...] = (
    *bug_verbs.VERBS,
    *spec_verbs.VERBS,
    Verb(
        words=("done",),
        help="Signal: everything holds, nothing is open, all is committed.",
        example="loopwatch done",
        roles=frozenset({Role.WORKER}),
        owner=Role.WORKER,
        run=_done,
    ),
    Verb(
        words=("not-done",),
        help="Signal: work is left; beats `done`.",
        example="loopwatch not-done",
        roles=frozenset({Role.WORKER}),
        owner=Role.WORKER,
        run=_not_done,
    ),
    Verb(
        words=("review", "clean"),
        help="Verdict: no finding, nothing open, every requirement marked.",
        example="loopwatch review clean",
        roles=frozenset({Role.REVIEWER}),
        owner=Role.REVIEWER,
        run=_clean,
    ),
    Verb(
        words=("review", "bugs"),
        help="Verdict: bugs were found or are still open; beats `review clean`.",
        example="loopwatch review bugs",
        roles=frozenset({Role.REVIEWER}),
        owner=Role.REVIEWER,
        run=_bugs,
    ),
)
