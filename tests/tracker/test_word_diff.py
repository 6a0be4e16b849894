"""What changed between two texts is shown word by word, and never takes long."""

import time

import pytest

from tracker.pages.word_diff import changed_count, count_of, numbered, word_diff


def told(old, new):
    signs = {"same": "", "added": "+", "removed": "-"}
    return ["|".join(signs[s.kind] + s.text for s in line) for line in word_diff(old, new)]


def test_changed_words_are_shown_and_equal_lines_left_out():
    assert told("one\ntwo big cats\nthree", "one\ntwo small cats\nthree") == [
        "two |-big|+small| cats"
    ]
    assert told("a\nb", "a\nb") == []
    assert told("a\nb\nc", "a\nc") == ["-b"]


def test_lines_are_counted_as_citations_count_them():
    assert [line.number for line in numbered("a\n\x0bb\u2028c\n")] == [1, 2]
    assert count_of("a\n\x0bb\u2028c\n") == 2
    assert changed_count("a\nB\n\nc", "a\nb\nc") == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x" * 1_000_000, "y" * 1_000_000),
        (
            "\n".join(f"old line {n} of it" for n in range(30_000)),
            "\n".join(map(str, range(30_000))),
        ),
        ("\n" * 1_000_000, "a\n" * 500_000),
        (
            "\n".join(f"alpha beta {n}" for n in range(450)),
            "\n".join(f"beta gamma {n}" for n in range(450)),
        ),
    ],
)
def test_huge_changes_are_counted_instead_of_shown(old, new):
    began = time.monotonic()
    assert word_diff(old, new)
    changed_count(new, old)
    assert time.monotonic() - began < 20
