"""The timeline strip: lanes per role on real time, burn-down of open code bugs, human changes.

Pure geometry from plain values; the template only writes the numbers down (SVG attributes, so that
no style attribute is needed). The iteration list beside it is its text form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from loops.engine.values import Outcome, Role
from loops.pages.states import outcome_chip, role_word
from tracker.pages.words import duration, plural

WIDTH, LEFT, RIGHT = 1324.0, 84.0, 1310.0
LANE_TOP, LANE_STEP, BLOCK_HEIGHT = 22.0, 22.0, 17.0
GLYPH_ROOM, GAP, THINNEST = 11.0, 1.5, 2.0
CHART_HEIGHT, LABEL_CHAR = 39.0, 6.2

_STEPS = tuple(
    timedelta(seconds=one)
    for one in (5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
)
_TONES = {
    Outcome.DONE: ("c-ok", "check"),
    Outcome.CONFLICT: ("c-warn", "!"),
    Outcome.REJECTED: ("c-lim", "\u00d7"),
    Outcome.STALL: ("c-hatch", ""),
    Outcome.REVIEW_CLEAN: ("c-ok", "check"),
    Outcome.REVIEW_STALL: ("c-hatch", ""),
    Outcome.INTERRUPTED: ("c-hatch", ""),
    Outcome.COACH: ("c-acc", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One iteration to draw. ended_at and outcome are None while it runs. findings: new bugs of a
    review. guidance: number of the version a coach wrote. href: its row or page."""

    number: int
    role: Role
    started_at: datetime
    ended_at: datetime | None
    outcome: Outcome | None
    href: str
    findings: int = 0
    guidance: int | None = None


@dataclass(frozen=True, slots=True)
class HumanChange:
    """What a person changed, e.g. "R-7 edited"."""

    at: datetime
    text: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class OpenBugs:
    """From `at` on, `count` code bugs are open."""

    at: datetime
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A rectangle that links to its iteration. glyph: "check" draws the check mark, another text
    is written on the block, "" draws none. aside: text beside it ("v5")."""

    x: float
    y: float
    width: float
    tone: str
    title: str
    href: str
    glyph: str = ""
    aside: str = ""

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 1)

    @property
    def check(self) -> str:
        """The check mark's path, centred on the block."""
        middle, y = self.middle, self.y
        return f"M{middle - 3:.1f} {y + 9:.1f}l2 2 4-4.5"


@dataclass(frozen=True, slots=True)
class Lane:
    name: str
    y: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A time on the axis; is_now marks the newest moment."""

    x: float
    text: str
    anchor: str
    has_line: bool = True
    is_now: bool = False


@dataclass(frozen=True, slots=True)
class Flag:
    """A human change; text is "" where its label would cover another one (the title keeps it)."""

    x: float
    text: str
    title: str
    anchor: str
    text_x: float
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnDown:
    """area and line: path data. levels: (y, count) of the scale. dot: x, y and value at the end."""

    area: str
    line: str
    levels: tuple[tuple[float, int], ...]
    top: float
    base: float
    dot_x: float
    dot_y: float
    now: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Part loops/_timeline.html. title and desc are read out instead of the drawing."""

    count: int
    title: str
    desc: str
    height: float
    lanes: tuple[Lane, ...]
    blocks: tuple[Block, ...]
    ticks: tuple[Tick, ...]
    flags: tuple[Flag, ...]
    burn: BurnDown
    width: float = WIDTH
    left: float = LEFT


