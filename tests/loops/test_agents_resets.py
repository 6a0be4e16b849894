"""When a limit resets, read from prose: in any zone, around midnight and a change of clocks."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from loops.agents.resets import GRACE, LONGEST, resets_in

MINUTE, HOUR, DAY = 60, 3600, 86_400
NOON = datetime(2026, 10, 5, 12, 0, tzinfo=UTC)  # a Monday
# A bare CET or EST is an abbreviation, the same all the year.
ZONES = sorted(name for name in available_timezones() if "/" in name)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("try again in 3h 20m", 3 * HOUR + 20 * MINUTE),
        ("Try again in about 2 hours.", 2 * HOUR),
        ("try again in 3 days 4 hours 2 minutes.", 3 * DAY + 4 * HOUR + 2 * MINUTE),
        ("Please try again in 1 day, 2 hours and 5 minutes", DAY + 2 * HOUR + 5 * MINUTE),
        ("Please try again in 6m0s.", 6 * MINUTE),
        ("Please try again in 898ms.", 0.898),
        ("Please retry in 12.5s.", 12.5),
        ("Your quota will reset after 7h12m30s.", 7 * HOUR + 12 * MINUTE + 30),
        ("limit resets in: 2 hours", 2 * HOUR),
        ("retry after 57s", 57),
        ("Rate limited, retry after 57", 57),
        ("Retry-After: 57", 57),
        ('"retry-after": "57"', 57),
        ('"retryDelay": "57s"', 57),
        ('{"resets_in_seconds": 1234}', 1234),
        ("Please wait 30 seconds before trying again", 30),
        ("Rate limit of 20 requests reached, wait for 2 min", 2 * MINUTE),
    ],
)
def test_a_span_is_waited_for(text, seconds):
    assert resets_in(text, NOON) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("resets 8pm (Asia/Tokyo)", 23 * HOUR),  # 20:00 there is 11:00 UTC: tomorrow's
        ("You've hit your session limit · resets 10:10pm (Asia/Tokyo)", HOUR + 10 * MINUTE),
        ("resets at 19:10", 7 * HOUR + 10 * MINUTE),
        ("resets 7:10pm.", 7 * HOUR + 10 * MINUTE),
        ("resets at 7 p.m.", 7 * HOUR),
        ("Resets at 7pm or upgrade your plan", 7 * HOUR),
        ("resets 12am", 12 * HOUR),
        ("resets 12:30pm", 30 * MINUTE),
        ("try again at 1:05 PM.", HOUR + 5 * MINUTE),
        ("try again at Oct 6th, 2026 1:05 PM.", DAY + HOUR + 5 * MINUTE),
        ("resets Oct 6, 1am (UTC)", 13 * HOUR),
        ("resets Oct 6 at 1am (UTC)", 13 * HOUR),
        ("resets October 6, 1:00am (Europe/Berlin)", 11 * HOUR),
        ("resets 6 Oct 01:00 UTC", 13 * HOUR),
        ("resets Jan 1, 12pm (UTC)", 88 * DAY),
        ("resets tomorrow at 3am", 15 * HOUR),
        ("resets Thursday at 7pm", 3 * DAY + 7 * HOUR),
        ("resets Mon 7pm", 7 * HOUR),
        ("resets Mon 7am", 6 * DAY + 19 * HOUR),
        ("resets 19:10 CET", 6 * HOUR + 10 * MINUTE),
        ("resets 19:10 UTC+2", 5 * HOUR + 10 * MINUTE),
        ("resets 19:10 (+05:30)", HOUR + 40 * MINUTE),
        ("resets 7pm America/New_York", 11 * HOUR),
    ],
)
def test_a_time_of_day_is_the_next_one_in_its_zone(text, seconds):
    assert resets_in(text, NOON) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (f"Claude AI usage limit reached|{int(NOON.timestamp()) + 90}", 90),
        (f'"resets_at":{int(NOON.timestamp()) + 90}', 90),
        (f'"resets_at": {int(NOON.timestamp()) + 90}000', 90),
        ("available again 2026-10-05T13:00:00Z", HOUR),
        ("resets at 2026-10-05T13:00:00.123+02:00", 0),
        ("until 2026-10-05 15:00:00+0200", HOUR),
        ("You will regain access on, resets 2026-10-06 12:00 UTC", DAY),
        ("retry after 2026-10-05T12:30:00", 30 * MINUTE),
    ],
)
def test_a_stamp_is_a_moment(text, seconds):
    assert resets_in(text, NOON) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Rate limit reached",
        "resets 8pm (Mars/Olympus)",
        "resets 8pm (../../etc/passwd)",
        "resets 13pm",
        "resets at 25:00",
        "resets at 19:77",
        "resets Feb 30, 1am",
        "resets soon, plan 5",
        "Limit 30000, Used 29000, Requested 2000",
        "2026-10-05T11:59:00Z ERROR rate limit reached",
        "request id 1760000000 failed",
        "resets at 0000-00-00T00:00:00Z",
    ],
)
def test_where_no_time_is_named_none_is_guessed(text):
    assert resets_in(text, NOON) is None


def test_what_has_just_passed_is_now_and_not_tomorrow():
    assert resets_in("resets 11:57am", NOON) == 0
    assert resets_in("resets 11:57am", NOON + GRACE) > 23 * HOUR


def test_shortly_after_midnight_the_evening_before_is_still_just_passed():
    now = datetime(2026, 10, 6, 0, 3, tzinfo=UTC)
    assert resets_in("resets 11:58pm", now) == 0
    assert resets_in("resets 12:30am", now) == 27 * MINUTE


def test_a_date_that_has_passed_is_not_taken_for_next_years():
    assert resets_in("resets Oct 3, 1am (UTC)", NOON) == 0
    assert resets_in("resets Jan 2, 1am", datetime(2026, 12, 31, 1, tzinfo=UTC)) == 2 * DAY


def test_without_a_zone_the_time_is_that_of_the_clock_that_was_handed_in():
    there = NOON.astimezone(timezone(timedelta(hours=9)))
    assert resets_in("resets 10pm", there) == HOUR


def test_over_a_change_of_clocks_real_hours_count():
    before = datetime(2026, 10, 24, 22, 0, tzinfo=UTC)  # midnight in Berlin, 25 hours long
    assert resets_in("resets 11:59pm (Europe/Berlin)", before + timedelta(minutes=30)) == (
        24 * HOUR + 29 * MINUTE
    )


def test_an_hour_that_is_skipped_still_comes_to_an_end():
    now = datetime(2026, 3, 29, 0, 0, tzinfo=UTC)  # 1:00 in Berlin; 2:30 does not exist
    assert 0 <= resets_in("resets 2:30am (Europe/Berlin)", now) <= 2 * HOUR


def test_of_an_hour_that_comes_twice_the_one_still_ahead_is_meant():
    first = datetime(2026, 10, 25, 0, 0, tzinfo=UTC)  # 2:00 in Berlin, for the first time
    assert resets_in("resets 2:30am (Europe/Berlin)", first) == 30 * MINUTE
    assert resets_in("resets 2:30am (Europe/Berlin)", first + timedelta(hours=1)) == 30 * MINUTE


def test_no_wait_is_longer_than_a_year():
    assert resets_in("try again in 999999999 weeks", NOON) == LONGEST.total_seconds()


moments = st.datetimes(
    datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.sampled_from(ZONES).map(ZoneInfo)
)
spans = st.integers(1, 24 * 60 - 60).map(lambda minutes: timedelta(minutes=minutes))


@given(moments, spans, st.sampled_from(ZONES), st.sampled_from(["%H:%M", "%I:%M%p", "%I:%M %p"]))
@example(NOON, timedelta(hours=1), "Asia/Tokyo", "%H:%M")
def test_a_time_that_a_vendor_writes_is_found_again_whatever_the_zone(now, span, zone, pattern):
    now = now.replace(second=0, microsecond=0)
    reset = now.astimezone(UTC) + span
    there = reset.astimezone(ZoneInfo(zone))
    assume(there.second == 0)  # the local mean times of long ago
    # An hour that a clock shows twice: the earlier of both is a right reading too.
    assume(there.replace(fold=0).utcoffset() == there.replace(fold=1).utcoffset())
    assume(now.astimezone(UTC).astimezone(ZoneInfo(zone)).utcoffset() == there.utcoffset())
    found = resets_in(f"limit · resets {there.strftime(pattern)} ({zone})", now)
    assert found == span.total_seconds()


@given(moments, st.integers(1, 170), st.sampled_from(ZONES))
def test_a_date_that_a_vendor_writes_is_found_again(now, days, zone):
    now = now.replace(second=0, microsecond=0)
    there = (now.astimezone(UTC) + timedelta(days=days)).astimezone(ZoneInfo(zone))
    assume(there.second == 0)
    assume(there.replace(fold=0).utcoffset() == there.replace(fold=1).utcoffset())
    found = resets_in(f"resets {there.strftime('%b %d, %I:%M%p')} ({zone})", now)
    assert found == days * DAY


@given(moments, st.integers(0, 10**10))
def test_a_span_is_found_again(now, seconds):
    said = f"retry after {seconds // 3600}h{seconds // 60 % 60}m{seconds % 60}s"
    assume(seconds // 3600 < 10**9)
    assert resets_in(said, now) == min(seconds, LONGEST.total_seconds())


WORDS = """resets retry after try again at in 8pm 25:61 Oct 31 Feb 9999 (Asia/Tokyo) (x) | h m Thu
    1760000000 99999999999999999999 tomorrow UTC+99 ٣ 2026-13-40T99:99:99Z
    0001-01-01T00:00:00+14:00 9999-12-31T23:59:59-12:00"""
words = st.sampled_from(WORDS.split())


@given(st.one_of(st.text(), st.lists(words).map(" ".join)), moments)
@example("resets 0001-01-01T00:00:00+14:00", NOON)
@example("resets Dec 31 9999 11:59pm (UTC-12)", NOON)
@example("resets 8pm", datetime.max.replace(tzinfo=UTC))
@example("resets 8pm", datetime.min.replace(tzinfo=UTC))
def test_whatever_the_words_are_the_answer_is_none_or_a_wait_that_is_not_negative(text, now):
    found = resets_in(text, now)
    assert found is None or 0 <= found <= LONGEST.total_seconds()
