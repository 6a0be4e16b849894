"""Who judges whom, and how far apart their models stand (RULES 3)."""

from __future__ import annotations

from collections.abc import Iterable

from loops import configuration
from loops.engine.values import State
from loops.independence import ORDER, Grade, Pair, pairs
from loops.models import Session
from loops.pages.settings import JudgeRow
from tracker.errors import Invalid
from tracker.pages.atoms import Chip
from tracker.pages.words import listed

CHIPS = {
    Grade.MECHANICAL: Chip("ok", "shield", "Mechanical"),
    Grade.OTHER_FAMILY: Chip("ok", "shield", "Other family"),
    Grade.UNKNOWN: Chip("off", "q", "Not known"),
    Grade.SAME_FAMILY: Chip("warn", "warn", "Same family"),
    Grade.SAME_MODEL: Chip("bad", "x", "Same model"),
}
_SAID = {
    Grade.MECHANICAL: "Strongest: it measures.",
    Grade.UNKNOWN: "An agent does not say its model.",
    Grade.SAME_FAMILY: "Weak: their mistakes may agree.",
    Grade.SAME_MODEL: "It judges itself.",
}
MOST = 12


def judge_rows() -> tuple[JudgeRow, ...]:
    """For every judge in a session that has not ended, the newest sessions first."""
    sessions = Session.objects.exclude(state=State.ENDED.value).select_related("project")
    rows: list[JudgeRow] = []
    for session in sessions.order_by("-pk")[:MOST]:
        try:
            config = configuration.parse(session.config)
        except Invalid:
            continue
        rows += _rows(session, pairs(config))
    return tuple(rows[:MOST])


def _rows(session: Session, found: Iterable[Pair]) -> list[JudgeRow]:
    by_judge: dict[str, list[Pair]] = {}
    for pair in found:
        by_judge.setdefault(pair.judge, []).append(pair)
    return [_row(session, judge, over) for judge, over in by_judge.items()]


def _row(session: Session, judge: str, over: list[Pair]) -> JudgeRow:
    """The weakest of its grades counts."""
    grade = max((pair.grade for pair in over), key=ORDER.index)
    makers = listed(list(dict.fromkeys(pair.made_by.words for pair in over)), 2)
    own = "a command" if grade is Grade.MECHANICAL else over[0].judged_by.words
    who = f"{judge[:1].upper()}{judge[1:]} in {session.project.name}"
    return JudgeRow(
        who=who,
        models=f"{own} over {makers}",
        chip=CHIPS[grade],
        sub=" ".join(filter(None, (f"{session.ref}.", _SAID.get(grade, "")))),
    )


def sentence(pair: Pair) -> str:
    """What the form of a new session says of a pair; "" where there is nothing to say."""
    judge, maker = f"{pair.judge[:1].upper()}{pair.judge[1:]}", pair.maker
    both = f"{maker[:1].upper()}{maker[1:]} and {pair.judge}"
    match pair.grade:
        case Grade.OTHER_FAMILY:
            return f"{judge} is of another family than {maker}: {_models(pair)}."
        case Grade.SAME_FAMILY:
            return (
                f"{both} are of one family, {pair.judged_by.family} ({_models(pair)}). Their "
                "mistakes may agree."
            )
        case Grade.SAME_MODEL:
            return f"{both} run the same model, {pair.judged_by.words}. It judges itself."
        case Grade.UNKNOWN if pair.made_by == pair.judged_by:
            return f"{both} are the same agent. Their mistakes may agree."
    return ""


def _models(pair: Pair) -> str:
    return f"{pair.judged_by.words} over {pair.made_by.words}"
