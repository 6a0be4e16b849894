"""Two sessions compared, whatever their patterns and projects are."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from django.db.models import QuerySet

from loops import exports
from loops.models import Session
from loops.pages.compare import (
    Chart,
    ChoosePage,
    ComparePage,
    Fact,
    Side,
    chart,
)
from loops.reading import changes, links
from loops.reading.budgets import spent
from loops.reading.head import status_part, title
from loops.reading.iterations import most
from loops.reading.pairs import differs_in_answer, pair_rows
from loops.reading.reading import Reading
from loops.reading.setup import pattern_word, setup
from loops.reading.turns import MOST, Turn, turns_of
from tracker.models import Project
from tracker.pages.atoms import Link
from tracker.pages.words import duration, moment, money, plural, quantity

CHOICES = 200
MINUS = "\N{MINUS SIGN}"
_DOLLARS = tuple(unit * 10.0**power for power in range(-2, 6) for unit in (1, 2, 5))
_SECONDS = (1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600, 7200, 4 * 3600, 12 * 3600, 86_400)


def choose_page(projects: QuerySet[Project], first: Session | None) -> ChoosePage:
    name = f"{first.ref} {title(first)}" if first else ""
    return ChoosePage(
        headline=f"Compare {name}" if first else "Compare two sessions",
        sentence="Choose the other one." if first else "Choose both sides.",
        choices=_choices(projects),
        chosen=(first.pk if first else 0, 0),
        post=links.COMPARE,
        back=Link("Loops", links.INDEX),
    )


def _choices(projects: QuerySet[Project]) -> tuple[tuple[int, str], ...]:
    rows = Session.objects.filter(project__in=projects).select_related("project").order_by("-pk")
    return tuple((one.pk, f"{one.ref} {title(one)}, {one.project}") for one in rows[:CHOICES])


def compare_page(projects: QuerySet[Project], first: Session, second: Session) -> ComparePage:
    """projects: those that the person sees, to choose others from."""
    a, b = Reading(first), Reading(second)
    left, right = turns_of(a), turns_of(b)
    same = _same(left, right)
    facts, changed = setup(a, b)
    return ComparePage(
        headline=_headline(left, right, same),
        sentence=_sentence(a, b, left, right, same),
        a=_side(a),
        b=_side(b),
        swap=links.compare(second.pk, first.pk),
        rows=tuple(pair_rows(left, right, same)),
        setup=facts,
        setup_note=_note(first, second, changed),
        numbers=_numbers(a, b, left, right),
        chart=_chart(a, b, left, right, same),
        choices=_choices(projects),
        chosen=(first.pk, second.pk),
        post=links.COMPARE,
        logs=tuple(Link(f"{one.ref}’s log", links.history(one.pk)) for one in (first, second)),
        **_diff(first, second),
    )


def _same(left: list[Turn], right: list[Turn]) -> int:
    """How many directives from the first on are the same in both, with their answers."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if not one.is_like(other):
            break
        count += 1
    return count


def _headline(left: list[Turn], right: list[Turn], same: int) -> str:
    if same == len(left) == len(right):
        return f"The same {plural(same, 'directive')} in both"
    if differs_in_answer(left, right, same):
        return f"Same {plural(same + 1, 'directive')}, then the answers differ"
    if not same:
        return "They differ from the first directive on"
    return f"Same {plural(same, 'directive')}, then they part"


def _sentence(a: Reading, b: Reading, left: list[Turn], right: list[Turn], same: int) -> str:
    if same == len(left) == len(right):
        return "Every directive and every answer is the same, and so is the end."
    told = [_went_on(one, turns, same) for one, turns in ((a, left), (b, right))]
    more = _more_money(a, b)
    return " ".join([*told, *([more] if more else [])])


def _went_on(reading: Reading, turns: list[Turn], same: int) -> str:
    ref, last = reading.session.ref, turns[-1].cell
    after = len(turns) - same - 1
    stands = last.chip.word.lower() if last.chip else "over"
    if after <= 0:
        return f"{ref} has nothing after that: {stands}."
    return f"{ref} went on for {plural(after, 'directive')}: {stands}."


def _more_money(a: Reading, b: Reading) -> str:
    costs = [_money(one) for one in (a, b)]
    if None in costs or not all(costs):
        return ""
    less, more = sorted(((costs[0], a), (costs[1], b)), key=lambda one: float(one[0] or 0))
    difference = float(more[0] or 0) - float(less[0] or 0)
    return f"{more[1].session.ref} cost {money(difference)} more." if difference >= 0.005 else ""


