"""The timeline strip draws what happened, where and for how long it happened."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from loops.engine.values import Outcome, Role
from loops.pages.axis import LEFT, RIGHT, WIDTH, OpenBugs
from loops.pages.timeline import HumanChange, Turn, timeline

START = datetime(2026, 11, 29, 22, 0, tzinfo=UTC)
ROLES = (Role.WORKER, Role.REVIEWER, Role.COACH)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def turn(number, role, begins, ends, outcome, **more):
    until = None if ends is None else at(ends)
    return Turn(
        number=number,
        role=role,
        started_at=at(begins),
        ended_at=until,
        outcome=outcome,
        href=f"#i{number}",
        **more,
    )


def strip(*turns, changes=(), bugs=(), now=60.0):
    return timeline(turns, roles=ROLES, changes=changes, open_bugs=bugs, now=at(now))


def test_a_block_is_as_wide_as_its_share_of_the_time():
    drawn = strip(
        turn(1, Role.WORKER, 0, 30, Outcome.WORK), turn(2, Role.WORKER, 30, 60, Outcome.WORK)
    )
    first, second = drawn.blocks
    assert first.x == LEFT
    assert abs(second.x - (LEFT + RIGHT) / 2) < 0.1
    assert first.width == second.width


def test_each_role_has_its_own_lane_in_the_order_given():
    drawn = strip(
        turn(1, Role.COACH, 0, 9, Outcome.COACH, guidance=3),
        turn(2, Role.REVIEWER, 10, 20, Outcome.REVIEW_BUGS, findings=2),
    )
    lanes = {lane.name: lane.y for lane in drawn.lanes}
    assert list(lanes) == ["Worker", "Reviewer", "Coach"]
    assert [block.y for block in drawn.blocks] == [lanes["Coach"], lanes["Reviewer"]]


def test_a_review_shows_how_many_bugs_it_found_and_a_coach_its_version():
    drawn = strip(
        turn(1, Role.REVIEWER, 0, 20, Outcome.REVIEW_BUGS, findings=2),
        turn(2, Role.COACH, 20, 40, Outcome.COACH, guidance=5),
    )
    review, coach = drawn.blocks
    assert (review.tone, review.glyph) == ("c-bad", "2")
    assert coach.aside == "v5"
    assert coach.width <= 5


def test_a_running_turn_reaches_to_now():
    (block,) = strip(turn(1, Role.WORKER, 30, None, None), now=60).blocks
    assert block.tone == "c-run"
    assert block.x + block.width <= RIGHT
    assert block.x + block.width > RIGHT - 3


def test_a_turn_of_a_moment_can_still_be_seen_and_carries_no_glyph():
    drawn = strip(
        turn(1, Role.WORKER, 0, 0.01, Outcome.DONE),
        turn(2, Role.WORKER, 1, 600, Outcome.WORK),
        now=600,
    )
    assert drawn.blocks[0].width >= 2
    assert drawn.blocks[0].glyph == ""


def test_open_bugs_are_a_staircase_that_ends_at_the_count_of_now():
    drawn = strip(
        turn(1, Role.WORKER, 0, 60, Outcome.WORK),
        bugs=[OpenBugs(at(20), 3), OpenBugs(at(40), 1)],
    )
    burn = drawn.burn
    assert burn.now == 1
    assert burn.levels[0][1] == 0
    assert burn.levels[-1] == (burn.top, 3)
    assert burn.line.count("V") == 2
    assert burn.top < burn.dot_y < burn.base


def test_labels_of_human_changes_never_cover_each_other():
    changes = [HumanChange(at(minute), f"R-{minute} edited") for minute in (30, 31, 32, 59)]
    flags = strip(turn(1, Role.WORKER, 0, 60, Outcome.WORK), changes=changes).flags
    assert len(flags) == 4
    assert all(flag.title.endswith("edited") for flag in flags)
    shown = [flag for flag in flags if flag.text]
    spans = []
    for flag in shown:
        room = 6.2 * len(flag.text)
        left = flag.text_x if flag.anchor == "start" else flag.text_x - room
        spans.append((left, left + room))
    assert all(right <= WIDTH for _left, right in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_the_axis_has_few_ticks_for_a_minute_and_for_a_week():
    for minutes in (0.5, 1, 45, 480, 60 * 24 * 7):
        ticks = strip(turn(1, Role.WORKER, 0, None, None), now=minutes).ticks
        assert 2 <= len(ticks) <= 12
        assert ticks[-1].is_now


def test_the_times_on_the_axis_never_overlap():
    cases = [
        (n / 60, minutes) for n in range(12) for minutes in (0.3, 1.2, 1.5, 7, 45, 480, 10_080)
    ]
    for begins, minutes in cases:
        ticks = strip(turn(1, Role.WORKER, begins, None, None), now=minutes).ticks
        spans = []
        for tick in (tick for tick in ticks if tick.text):
            room = 6.5 * len(tick.text)
            left = tick.x - {"start": 0, "middle": room / 2, "end": room}[tick.anchor]
            spans.append((left, left + room))
        assert all(a[1] <= b[0] for a, b in pairwise(spans)), (begins, minutes)


def test_a_session_that_has_just_begun_can_be_drawn():
    drawn = strip(turn(1, Role.WORKER, 0, None, None), now=0)
    assert drawn.count == 1
    assert drawn.burn.now == 0


def test_the_drawing_says_in_words_what_it_shows():
    drawn = strip(
        turn(1, Role.REVIEWER, 0, 5, Outcome.REVIEW_CLEAN),
        turn(2, Role.REVIEWER, 5, 9, Outcome.REVIEW_BUGS, findings=1),
        bugs=[OpenBugs(at(9), 1)],
    )
    assert "2 reviews, 1 of them clean" in drawn.desc
    assert "peaked at 1 and are 1 now" in drawn.desc
    assert drawn.blocks[1].title == "2: Reviewer, Review, 1 bug, 4 min"
