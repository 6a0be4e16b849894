"""The filing form and an entry's panel (templates/tracker/_filing.html, _entry.html)."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm

from tracker.pages.atoms import CheckLine, Chip, Link


@dataclass(frozen=True, slots=True)
class Citable:
    """A line of a requirement that a code bug may cite: "R-12.3", its text, the version."""

    key: str
    text: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingPart:
    """next_lines: what filing will do to the loop, per kind: for tasks and code bugs ("S-41 reads
    it with iteration 59"), and for spec bugs (nothing). close: the board without the form.
    offers_spec_bug: a code bug was refused; its words can be made a spec bug.
    """

    form: BaseForm
    project: str
    post: str
    close: str
    next_lines: tuple[CheckLine, ...]
    spec_lines: tuple[CheckLine, ...] = ()
    offers_spec_bug: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """What a write does to the loops, in words. resets: of a human event (RULES 4), keeps: of what
    is only seen with the next prompt, answers: of an answer to a blocked entry."""

    resets: str = ""
    keeps: str = ""
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryMove:
    """One thing a person can do with an entry. why: what it will do to the loop.

    is_open: shown unfolded, because its form came back with errors.
    """

    word: str
    icon: str
    post: str
    why: str
    button: str
    form: BaseForm | None = None
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """when: short local time; title: full stamp."""

    when: str
    title: str
    who: str
    what: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPart:
    """One entry of the tracker. cites: link to the requirement ("R-12.3 v4"), quote: the cited
    words. facts: short facts (who filed it, where, commit)."""

    key: str
    kind: str
    kind_icon: str
    title: str
    chip: Chip
    priority: str
    close: str
    text: str = ""
    cites: Link | None = None
    quote: str = ""
    contradiction: str = ""
    place: str = ""
    tags: tuple[Chip, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    moves: tuple[EntryMove, ...] = ()
    history: tuple[HistoryLine, ...] = ()
