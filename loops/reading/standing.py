"""Where a session with verifiers stands: plan and criteria, the attempt, verdicts, counters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loops import records
from loops.engine.contracts import Criterion, criteria_hash
from loops.engine.feedback import is_out_of_date
from loops.engine.feedback_state import FeedbackState
from loops.engine.maker_state import MakerState
from loops.engine.rule_texts import rule_text
from loops.engine.values import REQUIREMENT_EDITED, EndReason, Outcome, Policy, Role, State
from loops.models import LogEntry
from loops.pages.judging import Counter, CriterionLine, StandingPart
from loops.pages.states import role_word, verdict_chip
from loops.reading import links
from loops.reading.reading import Reading
from tracker.pages.atoms import CheckLine, Chip, Link, met, unmet

_PROVED = (EndReason.DONE, EndReason.NO_OP)
_WAITS = Chip("off", "clock", "To come")
_SILENT = Chip("off", "stall", "Not asked")


def standing_part(reading: Reading) -> StandingPart:
    if reading.fold is None:
        return StandingPart(lead="It has not been started.", lines=())
    state = reading.fold.state
    lead, lines = _why(reading)
    is_feedback = isinstance(state, FeedbackState)
    return StandingPart(
        lead=lead,
        lines=lines,
        version=version(state),
        plan=_plan(reading) if is_feedback else None,
        outdated=_outdated(state),
        criteria=criteria_lines(reading, state.criteria, since=_frozen_at(state)),
        now="" if reading.is_ended else _now(reading, state),
        said_on=_latest(state),
        said=_said(reading, state),
        counters=_of_feedback(state) if is_feedback else _of_maker(state),
        bound=bound(reading),
        best=_best(state),
    )


def bound(reading: Reading) -> str:
    """How many attempts can still run; "" where that is no number of this pattern."""
    left = attempts_left(reading)
    if left is None or reading.is_ended:
        return ""
    noun = "worker attempt" if reading.roles[1] is Role.WORKER else "attempt"
    return f"At most {left} more {noun}{'' if left == 1 else 's'}, whatever agents do."


def attempts_left(reading: Reading, state: Any = None) -> int | None:
    """state: another one than the session's, such as one after a decision. None: no such bound."""
    if reading.fold is None:
        return None
    count: Callable[[Any], int] | None
    count = getattr(reading.fold.controller, "attempts_at_most", None)
    return None if count is None else count(state or reading.fold.state)


def version(state: Any) -> str:
    number = state.plan_number if isinstance(state, FeedbackState) else state.criteria_version
    frozen = criteria_hash(state.criteria)[:7]
    return f"Criteria, version {number}, {frozen}" if number else ""


def criteria_lines(
    reading: Reading,
    criteria: tuple[Criterion, ...],
    *,
    since: int | None = None,
    kept: frozenset[str] = frozenset(),
) -> tuple[CriterionLine, ...]:
    """since: log entry at which they were frozen, None = whether they are stale is not asked.
    kept: keys of those that were carried over."""
    edited = _edited(reading, since) if since is not None else frozenset()
    return tuple(
        CriterionLine(
            key=one.key,
            words=one.words,
            traces=links.requirement(reading.project, one.traces) if one.traces else None,
            is_stale=one.traces in edited,
            is_kept=one.key in kept,
        )
        for one in criteria
    )


def _edited(reading: Reading, since: int) -> frozenset[str]:
    """Keys of the requirements that were edited after log entry `since`."""
    events = LogEntry.objects.filter(
        session=reading.session, kind="human_event", seq__gt=since, payload__what=REQUIREMENT_EDITED
    )
    return frozenset(events.values_list("payload__key", flat=True))


def _frozen_at(state: Any) -> int:
    return int(state.plan_claimed if isinstance(state, FeedbackState) else state.frozen_seq)


def _outdated(state: Any) -> str:
    if isinstance(state, FeedbackState):
        is_old = state.plan is not None and is_out_of_date(state)
    else:
        is_old = state.is_outdated
    if not is_old:
        return ""
    return "Out of date: a requirement changed after they were written. An OK asks you then."


