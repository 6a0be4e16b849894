"""The time axis of the timeline strip, and the curve on it. Pure geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

WIDTH, LEFT, RIGHT = 1324.0, 84.0, 1310.0
CHART_HEIGHT = 39.0

_STEPS = tuple(
    timedelta(seconds=one)
    for one in (5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
)


@dataclass(frozen=True, slots=True)
class Tick:
    """A time on the axis; is_now marks the newest moment."""

    x: float
    text: str
    anchor: str
    has_line: bool = True
    is_now: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """Moments between start and end, as x."""

    start: datetime
    end: datetime

    def x(self, at: datetime) -> float:
        share = (at - self.start) / (self.end - self.start)
        return round(LEFT + (RIGHT - LEFT) * min(1.0, max(0.0, share)), 1)


@dataclass(frozen=True, slots=True)
class OpenBugs:
    """From `at` on, `count` code bugs are open; or the score of the last attempt is `count`."""

    at: datetime
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnDown:
    """area and line: path data. levels: (y, count) of the scale. dot: x, y and value at the end.
    name: what is counted, in two lines."""

    area: str
    line: str
    levels: tuple[tuple[float, int], ...]
    top: float
    base: float
    dot_x: float
    dot_y: float
    now: int
    name: tuple[str, str] = ("Open", "code bugs")


def ticks(scale: Scale) -> tuple[Tick, ...]:
    """Return both ends, and round times between them as far as there is room."""
    span = scale.end - scale.start
    step = next((one for one in _STEPS if span / one <= 9), _STEPS[-1])
    form, room = ("%H:%M:%S", 86) if step < timedelta(minutes=1) else ("%H:%M", 60)
    found = [Tick(scale.x(scale.start), f"{scale.start:{form}}", "start", has_line=False)]
    midnight = scale.start.replace(hour=0, minute=0, second=0, microsecond=0)
    at = midnight + step * ((scale.start - midnight) // step + 1)
    while at < scale.end:
        x = scale.x(at)
        roomy = x - LEFT > room and WIDTH - x > room  # beside the labels at both ends
        found.append(Tick(x, f"{at:{form}}" if roomy else "", "middle"))
        at += step
    found.append(Tick(WIDTH, f"{scale.end:{form}}", "end", has_line=False, is_now=True))
    return tuple(found)


def burn_down(points: Sequence[OpenBugs], scale: Scale, top: float, *, most: int) -> BurnDown:
    """Return the curve as steps, from 0 at the left. most: the least that the scale goes up to."""
    base = top + CHART_HEIGHT
    peak = max([point.count for point in points] + [most])
    unit = CHART_HEIGHT / peak

    def y(count: int) -> float:
        return round(base - unit * count, 1)

    path, count = f"M{LEFT} {y(0)}", 0
    for point in sorted(points, key=lambda one: one.at):
        path += f"H{scale.x(point.at)}V{y(point.count)}"
        count = point.count
    line = f"{path}H{scale.x(scale.end)}"
    middle = ((y(peak // 2), peak // 2),) if peak >= 8 else ()
    return BurnDown(
        area=f"{line}V{base}H{LEFT}Z",
        line=line,
        levels=((y(0), 0), *middle, (y(peak), peak)),
        top=top,
        base=base,
        dot_x=scale.x(scale.end),
        dot_y=y(count),
        now=count,
    )