def timeline(
    turns: Sequence[Turn],
    *,
    roles: Sequence[Role],
    changes: Sequence[HumanChange],
    open_bugs: Sequence[OpenBugs],
    now: datetime,
) -> Timeline:
    """Lay the strip out. Times in the reader's zone, turns in order of their start; `now` is the
    right edge: the present, or the session's end."""
    start = min([turn.started_at for turn in turns[:1]] + [now])
    scale = _Scale(start, max(now, start + timedelta(seconds=1)))
    lanes = tuple(
        Lane(role_word(role), LANE_TOP + LANE_STEP * row) for row, role in enumerate(roles)
    )
    rows = {role: lane.y for role, lane in zip(roles, lanes, strict=True)}
    top = LANE_TOP + LANE_STEP * len(lanes) + 17
    burn = _burn_down(open_bugs, scale, top)
    return Timeline(
        count=len(turns),
        title=f"Iterations by role, and open code bugs, {start:%H:%M} to {now:%H:%M}",
        desc=_description(turns, open_bugs),
        height=top + CHART_HEIGHT + 18,
        lanes=lanes,
        blocks=tuple(_block(turn, scale, rows) for turn in turns if turn.role in rows),
        ticks=_ticks(scale),
        flags=_flags(changes, scale),
        burn=burn,
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    start: datetime
    end: datetime

    def x(self, at: datetime) -> float:
        share = (at - self.start) / (self.end - self.start)
        return round(LEFT + (RIGHT - LEFT) * min(1.0, max(0.0, share)), 1)


def _block(turn: Turn, scale: _Scale, rows: dict[Role, float]) -> Block:
    x = scale.x(turn.started_at)
    width = max(THINNEST, round(scale.x(turn.ended_at or scale.end) - x - GAP, 1))
    tone, glyph = _look(turn)
    if turn.role is Role.COACH:
        width = min(width, 5.0)
    word = outcome_chip(turn.outcome, findings=turn.findings, guidance=turn.guidance).word
    spent = duration(((turn.ended_at or scale.end) - turn.started_at).total_seconds())
    return Block(
        x=x,
        y=rows[turn.role],
        width=width,
        tone=tone,
        glyph=glyph if width >= GLYPH_ROOM - 3 else "",
        aside=f"v{turn.guidance}" if turn.guidance else "",
        title=f"{turn.number}: {role_word(turn.role)}, {word}, {spent}",
        href=turn.href,
    )


def _look(turn: Turn) -> tuple[str, str]:
    if turn.outcome is None:
        return "c-run", ""
    if turn.outcome is Outcome.REVIEW_BUGS:
        return "c-bad", str(turn.findings) if turn.findings else "!"
    return _TONES.get(turn.outcome, ("c-work", ""))


def _ticks(scale: _Scale) -> tuple[Tick, ...]:
    span = scale.end - scale.start
    step = next((one for one in _STEPS if span / one <= 9), _STEPS[-1])
    form, room = ("%H:%M:%S", 86) if step < timedelta(minutes=1) else ("%H:%M", 60)
    ticks = [Tick(scale.x(scale.start), f"{scale.start:{form}}", "start", has_line=False)]
    midnight = scale.start.replace(hour=0, minute=0, second=0, microsecond=0)
    at = midnight + step * ((scale.start - midnight) // step + 1)
    while at < scale.end:
        x = scale.x(at)
        roomy = x - LEFT > room and WIDTH - x > room  # beside the labels at both ends
        ticks.append(Tick(x, f"{at:{form}}" if roomy else "", "middle"))
        at += step
    ticks.append(Tick(WIDTH, f"{scale.end:{form}}", "end", has_line=False, is_now=True))
    return tuple(ticks)


def _flags(changes: Sequence[HumanChange], scale: _Scale) -> tuple[Flag, ...]:
    flags: list[Flag] = []
    free_from = 0.0
    for change in sorted(changes, key=lambda one: one.at):
        x = scale.x(change.at)
        room = LABEL_CHAR * len(change.text) + 8
        title = f"{change.at:%H:%M} {change.text}"
        if x >= free_from and x + room <= WIDTH:
            flags.append(Flag(x, change.text, title, "start", x + 6, change.href))
            free_from = x + room + 6
        elif x - room >= free_from:
            flags.append(Flag(x, change.text, title, "end", x - 6, change.href))
            free_from = x + 6
        else:
            flags.append(Flag(x, "", title, "start", x, change.href))
            free_from = max(free_from, x + 6)
    return tuple(flags)


def _burn_down(points: Sequence[OpenBugs], scale: _Scale, top: float) -> BurnDown:
    base = top + CHART_HEIGHT
    peak = max([point.count for point in points] + [1])
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


def _description(turns: Sequence[Turn], points: Sequence[OpenBugs]) -> str:
    reviews = [turn for turn in turns if turn.role is Role.REVIEWER]
    clean = sum(turn.outcome is Outcome.REVIEW_CLEAN for turn in reviews)
    peak = max([point.count for point in points] + [0])
    now = points[-1].count if points else 0
    return (
        f"{plural(len(turns), 'iteration')}. "
        f"{plural(len(reviews), 'review')}, {clean} of them clean. "
        f"Open code bugs peaked at {peak} and are {now} now. "
        "The same data is in the iteration list."
    )
