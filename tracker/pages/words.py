"""Numbers and times as people read them. Pure: standard library only."""

from __future__ import annotations

from datetime import datetime, timedelta

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def duration(seconds: float) -> str:
    """Return a span in its two largest units: 31080 -> "8 h 38 min", 360 -> "6 min", 4 -> "4 s".

    Minutes and seconds are shown together only below 10 minutes.
    """
    left = max(0, round(seconds))
    for index, (unit, size) in enumerate(_UNITS):
        count, rest = divmod(left, size)
        if not count:
            continue
        if index + 1 == len(_UNITS) or (unit == "min" and count >= 10):
            return f"{count} {unit}"
        small, small_size = _UNITS[index + 1]
        smaller = rest // small_size
        return f"{count} {unit} {smaller} {small}" if smaller else f"{count} {unit}"
    return "0 s"


def stopwatch(seconds: float) -> str:
    """Return minutes and seconds for a column: 364 -> "6:04", 4000 -> "66:40"."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes}:{rest:02d}"


def quantity(count: int) -> str:
    """Return a count short: 950 -> "950", 412300 -> "412 k", 41_200_000 -> "41.2 M"."""
    if count < 1_000:
        return str(count)
    if count < 999_500:
        return f"{count / 1_000:.0f} k"
    short = f"{count / 1_000_000:.1f}".removesuffix(".0")
    return f"{short} M"


def money(dollars: float | None) -> str:
    """Return a price, or "not priced": unknown is never shown as $0 (design/ui.md 4)."""
    return "not priced" if dollars is None else f"${dollars:,.2f}"


def plural(count: int, one: str, many: str = "") -> str:
    """Return "1 code bug", "2 code bugs"; `many` for irregular words."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {many or one + 's'}"


def moment(at: datetime, now: datetime) -> str:
    """Return local time, with the date only if it is not today. Both in the reader's time zone."""
    if at.date() == now.date():
        return f"{at:%H:%M}"
    if at.year == now.year:
        return f"{at.day} {at:%b %H:%M}"
    return f"{at.day} {at:%b %Y %H:%M}"


def stamp(at: datetime) -> str:
    """Return the full time with its zone, for `title`."""
    return f"{at.day} {at:%b %Y %H:%M:%S %Z}".strip()


def age(since: datetime, now: datetime) -> str:
    """Return how long ago, in one unit: "2 s", "4 min", "7 h", "3 d"."""
    seconds = max(0.0, (now - since) / timedelta(seconds=1))
    return duration(seconds).split(" ")[0] + " " + duration(seconds).split(" ")[1]


def listed(items: tuple[str, ...] | list[str], most: int = 3) -> str:
    """Return "B-31, B-33" or "B-31, B-33, B-34 and 2 more"."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most} more"
