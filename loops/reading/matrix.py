"""Verifiers by attempts: what got better from one attempt to the next."""

from __future__ import annotations

from loops.engine.values import Verdict
from loops.pages.judging import Cell, Column, Matrix, MatrixRow, VerdictCard
from loops.pages.states import verdict_chip
from loops.reading import links
from loops.reading.attempts import Attempt, Said
from loops.reading.reading import Reading

SHOWN = 6  # as many as stand beside each other on a phone


def matrix_part(reading: Reading, rev: str = "", *, with_reasons: bool = True) -> Matrix | None:
    """None before the first attempt. rev: tree of the attempt in question; "" or a tree that no
    attempt left: the newest one. It is shown however old it is."""
    known = reading.attempts
    if not known:
        return None
    asked = next((one for one in reversed(known) if rev and one.rev == rev), known[-1])
    shown = list(known[-SHOWN:])
    if asked not in shown:
        shown[0] = asked
    return Matrix(
        columns=tuple(_column(reading, one, asked) for one in shown),
        rows=tuple(_row(reading, name, shown, asked) for name in _verifiers(reading)),
        hidden=len(known) - len(shown),
        cards=tuple(_card(reading, said) for said in asked.said) if with_reasons else (),
    )


def _verifiers(reading: Reading) -> list[str]:
    """Those of the configuration in their order, then those that judged and have gone."""
    said = [one.verifier for attempt in reading.attempts for one in attempt.said]
    return list(dict.fromkeys([*reading.verifiers, *said]))


def _column(reading: Reading, one: Attempt, asked: Attempt) -> Column:
    href = links.iteration(reading.session.pk, one.iteration)
    return Column(one.number, one.by, href, is_now=one is asked)


def _row(reading: Reading, name: str, shown: list[Attempt], asked: Attempt) -> MatrixRow:
    kind = reading.kind_of(name)
    return MatrixRow(name, kind, tuple(_cell(reading, name, one, asked) for one in shown))


def _cell(reading: Reading, name: str, one: Attempt, asked: Attempt) -> Cell:
    said = next((said for said in reversed(one.said) if said.verifier == name), None)
    if said is None:
        return Cell(is_now=one is asked)
    return Cell(
        chip=verdict_chip(said.status),
        score=str(said.report.score or ""),
        href=verdict_href(reading, said.iteration),
        is_now=one is asked,
    )


def verdict_href(reading: Reading, iteration: int) -> str:
    return f"{links.iteration(reading.session.pk, iteration)}?show=verdict"


def _card(reading: Reading, said: Said) -> VerdictCard:
    report = said.report
    seen = (
        (one.criterion, f"{verdict_chip(one.status).word}. {one.evidence}".strip())
        for one in report.evidence
        if one.status is not Verdict.OK
    )
    return VerdictCard(
        name=said.verifier,
        kind=reading.kind_of(said.verifier),
        chip=verdict_chip(said.status),
        score=f"{report.score} of 10" if report.score else "",
        feedback=report.feedback,
        href=verdict_href(reading, said.iteration),
        lines=tuple(seen),
    )
