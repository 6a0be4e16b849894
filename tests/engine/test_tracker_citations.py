"""Keys, quotes, and when two findings are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.engine import citations
from tracker.engine.citations import Fails, Pointer, Stands
from tracker.engine.rules import Kind

TEXT = "Imports\n\nEvery import   is used.\nNo line is longer\nthan 100 characters.\n"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("R-2", Pointer(2)),
        ("r-2.13", Pointer(2, 13)),
        (" R-2 ", Pointer(2)),
        *[(bad, None) for bad in ("", "R-0", "R-2.", "R-2.0", "R2", "B-2", "R-2.3.4", "R-٢")],
    ],
)
def test_a_requirement_is_named_by_key_and_line(key, expected):
    assert citations.requirement_key(key) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("B-7", (Kind.CODE, 7)),
        ("t-1", (Kind.TASK, 1)),
        ("Q-12", (Kind.SPEC, 12)),
        *[(bad, None) for bad in ("", "R-1", "B-0", "B7", "B-1.2", "guidance v1")],
    ],
)
def test_an_entry_is_named_by_its_key(key, expected):
    assert citations.bug_key(key) == expected


@pytest.mark.parametrize(
    ("quote", "line", "stands_on"),
    [
        ("Every import is used.", None, 3),
        ("import\tis\n used", None, 3),
        ("Every import is used.", 3, 3),
        ("longer than 100", None, 4),
        ("longer than 100", 4, 4),
        ("longer than 100", 5, 5),
        ("used. No line", None, 3),
    ],
)
def test_a_quote_stands_where_its_words_stand_whatever_the_white_space(quote, line, stands_on):
    result = citations.quoted(TEXT, quote, Pointer(2, line))
    assert isinstance(result, Stands)
    assert result.line == stands_on


@pytest.mark.parametrize(
    ("quote", "line", "words"),
    [
        ("every import is used", None, '"every import is used" do not stand in R-2'),
        ("Every import is used.", 1, "do not stand in R-2.1"),
        ("Every import is used.", 6, "R-2 has 5 lines; there is no line 6"),
        (" \n ", None, "Quote the words of R-2"),
        ("x" * 500, None, "…"),
    ],
)
def test_a_quote_that_does_not_stand_is_refused_with_the_place_named(quote, line, words):
    result = citations.quoted(TEXT, quote, Pointer(2, line))
    assert isinstance(result, Fails)
    assert words in result.sentence
    assert len(result.sentence) < 200


@given(st.text(), st.data())
def test_any_words_of_a_text_can_be_quoted_and_their_line_is_right(text, data):
    words = text.split()
    if not words:
        return
    start = data.draw(st.integers(0, len(words) - 1))
    stop = data.draw(st.integers(start + 1, len(words)))
    result = citations.quoted(text, " \n ".join(words[start:stop]), Pointer(1))
    assert isinstance(result, Stands)
    line = citations.fold(text.split("\n")[result.line - 1])
    assert result.line_text == line
    assert line.split()  # a quote begins on a line that has words


def test_a_line_stays_the_same_line_when_lines_are_added_above_it():
    before = citations.quoted("a\nkeep this\n", "keep", Pointer(1))
    after = citations.quoted("new\na\nkeep   this\n", "keep", Pointer(1))
    assert (before.line, after.line) == (2, 3)
    assert citations.finding(1, before.line_text, "f:1", "t") == citations.finding(
        1, after.line_text, "f:1", "other title"
    )


@pytest.mark.parametrize(
    "other",
    [(2, "line", "f:1", "t"), (1, "other", "f:1", "t"), (1, "line", "f:2", "t")],
)
def test_another_requirement_line_or_place_is_another_finding(other):
    assert citations.finding(*other) != citations.finding(1, "line", "f:1", "t")


def test_without_a_place_the_title_tells_findings_apart():
    assert citations.finding(1, "l", "", "One  thing") == citations.finding(1, "l", "", "one thing")
    assert citations.finding(1, "l", "", "one thing") != citations.finding(1, "l", "", "another")


@pytest.mark.parametrize(
    ("place", "path"),
    [("a.py:12", "a.py"), ("a.py:12:4", "a.py"), ("a.py", "a.py"), ("C:3:x", "C:3:x")],
)
def test_the_file_of_a_place(place, path):
    assert citations.path_of(place) == path


@given(st.text(st.characters()))
def test_cleaned_text_is_stored_by_every_database(text):
    cleaned = citations.clean(text + "\ud800\x00")
    cleaned.encode()
    assert "\x00" not in cleaned
    assert "\r" not in cleaned
