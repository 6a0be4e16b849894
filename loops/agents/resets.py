"""When a limit resets, from the words of an error. Pure: the clock is handed in.

Read are a span ("try again in 3h 20m"), a stamp (ISO, or seconds since the epoch) and a time of day
("resets Oct 6, 1am (UTC)"), each only after a word that says what is awaited: an error may hold
other numbers and dates, such as its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

GRACE = timedelta(minutes=10)
"""A time of day that passed so short a while ago has come: the words are as old as the CLI's own
retries, and clocks differ. What passed earlier is tomorrow's. Asked too early, a service says
"limit" once more; taken for tomorrow's, a session would stand still for a day."""
LONGEST = timedelta(days=366)
_MOST_TEXT = 20_000

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOURS_FROM_UTC = {
    **{"utc": 0, "gmt": 0, "z": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7},
    **{"mdt": -6, "pst": -8, "pdt": -7, "cet": 1, "cest": 2, "jst": 9},
}
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.ASCII | re.VERBOSE)


_AWAITED = _pattern(
    r"""reset(?:s|ting|_at|_in)? | retry(?:[-_ ]?after)? | retrydelay | try\ again | wait(?:ing)?
      | available(?:\ again)? | renew(?:s|ed)? | refresh(?:es|ed)? | until | reached(?=\|)"""
)
_GAP = r"[^0-9\n]{0,30}?"
_UNIT = (
    r"(?:msecs?|ms|milliseconds?|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|[smhdw])"
)
_PART = _pattern(rf"([0-9]{{1,9}}(?:\.[0-9]{{1,9}})?)\s?({_UNIT})(?![a-z])")
_SPAN = _pattern(
    rf"{_GAP}((?:[0-9]{{1,9}}(?:\.[0-9]{{1,9}})?\s?{_UNIT}(?![a-z])(?:,?\s?(?:and\s)?))+)"
)
# "Retry-After: 57", "retry after 57", "resets_in_seconds": 57
_BARE = _pattern(
    r"""(?:(?<=after)|[-_\ ]?in[-_\ ]seconds|_seconds)["':=\s]{1,4}
        ([0-9]{1,9}(?:\.[0-9]{1,9})?)(?![\w:.-])"""
)
_EPOCH = _pattern(rf"{_GAP}\b(1[0-9]{{9}}|2[0-9]{{9}})([0-9]{{3}})?(?![\w.:-])")
_ISO = _pattern(
    rf"""{_GAP}([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})[t\ ]([0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}})?)
        (?:\.[0-9]{{1,9}})?\s?(z\b|utc\b|gmt\b|[+-][0-9]{{2}}:?[0-9]{{2}})?"""
)
_CLOCK = _pattern(
    rf"""{_GAP}
    (?:(?P<tomorrow>tomorrow)[\s,]+(?:at\s)?)?
    (?:\b(?P<weekday>{"|".join(_DAYS)})[a-z]{{0,6}}[\s,]+(?:at\s)?)?
    (?:(?:\b(?P<month>{"|".join(_MONTHS)})[a-z]{{0,6}}\.?\s(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?
        | (?P<day2>[0-9]{{1,2}})\s(?P<month2>{"|".join(_MONTHS)})[a-z]{{0,6}})
       (?:,?\s(?P<year>[0-9]{{4}})(?![0-9:]))?[\s,]+(?:at\s)?)?
    (?P<hour>[0-9]{{1,2}})(?::(?P<minute>[0-9]{{2}}))?(?::[0-9]{{2}})?(?![0-9])
    (?:\s?(?P<half>[ap]\.?m\b\.?))?
    (?:\s?\((?P<zone>[^\s()]{{1,60}})\)|\s(?P<bare>[a-z_]+/[\w/-]+|utc[+-][0-9:]+|[a-z]{{1,4}})\b)?"""
)
_OFFSET = _pattern(r"(?:utc|gmt)?([+-])([0-9]{1,2}):?([0-9]{2})?")


def resets_in(text: str, now: datetime) -> float | None:
    """Seconds from `now` (aware; its zone is taken where the words name none), at least 0. None if
    the words name no time, or one in a zone that is not known."""
    said = text[:_MOST_TEXT]
    try:
        for read in (_span, _stamp, _clock):
            for awaited in _AWAITED.finditer(said):
                found = read(said, awaited.end(), now)
                if found is not None:
                    return min(max(found, 0.0), LONGEST.total_seconds())
    except (ValueError, OverflowError):  # a 32nd day, the end of the calendar
        return None
    return None