def _plan(reading: Reading) -> Link | None:
    """The plan in force, and the iteration that made it."""
    assert reading.fold is not None
    number = reading.fold.state.plan_number
    plans = [one for one in reading.iterations if one.outcome == Outcome.PLAN.value]
    if not number or not plans:
        return None
    href = f"{links.iteration(reading.session.pk, plans[-1].number)}?show=plan"
    return Link(f"Plan {number}", href)


def _why(reading: Reading) -> tuple[str, tuple[CheckLine, ...]]:
    if not reading.is_ended:
        return "Not done yet, because:", reasons(reading)
    lead = reading.session.end_sentence or "It ended."
    if reading.end not in _PROVED or not reading.attempts:
        return lead, ()
    last = reading.attempts[-1]
    proofs = (
        met(f"{said.verifier}: {verdict_chip(said.status).word}", fact=f"it. {said.iteration}")
        for said in last.said
    )
    return "It counts as done because:", (met(lead.rstrip(".")), *proofs)


def reasons(reading: Reading) -> tuple[CheckLine, ...]:
    """One line per condition of the end that is not met."""
    if reading.fold is None:
        return ()
    found = records.why_not_done(reading.session, reading.fold)
    return tuple(unmet(why["text"].rstrip("."), sub=rule_text(why["rule"])) for why in found)


def _now(reading: Reading, state: Any) -> str:
    """Which attempt, by whom, and what is due."""
    step = state.step
    who = f"{role_word(step.role)} {step.agent}".rstrip()
    if reading.running is not None and step.role is Role.THINKER:
        return "The thinker is planning."
    if reading.running is not None and step.role is not Role.VERIFIER:
        return f"Attempt {state.attempts + 1} is being made by {step.agent or 'the maker'}."
    if reading.running is not None:
        due = f"{who} judges it now"
    else:
        due = "a person is asked" if reading.state is State.WAITING_HUMAN else f"next is {who}"
    return f"{_latest(state) or 'No attempt yet'}; {due}."


def _latest(state: Any) -> str:
    """The last attempt that ran and who made it; "" before the first."""
    if not state.attempts:
        return ""
    by = f" by {state.worker}" if getattr(state, "worker", "") else ""
    return f"Attempt {state.attempts}{by}"


def _said(reading: Reading, state: Any) -> tuple[tuple[str, Chip], ...]:
    """Each verifier on the current attempt."""
    if not state.attempts:
        return ()
    heard = {one.verifier: one.report for one in state.given}
    is_open = state.step.role is Role.VERIFIER and state.question is None and not reading.is_ended
    found = []
    for name, verifier in reading.verifiers.items():
        report = heard.get(name)
        if report is not None:
            chip = verdict_chip(report.status)
        else:
            is_due = is_open and verifier.policy is not Policy.RESERVE
            chip = _WAITS if is_due else _SILENT
        found.append((name, chip))
    return tuple(found)


def _counter(name: str, used: int, most: int) -> Counter:
    return Counter(name, f"{used} of {most}", used >= most)


def _of_feedback(state: FeedbackState) -> tuple[Counter, ...]:
    config = state.config
    is_final = Counter("Final retry", "used" if state.final_used else "not used", state.final_used)
    return (
        Counter("Attempts", str(state.attempts)),
        _counter("Retries", state.retried, config.retries),
        _counter("Reassigns", state.reassigned, config.reassigns),
        _counter("Replans", state.replanned, config.replans),
        is_final,
        *_again(state.reverified, config.reverifications, config.verifiers),
        Counter("Given by people", _given(state.extras_given, state.extra)),
    )


def _of_maker(state: MakerState) -> tuple[Counter, ...]:
    config = state.config
    return (
        _counter("Attempts", state.attempts, state.attempts_allowed),
        *_again(state.reverified, config.reverifications, config.verifiers),
        Counter("Given by people", str(state.extra)),
    )


def _given(given: int, left: int) -> str:
    return f"{given}, {left} left" if left else str(given)


def _again(used: int, most: int, verifiers: Any) -> tuple[Counter, ...]:
    """Only where there is somebody who could judge again."""
    if not any(one.policy is Policy.RESERVE for one in verifiers):
        return ()
    return (_counter("Judged again", used, most),)


def _best(state: Any) -> str:
    best = state.best
    if best is None:
        return ""
    by = f" by {best.worker}" if getattr(best, "worker", "") else ""
    score = f", score {best.score} of 10" if best.score else ", no score"
    return f"Attempt {best.attempt}{by}{score}"
