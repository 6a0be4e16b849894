"""A session moves as the table of RULES 1 says, and in no other way."""

import itertools

import pytest

from loops.engine.lifecycle import TABLE, By, IllegalMove, Move, move, moves
from loops.engine.values import State

# Written from RULES 1, row by row; `op` and `en` say who may.
RULES = """
draft start queued op
queued claim running en
running pause pausing op
pausing boundary paused en
paused resume queued op
paused step queued op
running ask waiting_human en
pausing ask waiting_human en
waiting_human last_decided resuming op
resuming taken_up queued en
resuming decision_ends ended en
queued stop stopping op
running stop stopping op
pausing stop stopping op
paused stop stopping op
waiting_human stop stopping op
resuming stop stopping op
stopping tree_gone ended en
running finish ended en
draft unusable ended en
queued unusable ended en
running unusable ended en
pausing unusable ended en
paused unusable ended en
waiting_human unusable ended en
resuming unusable ended en
stopping unusable ended en
"""
ROWS = [line.split() for line in RULES.strip().splitlines()]
LEGAL = {(State(start), Move(event)) for start, event, _, _ in ROWS}


@pytest.mark.parametrize(("start", "event", "end", "by"), ROWS)
def test_each_row_of_the_table_leads_where_it_says(start, event, end, by):
    assert move(State(start), Move(event)) is State(end)
    assert TABLE[State(start), Move(event)].by is (By.OPERATOR if by == "op" else By.ENGINE)


@pytest.mark.parametrize(
    ("start", "event"),
    [pair for pair in itertools.product(State, Move) if pair not in LEGAL],
)
def test_every_other_move_is_refused_with_a_sentence(start, event):
    with pytest.raises(IllegalMove, match=r"^S-3 .*\.$"):
        move(start, event, session="S-3")


def test_the_refusal_says_what_is_possible_instead():
    with pytest.raises(IllegalMove) as refused:
        move(State.PAUSED, Move.PAUSE, session="S-3")
    assert str(refused.value) == "S-3 is paused; it can be resumed, stepped or stopped, not paused."


def test_an_ended_session_offers_nothing():
    with pytest.raises(IllegalMove) as refused:
        move(State.ENDED, Move.STOP, session="S-3")
    assert str(refused.value) == "S-3 has ended; it cannot be stopped."
    assert moves(State.ENDED, By.OPERATOR) == moves(State.ENDED, By.ENGINE) == ()


def test_every_state_can_be_reached_and_left():
    reached = {move(*pair) for pair in LEGAL}
    assert reached == set(State) - {State.DRAFT}
    assert {start for start, _ in LEGAL} == set(State) - {State.ENDED}
