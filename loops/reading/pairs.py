"""The directives of two sessions as rows of one table."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest

from loops.pages.compare import Cell, PairRow
from loops.reading.turns import Turn
from tracker.pages.words import plural

SAME_SHOWN = 4  # of the equal directives, those before the first difference; the rest is folded
FOLDED = 60
DIFFERENT_SHOWN = 150


def differs_in_answer(left: list[Turn], right: list[Turn], same: int) -> bool:
    """The first difference is one of the answer: what was due is the same."""
    if same >= min(len(left), len(right)):
        return False
    return left[same].directive == right[same].directive


def pair_rows(left: list[Turn], right: list[Turn], same: int) -> list[PairRow]:
    """Equal rows, folded but for the last ones, then one row per place after the difference."""
    only_answer = differs_in_answer(left, right, same)
    shared = same + only_answer
    rows: list[PairRow] = []
    if shared:
        fact = f"1 to {shared}" if shared > 1 else "1"
        rows.append(PairRow(group="The same in both", fact=fact))
        rows += _equal(left[:same])
    if only_answer:
        rows.append(PairRow(label=str(same + 1), both=_asked(left[same].cell)))
    if same < max(len(left), len(right)):
        rows.append(PairRow(group="Here they differ" if shared else "They differ from the start"))
        rows += _different(left, right, same, only_answer=only_answer)
    return rows


def _equal(turns: list[Turn]) -> list[PairRow]:
    hidden = max(0, len(turns) - SAME_SHOWN)
    rows = [_folded(turns[:hidden])] if hidden else []
    shown = enumerate(turns[hidden:], start=hidden + 1)
    return [*rows, *(PairRow(label=str(number), both=turn.cell) for number, turn in shown)]


def _folded(turns: list[Turn]) -> PairRow:
    words = Counter(turn.cell.chip.word.lower() for turn in turns if turn.cell.chip)
    counts = ", ".join(f"{count} {word}" for word, count in words.most_common(5))
    told = [
        f"{number} {turn.what} {turn.rule} {turn.cell.chip.word if turn.cell.chip else ''}".rstrip()
        for number, turn in enumerate(turns[:FOLDED], start=1)
    ]
    left_out = len(turns) - FOLDED
    return PairRow(
        label=f"1 to {len(turns)}" if len(turns) > 1 else "1",
        both=Cell(words=f"{plural(len(turns), 'directive')}: {counts}"),
        folded=(*told, *([f"and {left_out} more"] if left_out > 0 else [])),
    )


def _asked(cell: Cell) -> Cell:
    sub = "The same directive. The answer is not the same."
    return Cell(cell.words, cell.rule, None, sub, "")


def _different(
    left: list[Turn], right: list[Turn], same: int, *, only_answer: bool
) -> list[PairRow]:
    rows = []
    pairs = list(zip_longest(left[same:], right[same:]))
    for place, (one, other) in enumerate(pairs[:DIFFERENT_SHOWN]):
        is_first = place == 0
        cells = [turn.cell if turn else None for turn in (one, other)]
        if is_first and only_answer:
            cells = [Cell("", "", c.chip, c.sub, c.href) if c else None for c in cells]
        rows.append(PairRow(label=str(same + place + 1), a=cells[0], b=cells[1], is_first=is_first))
    left_out = len(pairs) - DIFFERENT_SHOWN
    if left_out > 0:
        rows.append(PairRow(group=f"{left_out:,} more are not shown", fact="see each history"))
    return rows
