"""Every limit is positive, and back and forth is seen (RULES 1 and 4)."""

import pytest

from loops.engine.bounds import Swing, calm, check_config, check_limits, swing_on, worst_case
from loops.engine.values import Config, Limits


@pytest.mark.parametrize("name", ["iterations", "wall_seconds", "no_progress", "tokens", "money"])
@pytest.mark.parametrize("value", [0, -1, "", float("nan"), float("inf"), True, "5"])
def test_zero_empty_and_nonsense_are_refused(name, value):
    with pytest.raises(ValueError, match=r"must be a .* number, not .*\.$"):
        check_limits(Limits(**{name: value}))


@pytest.mark.parametrize("name", ["iterations", "wall_seconds", "no_progress"])
def test_the_mandatory_limits_cannot_be_none(name):
    with pytest.raises(ValueError, match="must be a positive number"):
        check_limits(Limits(**{name: None}))


@pytest.mark.parametrize("name", ["iterations", "no_progress", "tokens"])
def test_counts_are_whole(name):
    with pytest.raises(ValueError, match="whole number"):
        check_limits(Limits(**{name: 1.5}))


def test_positive_limits_and_an_explicit_none_pass():
    check_limits(Limits(iterations=1, wall_seconds=1, no_progress=1, tokens=1, money=0.01))
    check_limits(Limits(tokens=None, money=None))


def test_a_money_limit_with_an_unpriced_agent_needs_a_token_limit():
    with pytest.raises(ValueError, match="token limit"):
        check_limits(Limits(money=5.0), priced=False)
    check_limits(Limits(money=5.0, tokens=100), priced=False)


@pytest.mark.parametrize("name", ["review_every", "coach_every"])
def test_the_rhythms_are_positive(name):
    check_config(Config())
    for value in (0, -1, 1.5):
        with pytest.raises(ValueError, match="at least 1"):
            check_config(Config(**{name: value}))


@pytest.mark.parametrize(
    ("trees", "turns"),
    [
        ("", 0),
        ("A", 1),
        ("AAA", 1),
        ("AB", 2),
        ("ABA", 3),
        ("ABAB", 4),
        ("AABBAABB", 4),
        ("ABABAB", 6),
        ("ABC", 2),
        ("ABAC", 2),
        ("ABACA", 3),
        ("ABCBCBC", 6),
    ],
)
def test_turns_count_the_same_two_trees_in_turn(trees, turns):
    swing = Swing()
    for tree in trees:
        swing = swing_on(swing, tree)
    assert swing.turns == turns


def test_calm_starts_the_count_from_the_tree_that_stands():
    swing = calm(swing_on(swing_on(Swing(), "A"), "B"))
    assert swing.turns == 1
    assert swing_on(swing_on(swing, "A"), "B").turns == 3


def test_what_is_left_is_the_worst_case():
    assert worst_case(40, 9) == 31
    assert worst_case(40, 41) == 0
