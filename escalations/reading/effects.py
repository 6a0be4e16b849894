"""How far a decision lets the loop go on: the bound before and after it, by the engine itself."""

from __future__ import annotations

from escalations.models import Escalation
from loops.engine.values import Choice, Decided, Kind, LimitName
from loops.reading.reading import Reading
from loops.reading.standing import attempts_left
from tracker.pages.words import plural

_ONE_MORE = (Choice.REPLAN, Choice.REASSIGN, Choice.AMEND)


def growth(escalation: Escalation, choice: Choice, reading: Reading) -> str:
    """In words; "" for a choice that ends the session or moves no bound."""
    if choice is Choice.GRANT and escalation.limit == LimitName.ITERATIONS.value:
        return "Each one adds 1 to the iterations that can still run."
    now = attempts_left(reading)
    if now is None:
        return ""
    if choice is Choice.REJECT:
        return f"At most {plural(now, 'more attempt')} now; each one that you allow adds 1."
    if choice not in _ONE_MORE:
        return ""
    then = _then(escalation, choice, reading)
    if then is None:
        return ""
    if then == now:
        return f"At most {plural(then, 'more attempt')}, as before."
    return f"At most {plural(then, 'more attempt')} then, {now} without it."


def _then(escalation: Escalation, choice: Choice, reading: Reading) -> int | None:
    """What the engine would say after it."""
    assert reading.fold is not None
    pool = reading.pool
    decided = Decided(
        seq=reading.fold.seq + 1,
        escalation=escalation.pk,
        kind=Kind(escalation.kind),
        choice=choice,
        worker=pool[0] if pool else "",
    )
    try:
        state = reading.fold.controller.apply(reading.fold.state, decided)
    except ValueError:  # the session cannot take it now; the service says why
        return None
    return attempts_left(reading, state)