def _money(reading: Reading) -> float | None:
    """What was reported; None where an iteration reported nothing."""
    if reading.fold is None or reading.fold.state.money_unknown:
        return None
    return float(reading.fold.state.money)


def _side(reading: Reading) -> Side:
    session = reading.session
    at = session.ended_at or session.started_at or session.created_at
    verb = "ended" if session.ended_at else "started" if session.started_at else "made"
    parent = session.forked_from
    facts = [
        f"fork of {parent.ref} after {session.forked_at}" if parent else reading.project.name,
        pattern_word(session.pattern),
        f"{verb} {moment(reading.local(at), reading.now)}",
    ]
    return Side(
        ref=session.ref,
        title=title(session),
        href=links.session(session.pk),
        chip=status_part(reading).chip,
        facts=tuple(facts),
    )


# --- numbers and cost ----------------------------------------------------------------------------


def _numbers(a: Reading, b: Reading, left: list[Turn], right: list[Turn]) -> tuple[Fact, ...]:
    def pair(name: str, one: str, other: str) -> Fact:
        return Fact(name, one, other)

    rows = [
        pair("Iterations", *(f"{r.session.iteration_count} of {most(r)}" for r in (a, b))),
        pair("Directives", *(_count(turns) for turns in (left, right))),
        pair("Time", *(duration(sum(t.seconds for t in turns)) for turns in (left, right))),
        pair("Cost", spent(a), spent(b)),
        pair("Tokens", *(_tokens(turns) for turns in (left, right))),
        pair("Files, lines", *(_size(r.session) for r in (a, b))),
    ]
    return tuple(rows)


def _count(turns: list[Turn]) -> str:
    return str(len(turns)) if len(turns) < MOST else f"the first {MOST:,}"


def _tokens(turns: list[Turn]) -> str:
    known = [turn.tokens for turn in turns if turn.tokens is not None]
    return quantity(sum(known)) if known else "not reported"


def _size(session: Session) -> str:
    diff = changes.diff_of(session, session.base_rev, exports.result_rev(session), "the base")
    if diff.note and not diff.files:
        return "not known"
    added, removed = changes.size(diff)
    return f"{len(diff.files)}, +{added} {MINUS}{removed}"


def _chart(a: Reading, b: Reading, left: list[Turn], right: list[Turn], same: int) -> Chart | None:
    """Money where both sides report it, else the time that agents ran."""
    if len(left) + len(right) <= 2:
        return None

    def peak() -> float:
        return max(sums[0][-1], sums[1][-1])

    priced = all(any(turn.money for turn in turns) for turns in (left, right))
    if priced:
        sums = [list(accumulate(turn.money or 0.0 for turn in turns)) for turns in (left, right)]
        words = (money(sums[0][-1]), money(sums[1][-1]))
        levels = [(value, f"${value:g}") for value in _levels(peak(), _DOLLARS)]
    else:
        sums = [list(accumulate(turn.seconds for turn in turns)) for turns in (left, right)]
        words = (duration(sums[0][-1]), duration(sums[1][-1]))
        levels = [(value, duration(value)) for value in _levels(peak(), _SECONDS)]
    return chart(
        *sums,
        refs=(a.session.ref, b.session.ref),
        words=words,
        split=same + 1 if same < max(len(left), len(right)) else None,
        title="Cost by directive" if priced else "Time by directive",
        level_words=levels,
    )


def _levels(peak: float, units: tuple[float, ...]) -> list[float]:
    """Round values from 0 up to the peak, four at most. units: steps to choose from."""
    step = next((unit for unit in units if peak / unit <= 3), units[-1])
    return [step * index for index in range(min(3, int(peak / step)) + 1)]


# --- results -------------------------------------------------------------------------------------


def _note(first: Session, second: Session, changed: int) -> str:
    what = "nothing in the set-up was changed" if not changed else _settings(changed)
    for child, parent in ((second, first), (first, second)):
        if child.forked_from_id == parent.pk:
            return f"{child.ref} is a fork of {parent.ref} after {child.forked_at}: {what}."
    return ""


def _settings(count: int) -> str:
    return "one setting was changed" if count == 1 else f"{count} settings were changed"


def _diff(first: Session, second: Session) -> dict[str, Any]:
    if first.project_id != second.project_id:
        return {"diff": None, "diff_note": "They work on different projects, so their results are "
                "not compared."}  # fmt: skip
    results = exports.result_rev(first), exports.result_rev(second)
    if not all(results):
        return {"diff": None, "diff_note": "One of them has no tree yet."}
    return {"diff": changes.diff_of(first, *results, f"the result of {first.ref}")}
