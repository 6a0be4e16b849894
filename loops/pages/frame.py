"""The frame around every page; filled by one context processor as `frame`."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.pages.atoms import Tone

SILENT_AFTER = 30.0  # seconds without a tick until every page says so (ESCALATIONS.md)
LATE_AFTER = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NavEntry:
    """An entry of the rail; only pages that exist. count: what is open there (0 = no badge).
    is_low: stands at the bottom."""

    word: str
    icon: str
    href: str
    is_current: bool = False
    count: int = 0
    is_low: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """How the page stays current: the socket to listen on, and where it stood when rendered.

    socket: "/live/", "/live/project/<id>/" or "/live/session/<id>/". seq: loops.live.sequence() of
    its topic, asked before the page's rows were read. Frames: see loops/hub.py.
    """

    socket: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """nav: entries in order. engine_age: seconds since the last finished tick, None = never seen.
    age_url: the same age by plain HTTP, {"seconds": 3.2}. viewer: name of who is signed in.
    account_url: page with "sign out". live: None on pages that do not change.
    """

    nav: tuple[NavEntry, ...]
    engine_age: float | None
    age_url: str
    viewer: str
    account_url: str
    live: Live | None = None

    @property
    def engine_is_silent(self) -> bool:
        return self.engine_age is None or self.engine_age > SILENT_AFTER

    @property
    def engine_tone(self) -> Tone:
        if self.engine_is_silent:
            return "bad"
        return "warn" if (self.engine_age or 0) > LATE_AFTER else "ok"
