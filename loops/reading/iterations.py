"""A session's iterations as rows of a list and as blocks of the timeline."""

from __future__ import annotations

from loops.engine.run_state import limit_of
from loops.engine.values import LimitName, Outcome, Role, Verdict
from loops.models import Iteration
from loops.pages.session import IterationRow, IterationRowsPart
from loops.pages.states import outcome_chip, role_icon, role_word
from loops.pages.timeline import Turn
from loops.reading import links
from loops.reading.reading import Noted, Reading
from tracker.pages.atoms import Chip
from tracker.pages.words import stopwatch

ROWS = 40
TURNS = 1_000  # the newest ones; more blocks than that are thinner than a pixel
_NOTHING = Noted(0, None, None, None)


def rows_part(
    reading: Reading, *, current: int = 0, before: int | None = None
) -> IterationRowsPart:
    """Return the newest rows, or those before iteration `before`. current: the one on view."""
    session = reading.session
    known = [one for one in reading.iterations if before is None or one.number < before]
    shown = known[-ROWS:]
    older = f"{links.session(session.pk)}?rows={shown[0].number}" if len(known) > ROWS else ""
    return IterationRowsPart(
        rows=tuple(_row(reading, one, current) for one in reversed(shown)),
        done=session.iteration_count,
        most=most(reading),
        older=older,
        history=links.history(session.pk) if session.iteration_count else "",
    )


def most(reading: Reading) -> int:
    """Iterations that the session may use, grants included."""
    if reading.fold is not None:
        return int(limit_of(reading.fold.state, LimitName.ITERATIONS) or 0)
    return int(reading.session.config["limits"]["iterations"])


def _row(reading: Reading, one: Iteration, current: int) -> IterationRow:
    return IterationRow(
        number=one.number,
        role=role_word(Role(one.role)),
        role_icon=role_icon(Role(one.role)),
        chip=chip_of(reading, one),
        href=links.iteration(one.session_id, one.number),
        duration=stopwatch(seconds(reading, one)),
        started_at=None if one.ended_at else one.started_at,
        is_current=one.number == current,
        agent=one.agent,
    )


def chip_of(reading: Reading, one: Iteration) -> Chip:
    noted = reading.noted.get(one.number, _NOTHING)
    outcome = Outcome(one.outcome) if one.outcome else None
    return outcome_chip(
        outcome,
        findings=noted.findings,
        guidance=noted.guidance,
        verdict=_verdict(reading, one),
        attempt=reading.attempt_at.get(one.number, 0),
    )


def _verdict(reading: Reading, one: Iteration) -> Verdict | None:
    said = reading.verdict_at.get(one.number)
    return said.status if said else None


def seconds(reading: Reading, one: Iteration) -> float:
    return ((one.ended_at or reading.now) - one.started_at).total_seconds()


def turns(reading: Reading) -> list[Turn]:
    return [_turn(reading, one) for one in reading.iterations[-TURNS:]]


def _turn(reading: Reading, one: Iteration) -> Turn:
    noted = reading.noted.get(one.number, _NOTHING)
    return Turn(
        number=one.number,
        role=Role(one.role),
        started_at=reading.local(one.started_at),
        ended_at=reading.local(one.ended_at) if one.ended_at else None,
        outcome=Outcome(one.outcome) if one.outcome else None,
        href=links.iteration(one.session_id, one.number),
        findings=noted.findings,
        guidance=noted.guidance,
        agent=one.agent,
        verdict=_verdict(reading, one),
        attempt=reading.attempt_at.get(one.number, 0),
    )
