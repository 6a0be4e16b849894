"""The smallest things that every page shows. Icons are names of the sprite (parts/_icons.html)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["run", "wait", "ok", "warn", "lim", "bad", "off", "acc"]


@dataclass(frozen=True, slots=True)
class Chip:
    """A status: colour, icon and word, always all three. loud: filled, for what needs a person or
    heads a page. spins: the running ring."""

    tone: Tone
    icon: str
    word: str
    loud: bool = False
    spins: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """One line of a checklist (why not done, preflight, what happens next).

    fact: short value at the right; links: keys at the right instead of it. sub: second line.
    """

    tone: Tone
    icon: str
    text: str
    fact: str = ""
    links: tuple[Link, ...] = ()
    sub: str = ""


def met(text: str, fact: str = "", sub: str = "") -> CheckLine:
    return CheckLine(tone="ok", icon="ok", text=text, fact=fact, sub=sub)


def unmet(text: str, fact: str = "", sub: str = "", links: tuple[Link, ...] = ()) -> CheckLine:
    return CheckLine(tone="bad", icon="x", text=text, fact=fact, sub=sub, links=links)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A filled length of 0..100; its label is read out. tick: mark at 80 %."""

    percent: float
    tone: Tone
    label: str
    tick: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A link that looks like a button; `post` makes it a form that is sent there."""

    text: str
    href: str = ""
    post: str = ""
    icon: str = ""
    primary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """Nothing there yet: icon, one fact, one sentence on what will appear or what to do."""

    icon: str
    fact: str
    sentence: str
    acts: tuple[Act, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    text: str
    href: str
    count: int | None = None
    is_current: bool = False