def _span(text: str, start: int, _now: datetime) -> float | None:
    bare = _BARE.match(text, start)
    if bare:
        return float(bare[1])
    span = _SPAN.match(text, start)
    if span is None:
        return None
    return sum(float(amount) * _SECONDS[_unit(unit)] for amount, unit in _PART.findall(span[1]))


def _unit(name: str) -> str:
    name = name.lower()
    return "ms" if name.startswith(("ms", "milli")) else name[0]


def _stamp(text: str, start: int, now: datetime) -> float | None:
    epoch = _EPOCH.match(text, start)
    if epoch:
        return float(epoch[1]) - now.timestamp()
    iso = _ISO.match(text, start)
    if iso is None:
        return None
    zone = _zone(iso[3], now) if iso[3] else now.tzinfo
    moment = datetime.fromisoformat(f"{iso[1]} {iso[2]}").replace(tzinfo=zone)
    return _seconds_until(moment, now)


def _clock(text: str, start: int, now: datetime) -> float | None:
    said = _CLOCK.match(text, start)
    if said is None or not (said["half"] or said["minute"]):
        return None
    zone = _zone_of(said, now)
    at = _time_of_day(said)
    if zone is None or at is None:
        return None
    waits = [_seconds_until(moment, now) for moment in _moments(said, at, zone, now)]
    if said["month"] or said["month2"]:  # of the years that it could mean, the nearest
        return min(waits, key=abs, default=None)
    return next((wait for wait in waits if wait >= -GRACE.total_seconds()), None)


def _moments(said: re.Match[str], at: time, zone: tzinfo, now: datetime) -> Iterator[datetime]:
    """What the words can mean, in order; an hour that a clock shows twice is two of them."""
    for day in _days(said, now.astimezone(zone).date()):
        for fold in (0, 1):
            yield datetime.combine(day, at.replace(fold=fold), zone)


def _days(said: re.Match[str], today: date) -> Iterator[date]:
    month, day = said["month"] or said["month2"], said["day"] or said["day2"]
    if month:
        years = (int(said["year"]),) if said["year"] else range(today.year - 1, today.year + 2)
        for year in years:
            if int(day) <= _length(year, _MONTHS.index(month.lower()) + 1):
                yield date(year, _MONTHS.index(month.lower()) + 1, int(day))
        return
    first = 1 if said["tomorrow"] else -1  # yesterday's evening may have been minutes ago
    for ahead in range(first, 9):
        one = today + timedelta(days=ahead)
        if not said["weekday"] or _DAYS[one.weekday()] == said["weekday"].lower():
            yield one


def _length(year: int, month: int) -> int:
    following = date(year + month // 12, month % 12 + 1, 1)
    return (following - timedelta(days=1)).day


def _time_of_day(said: re.Match[str]) -> time | None:
    hour, minute = int(said["hour"]), int(said["minute"] or 0)
    if said["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if said["half"].lower().startswith("p") else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _zone_of(said: re.Match[str], now: datetime) -> tzinfo | None:
    """A word after the time need not be a zone; one in parentheses is."""
    if said["zone"]:
        return _zone(said["zone"], now)
    bare = said["bare"] or ""
    if "/" in bare or bare.lower() in _HOURS_FROM_UTC or _OFFSET.fullmatch(bare):
        return _zone(bare, now)
    return now.tzinfo


def _zone(name: str, now: datetime) -> tzinfo | None:
    if name.lower() in _HOURS_FROM_UTC:
        return timezone(timedelta(hours=_HOURS_FROM_UTC[name.lower()]))
    if name.lower() == "local":
        return now.tzinfo
    offset = _OFFSET.fullmatch(name)
    if offset:
        size = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(-size if offset[1] == "-" else size)
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # unknown, or no name of a zone at all
        return None


def _seconds_until(moment: datetime, now: datetime) -> float:
    """In UTC: within one zone Python would count the hours that its clock shows."""
    return (moment.astimezone(UTC) - now.astimezone(UTC)).total_seconds()
