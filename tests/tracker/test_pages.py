"""Words, shares and the word diff of the tracker's pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tracker.pages import words
from tracker.pages.board import shares
from tracker.pages.word_diff import word_diff


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (364, "6 min 4 s"),
        (360, "6 min"),
        (700, "11 min"),
        (31_080, "8 h 38 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations_are_read_in_at_most_two_units(seconds, said):
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    ("count", "said"),
    [(950, "950"), (412_300, "412 k"), (999_700, "1 M"), (41_200_000, "41.2 M")],
)
def test_large_counts_are_short(count, said):
    assert words.quantity(count) == said


def test_an_unknown_price_is_never_zero():
    assert words.money(None) == "not priced"
    assert words.money(64.18) == "$64.18"


def test_the_date_is_said_only_if_it_is_not_today():
    now = datetime(2026, 11, 30, 6, 42, tzinfo=UTC)
    assert words.moment(now - timedelta(hours=1), now) == "05:42"
    assert words.moment(now - timedelta(days=2), now) == "28 Nov 06:42"
    assert words.moment(now - timedelta(days=400), now) == "26 Oct 2025 06:42"


def test_an_age_has_one_unit():
    now = datetime(2026, 11, 30, 6, 42, tzinfo=UTC)
    assert words.age(now - timedelta(seconds=31_080), now) == "8 h"


def test_many_keys_are_cut_with_their_number():
    assert words.listed(["B-1", "B-2"]) == "B-1, B-2"
    assert words.listed(["B-1", "B-2", "B-3", "B-4"], most=2) == "B-1, B-2 and 2 more"


def test_the_coverage_bar_is_filled_by_its_shares_and_nothing_else():
    pieces = shares(((10, "c-ok"), (0, "c-bad"), (5, "c-rest")))
    assert [piece.tone for piece in pieces] == ["c-ok", "c-rest"]
    assert pieces[-1].x + pieces[-1].width <= 100


def test_a_changed_word_is_marked_and_the_rest_of_its_line_stays():
    (line,) = word_diff("LF stays LF, and CRLF stays CRLF.", "LF stays LF, CRLF stays CRLF.")
    assert [span.kind for span in line] == ["same", "removed", "same"]


def test_an_inserted_line_does_not_mark_its_neighbours():
    old = "A quote is kept.\nA quote that is never closed is an error.\n"
    new = old.replace("error.", "error, with its line.").replace("kept.\n", "kept.\nAll chunks.\n")
    inserted, longer = word_diff(old, new)
    assert [span.kind for span in inserted] == ["added"]
    assert "removed" not in {span.kind for span in longer}


def test_equal_texts_have_no_difference():
    assert word_diff("a\nb\n", "a\nb\n") == ()


def test_both_texts_can_be_read_back_from_the_difference():
    old, new = "one two three\nfour\n", "one 2 three\nfour\nfive\n"
    lines = word_diff(old, new)
    assert ["".join(s.text for s in line if s.kind != "removed") for line in lines] == [
        "one 2 three",
        "five",
    ]
