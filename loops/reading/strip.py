"""The timeline strip of a session: turns, what people changed, and how many code bugs were open."""

from __future__ import annotations

from datetime import datetime

from loops.engine.values import REQUIREMENT_EDITED, Pattern, State
from loops.pages.axis import OpenBugs
from loops.pages.timeline import HumanChange, Timeline, timeline
from loops.reading import links
from loops.reading.iterations import turns
from loops.reading.reading import Reading
from loops.sight import scope_of
from tracker.engine.rules import BLOCKING, Kind, Verb
from tracker.models import Bug, Move
from tracker.scope import bugs_in

MOST_LANES = 6
_STANDS = (State.PAUSED, State.WAITING_HUMAN, State.ENDED)
EVENTS = {
    REQUIREMENT_EDITED: "edited",
    Verb.FILE.value: "filed",
    Verb.MERGE.value: "filed again",
    Verb.REWORD.value: "reworded",
    Verb.REOPEN.value: "reopened",
    Verb.DISPUTE.value: "disputed",
    Verb.DISMISS.value: "dismissed",
    Verb.TURN.value: "made a task",
}


def timeline_part(reading: Reading) -> Timeline | None:
    """None while nothing has run."""
    told = turns(reading)
    if not told:
        return None
    start = told[0].started_at
    changes = [one for one in human_changes(reading) if one.at >= start]
    end = _right_edge(reading, changes)
    is_judged = reading.pattern is not Pattern.SINGLE_THREAD
    return timeline(
        told,
        roles=reading.roles,
        changes=changes,
        open_bugs=scores(reading) if is_judged else open_bugs(reading, start, end),
        now=end,
        workers=_workers(reading),
    )


def _workers(reading: Reading) -> tuple[str, ...]:
    """Those of the pool, then those who worked and have gone; () where that makes too many."""
    worked = (one.by for one in reading.attempts if one.by)
    names = tuple(dict.fromkeys((*reading.pool, *worked)))
    return names if len(names) <= MOST_LANES else ()


def scores(reading: Reading) -> list[OpenBugs]:
    """The lowest score that each judged attempt was given, as a step from its verdict on."""
    ended = {one.number: one.ended_at for one in reading.iterations}
    steps = []
    for attempt in reading.attempts:
        given = [said.report.score for said in attempt.said if said.report.score]
        at = ended.get(attempt.said[-1].iteration) if attempt.said else None
        if given and at is not None:
            steps.append(OpenBugs(reading.local(at), min(given)))
    return steps


def _right_edge(reading: Reading, changes: list[HumanChange]) -> datetime:
    """The present while it moves. A loop that stands still ends where it stopped: a night's wait
    would squeeze everything that happened to a sliver."""
    if reading.last_move is None or reading.state not in _STANDS:
        return reading.now
    stopped = reading.session.ended_at or reading.last_move.at
    return max([reading.local(stopped), *(one.at for one in changes)])


def human_changes(reading: Reading) -> list[HumanChange]:
    """What people did to the loop, in order: events that counted, and decisions."""
    rows = reading.session.own_log.filter(kind__in=("human_event", "decided"))
    return [
        _change(reading, kind, payload, reading.local(at))
        for kind, payload, at in rows.order_by("seq").values_list("kind", "payload", "at")
    ]


def _change(reading: Reading, kind: str, payload: dict[str, str], at: datetime) -> HumanChange:
    if kind == "decided":
        number = payload.get("escalation", 0)
        return HumanChange(at, f"E-{number} decided", f"/queue/{number}/")
    key = payload["key"]
    page = links.requirement if key.startswith("R-") else links.entry
    verb = EVENTS.get(payload["what"], payload["what"])
    return HumanChange(at, f"{key} {verb}", page(reading.project, key).href)


def open_bugs(reading: Reading, start: datetime, end: datetime) -> list[OpenBugs]:
    """Steps of the number of open code bugs in scope, from `start` to `end`."""
    session = reading.session
    inside = Bug.objects.filter(
        bugs_in(scope_of(session), session.ref), project=reading.project, kind=Kind.CODE.value
    )
    moves = Move.objects.filter(project=reading.project, bug__in=inside, at__lte=end)
    open_now: set[int] = set()
    steps: list[OpenBugs] = []
    for bug, state, at in moves.order_by("id").values_list("bug_id", "to_state", "at"):
        (open_now.add if state in BLOCKING else open_now.discard)(bug)
        steps.append(OpenBugs(max(start, reading.local(at)), len(open_now)))
    return _without_repeats(steps)


def _without_repeats(steps: list[OpenBugs]) -> list[OpenBugs]:
    """Only the last count of each moment, and only where the count changes."""
    kept: list[OpenBugs] = []
    for step in steps:
        if kept and kept[-1].at == step.at:
            kept.pop()
        if not kept or kept[-1].count != step.count:
            kept.append(step)
    return kept
