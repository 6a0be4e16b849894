"""One realistic night, told as the values that the pages show: project csvlane, session S-41."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from loops.engine.values import Outcome, Role
from loops.pages.axis import OpenBugs
from loops.pages.frame import Frame, Live, NavEntry
from loops.pages.timeline import HumanChange, Turn

NOW = datetime(2026, 11, 30, 6, 42, 7, tzinfo=UTC)
START = datetime(2026, 11, 29, 22, 4, tzinfo=UTC)

# role, what happened (3 = bugs found, v4 = guidance, s stall, d done, c clean, j conflict,
# x rejected), minutes
_NIGHT = """
W9.5 W8.5 W8 R7.5:3 W10.9 W11.7 W10.7 R5.4:2 W12 W10.9 W14.6:s W11.4 R7.2:2 W9.9 C2.1:v4 W7.9
W11.9 R4.6:1 W11.4 W11.2 W7.3 R7:2 W7.1 W12.9 W12.7 R4.8:1 W11.9 W3.6:d R5.2:c C2.6:v5 W7.7
W13.2 R6.6:3 W13.6 W9:j W9.1 R6.4:1 W11.1 W14:s W13 W12.7 R5.1:c W7.9 C2.6:v6 W9.7 W11.4 W10.3
R5.5:2 W7 W3.2:x W10.1 W11.9 R5.6:3 W12 C2.4:v7 W14.7:s W13.8 W0
"""
_ROLES = {"W": Role.WORKER, "R": Role.REVIEWER, "C": Role.COACH}
_MARKS = {
    "": Outcome.WORK,
    "s": Outcome.STALL,
    "d": Outcome.DONE,
    "c": Outcome.REVIEW_CLEAN,
    "j": Outcome.CONFLICT,
    "x": Outcome.REJECTED,
}


def turns() -> list[Turn]:
    told = []
    at = START
    for number, word in enumerate(_NIGHT.split(), start=1):
        minutes, _, mark = word[1:].partition(":")
        ends = at + timedelta(minutes=float(minutes))
        role = _ROLES[word[0]]
        outcome = _MARKS.get(mark, Outcome.REVIEW_BUGS if role is Role.REVIEWER else Outcome.COACH)
        runs = minutes == "0"
        told.append(
            Turn(
                number=number,
                role=role,
                started_at=at,
                ended_at=None if runs else ends,
                outcome=None if runs else outcome,
                href=f"/sessions/41/iterations/{number}/",
                findings=int(mark) if mark.isdigit() else 0,
                guidance=int(mark[1:]) if mark.startswith("v") else None,
            )
        )
        at = ends
    return told


def changes() -> list[HumanChange]:
    return [
        HumanChange(START + timedelta(minutes=261), "R-7 edited", "/p/csvlane/specs/R-7/"),
        HumanChange(START + timedelta(minutes=434), "T-12 filed", "/p/csvlane/tracker/T-12/"),
        HumanChange(NOW - timedelta(minutes=3), "R-9 edited", "/p/csvlane/specs/R-9/"),
    ]


def open_bugs() -> list[OpenBugs]:
    steps = (
        (33, 3), (45, 2), (56, 1), (72, 3), (84, 2), (95, 1), (121, 0), (129, 2), (139, 1), (149, 0),
        (165, 1), (177, 0), (202, 2), (209, 1), (222, 0), (240, 1), (252, 0), (291, 3), (305, 2),
        (323, 1), (329, 2), (340, 1), (367, 0), (433, 2), (440, 1), (453, 0), (471, 3), (483, 2),
    )  # fmt: skip
    return [OpenBugs(START + timedelta(minutes=minute), count) for minute, count in steps]


def frame(
    current: str = "Loops", *, live: bool = True, age: float | None = 3.2, count: int = 2
) -> Frame:
    places = (
        ("Loops", "loops", "/", 0),
        ("Queue", "queue", "/queue/", count),
        ("Tracker", "board", "/p/csvlane/tracker/", 0),
        ("Specs", "doc", "/p/csvlane/specs/", 0),
    )
    entries = (
        NavEntry(word=word, icon=icon, href=href, count=badge, is_current=word == current)
        for word, icon, href, badge in places
    )
    settings = NavEntry(
        word="Settings",
        icon="sliders",
        href="/settings/agents/",
        is_current=current == "Settings",
        is_low=True,
    )
    return Frame(
        nav=(*entries, settings),
        engine_age=age,
        age_url="/health/engine/",
        viewer="you",
        account_url="/account/",
        live=Live(socket="/live/", seq=812) if live else None,
    )
