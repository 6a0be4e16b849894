"""Two sessions side by side (loops/compare.html): what the rules said to do, in order, up to the
first difference and after it; set-up, numbers and what each spent on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loops.pages.output import DiffPart
from tracker.pages.atoms import Act, Chip, Link

LEFT, RIGHT, TOP, BASE = 44.0, 318.0, 18.0, 150.0
WIDTH, HEIGHT = 352, 172
CHAR = 6.4
POINTS = 120  # more than that cannot be told apart on the page


@dataclass(frozen=True, slots=True)
class Cell:
    """What one session did at one place. words: "Worker"; rule: its name; chip: the outcome."""

    words: str = ""
    rule: str = ""
    chip: Chip | None = None
    sub: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A row of the table. group: a heading (fact: beside it). both: one cell across both columns,
    folded lists what is collapsed in it. a, b: one each, None = that session had ended.
    is_first: the first difference."""

    label: str = ""
    group: str = ""
    fact: str = ""
    both: Cell | None = None
    folded: tuple[str, ...] = ()
    a: Cell | None = None
    b: Cell | None = None
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of set-up or numbers; differs: tinted and bold."""

    name: str
    a: str
    b: str
    differs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    ref: str
    title: str
    href: str
    chip: Chip
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Two stepless lines over the same count of directives. a, b: path data; ends: (x, y, text) of
    each. split: where they differ, None = nowhere."""

    title: str
    desc: str
    a: str
    b: str
    end_a: tuple[float, float, str]
    end_b: tuple[float, float, str]
    levels: tuple[Tick, ...]
    counts: tuple[Tick, ...]
    split: float | None
    width: int = WIDTH
    height: int = HEIGHT
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    base: float = BASE

    @property
    def label_a(self) -> Label:
        return _label(self.end_a, self.end_b, is_lower_at_par=True)

    @property
    def label_b(self) -> Label:
        return _label(self.end_b, self.end_a, is_lower_at_par=False)


@dataclass(frozen=True, slots=True)
class Label:
    x: float
    y: float
    anchor: str
    text: str


def _label(
    end: tuple[float, float, str], other: tuple[float, float, str], *, is_lower_at_par: bool
) -> Label:
    """Beside the line's end: at its right below where there is room, else above or below it, clear
    of the other line's."""
    x, y, text = end
    if x + 9 + CHAR * len(text) < WIDTH and x < other[0]:
        return Label(x + 7, round(y + 15, 1), "start", text)
    is_below = y > other[1] if y != other[1] else is_lower_at_par
    meets = x == other[0] and is_below
    return Label(x + 8, round(y + 16 if meets else y - 9, 1), "end", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparePage:
    """choices: sessions to choose from, (id, words). setup_note: e.g. that one is a fork of the
    other. diff: None where the two share no project. others: which ids the form shows."""

    headline: str
    sentence: str
    a: Side
    b: Side
    swap: str
    rows: tuple[PairRow, ...]
    setup: tuple[Fact, ...]
    numbers: tuple[Fact, ...]
    choices: tuple[tuple[int, str], ...]
    chosen: tuple[int, int]
    post: str
    chart: Chart | None = None
    setup_note: str = ""
    diff: DiffPart | None = None
    diff_note: str = ""
    logs: tuple[Link, ...] = ()

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.a, self.b


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoosePage:
    """The same page before both sides are chosen. first: the one that is, if any."""

    headline: str
    sentence: str
    choices: tuple[tuple[int, str], ...]
    chosen: tuple[int, int]
    post: str
    back: Link
    acts: tuple[Act, ...] = ()


def chart(
    a: Sequence[float],
    b: Sequence[float],
    *,
    refs: tuple[str, str],
    words: tuple[str, str],
    split: int | None,
    title: str,
    level_words: Sequence[tuple[float, str]],
) -> Chart:
    """a, b: what was spent in sum after each directive. words: the last value of each, in words.
    split: number of the first directive that differs. level_words: (value, its words) to mark."""
    most = max(len(a), len(b), 1)
    peak = max([*a, *b, *(value for value, _ in level_words), 1e-9])

    def x(count: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * count / most, 1)

    def y(value: float) -> float:
        return round(BASE - (BASE - TOP - 8) * value / peak, 1)

    def path(values: Sequence[float]) -> str:
        step = max(1, len(values) // POINTS)
        shown = [*range(step - 1, len(values), step)]
        if values and shown[-1] != len(values) - 1:
            shown.append(len(values) - 1)
        return f"M{x(0)} {y(0)}" + "".join(f"L{x(one + 1)} {y(values[one])}" for one in shown)

    def end(values: Sequence[float], which: int) -> tuple[float, float, str]:
        last = values[-1] if values else 0.0
        return x(len(values)), y(last), f"{refs[which]} {words[which]}"

    marks = sorted({0, most // 4, most // 2, 3 * most // 4, most})
    return Chart(
        title=title,
        desc=f"{refs[0]} ends at directive {len(a)} with {words[0]}, "
        f"{refs[1]} at directive {len(b)} with {words[1]}.",
        a=path(a),
        b=path(b),
        end_a=end(a, 0),
        end_b=end(b, 1),
        levels=tuple(Tick(y(value), text) for value, text in level_words),
        counts=tuple(Tick(x(mark), str(mark)) for mark in marks),
        split=None if split is None else x(split),
    )
