"""The timeline strip: lanes per role on real time, burn-down of open code bugs, human changes.

Pure geometry from plain values; the template only writes the numbers down (SVG attributes, so that
no style attribute is needed). The iteration list beside it is its text form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from loops.engine.values import Outcome, Role, Verdict
from loops.pages.axis import (
    CHART_HEIGHT,
    LEFT,
    WIDTH,
    BurnDown,
    OpenBugs,
    Scale,
    Tick,
    burn_down,
    ticks,
)
from loops.pages.states import outcome_chip, role_word
from tracker.pages.words import duration, plural

LANE_TOP, LANE_STEP, BLOCK_HEIGHT = 22.0, 22.0, 17.0
GLYPH_ROOM, GAP, THINNEST = 11.0, 1.5, 2.0
LABEL_CHAR = 6.2
LONGEST_LANE = 12  # characters
BEST_SCORE = 10

_TONES = {
    Outcome.DONE: ("c-ok", "check"),
    Outcome.CONFLICT: ("c-warn", "!"),
    Outcome.REJECTED: ("c-lim", "\u00d7"),
    Outcome.STALL: ("c-hatch", ""),
    Outcome.REVIEW_CLEAN: ("c-ok", "check"),
    Outcome.REVIEW_STALL: ("c-hatch", ""),
    Outcome.INTERRUPTED: ("c-hatch", ""),
    Outcome.COACH: ("c-acc", ""),
    Outcome.PLAN: ("c-acc", ""),
}
_VERDICTS = {
    Verdict.OK: ("c-ok", "check"),
    Verdict.FAIL: ("c-bad", "\u00d7"),
    Verdict.UNCERTAIN: ("c-warn", "?"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One iteration to draw. ended_at and outcome are None while it runs. findings: new bugs of a
    review. guidance: number of the version a coach wrote. href: its row or page. agent: which
    worker or verifier, "" where one agent plays the role. verdict: what a verifier said. attempt:
    which one it made, 0 = none."""

    number: int
    role: Role
    started_at: datetime
    ended_at: datetime | None
    outcome: Outcome | None
    href: str
    findings: int = 0
    guidance: int | None = None
    agent: str = ""
    verdict: Verdict | None = None
    attempt: int = 0

    @property
    def who(self) -> str:
        return f"{role_word(self.role)} {self.agent}".rstrip()


@dataclass(frozen=True, slots=True)
class HumanChange:
    """What a person changed, e.g. "R-7 edited"."""

    at: datetime
    text: str
    href: str = ""


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
class Flag:
    """A human change; text is "" where its label would cover another one (the title keeps it)."""

    x: float
    text: str
    title: str
    anchor: str
    text_x: float
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Part loops/_timeline.html. title and desc are read out instead of the drawing. is_judged: the
    curve is the score of the attempts and the marks are verdicts."""

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
    is_judged: bool = False


def timeline(
    turns: Sequence[Turn],
    *,
    roles: Sequence[Role],
    changes: Sequence[HumanChange],
    open_bugs: Sequence[OpenBugs],
    now: datetime,
    workers: Sequence[str] = (),
) -> Timeline:
    """Lay the strip out. Times in the reader's zone, turns in order of their start; `now` is the
    right edge: the present, or the session's end. workers: each gets a lane of its own."""
    start = min([turn.started_at for turn in turns[:1]] + [now])
    scale = Scale(start, max(now, start + timedelta(seconds=1)))
    places = _places(roles, workers)
    lanes = tuple(
        Lane(_lane_name(role, name), LANE_TOP + LANE_STEP * row)
        for row, (role, name) in enumerate(places)
    )
    rows = {place: lane.y for place, lane in zip(places, lanes, strict=True)}
    top = LANE_TOP + LANE_STEP * len(lanes) + 17
    is_judged = Role.VERIFIER in roles
    burn = burn_down(open_bugs, scale, top, most=BEST_SCORE if is_judged else 1)
    if is_judged:
        burn = replace(burn, name=("Score of", "attempts"))
    return Timeline(
        count=len(turns),
        title=f"Iterations by role, and {' '.join(burn.name).lower()}, "
        f"{start:%H:%M} to {now:%H:%M}",
        desc=_of_attempts(turns) if is_judged else _description(turns, open_bugs),
        height=top + CHART_HEIGHT + 18,
        lanes=lanes,
        blocks=tuple(
            _block(turn, scale, rows[place])
            for turn in turns
            if (place := _place(turn, workers)) in rows
        ),
        ticks=ticks(scale),
        flags=_flags(changes, scale),
        burn=burn,
        is_judged=is_judged,
    )


Place = tuple[Role, str]


def _places(roles: Sequence[Role], workers: Sequence[str]) -> list[Place]:
    found: list[Place] = []
    for role in roles:
        found += [(role, name) for name in (workers if role is Role.WORKER and workers else ("",))]
    return found


def _place(turn: Turn, workers: Sequence[str]) -> Place:
    return turn.role, turn.agent if turn.role is Role.WORKER and workers else ""


def _lane_name(role: Role, name: str) -> str:
    """A worker's own name, cut to the room beside the lanes."""
    if name:
        return name if len(name) <= LONGEST_LANE else f"{name[: LONGEST_LANE - 1]}…"
    return "Verifiers" if role is Role.VERIFIER else role_word(role)


def _block(turn: Turn, scale: Scale, y: float) -> Block:
    x = scale.x(turn.started_at)
    width = max(THINNEST, round(scale.x(turn.ended_at or scale.end) - x - GAP, 1))
    tone, glyph = _look(turn)
    if turn.role is Role.COACH:
        width = min(width, 5.0)
    word = outcome_chip(
        turn.outcome,
        findings=turn.findings,
        guidance=turn.guidance,
        verdict=turn.verdict,
        attempt=turn.attempt,
    ).word
    spent = duration(((turn.ended_at or scale.end) - turn.started_at).total_seconds())
    return Block(
        x=x,
        y=y,
        width=width,
        tone=tone,
        glyph=glyph if width >= GLYPH_ROOM - 3 else "",
        aside=f"v{turn.guidance}" if turn.guidance else "",
        title=f"{turn.number}: {turn.who}, {word}, {spent}",
        href=turn.href,
    )


def _look(turn: Turn) -> tuple[str, str]:
    if turn.outcome is None:
        return "c-run", ""
    if turn.outcome is Outcome.VERDICT and turn.verdict is not None:
        return _VERDICTS[turn.verdict]
    if turn.outcome is Outcome.REVIEW_BUGS:
        return "c-bad", str(turn.findings) if turn.findings else "!"
    return _TONES.get(turn.outcome, ("c-work", ""))


def _flags(changes: Sequence[HumanChange], scale: Scale) -> tuple[Flag, ...]:
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


def _of_attempts(turns: Sequence[Turn]) -> str:
    made = sum(bool(turn.attempt) for turn in turns)
    said = [turn.verdict for turn in turns if turn.verdict is not None]
    told = ", ".join(
        f"{said.count(one)} {one.value if one is Verdict.OK else one.value.lower()}"
        for one in Verdict
        if one in said
    )
    return (
        f"{plural(len(turns), 'iteration')}, {plural(made, 'attempt')}, "
        f"{plural(len(said), 'verdict')}{': ' if told else ''}{told}. "
        "The same data is in the iteration list."
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
