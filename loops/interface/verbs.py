"""What `loopwatch` does for an agent. `dispatch` is the door, with or without a socket."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

from loops.engine.values import Role, Signal
from loops.interface import bug_verbs, reply_verbs, spec_verbs
from loops.interface.call import Call, Said
from loops.interface.context import Answer, Collector, Context
from loops.interface.grammar import Help, Verb, find, parse
from loops.interface.tools import REQUEST, tools
from loops.proof import lost_fixes, missing_marks
from tracker.errors import DomainError
from tracker.facts import Facts, facts

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
        if list(argv) == [REQUEST]:
            return Answer(0, json.dumps(tools(VERBS, context.role), ensure_ascii=False) + "\n")
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
    now = _facts(call)
    hints = []
    if now.blockers:
        hints.append(f"Open entries, so this `done` will be rejected: {_some(now.blockers)}.")
    return _say(call, Signal.DONE, hints)


def _not_done(call: Call) -> Said:
    return _say(call, Signal.NOT_DONE, [])


def _clean(call: Call) -> Said:
    now = _facts(call)
    hints = []
    if now.blockers:
        hints.append(f"Open entries, so this review is not clean: {_some(now.blockers)}.")
    if unjudged := _unjudged(call, now):
        hints.append(f"Still to be judged (close, reopen or confirm): {_some(unjudged)}.")
    if missing := missing_marks(now, call.context.blob):
        hints.append(f"Still without a mark that holds: {_some(missing)}.")
    return _say(call, Signal.REVIEW_CLEAN, hints)


def _bugs(call: Call) -> Said:
    now = _facts(call)
    hints = []
    if unjudged := _unjudged(call, now):
        hints.append(f"Still to be judged (close, reopen or confirm): {_some(unjudged)}.")
    if not now.blockers:
        hints.append("No entry is open: file or reopen one, or this review does not count.")
    return _say(call, Signal.REVIEW_BUGS, hints)


def _facts(call: Call) -> Facts:
    return facts(call.context.project, call.context.scope, call.context.session_ref)


def _unjudged(call: Call, now: Facts) -> list[str]:
    lost = lost_fixes(now, call.context.is_missing)
    return [*now.unjudged, *(key for key in lost if key not in now.unjudged)]


def _say(call: Call, signal: Signal, hints: list[str]) -> Said:
    call.collector.say(signal)
    data = {"signal": signal.value, "hints": hints}
    return Said("\n".join([f"Noted: {signal.value}.", *hints]), data)


def _some(keys: Sequence[str]) -> str:
    more = len(keys) - KEYS_SHOWN
    return " ".join(keys[:KEYS_SHOWN]) + (f" and {more} more" if more > 0 else "")


VERBS: tuple[Verb, ...] = (
    *bug_verbs.VERBS,
    *spec_verbs.VERBS,
    *reply_verbs.VERBS,
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
