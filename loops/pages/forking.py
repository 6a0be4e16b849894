"""The form of a fork, and what a session's page says of its parent and its forks."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm

from loops.pages.new_session import BoundPart, PreflightPart
from tracker.pages.atoms import Act, Chip, Link


@dataclass(frozen=True, slots=True)
class Difference:
    """key: of the tracker, with its page. text: what became of it since the iteration's time."""

    key: Link
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkPage:
    """loops/fork.html; beside the form stands loops/_before.html with bound and preflight.

    taken, left: what the fork takes along and what stays with the parent. since: when the iteration
    ended, in words. update: where bound and button come from as the form is edited.
    """

    ref: str
    title: str
    session: Link
    iteration: Link
    number: int
    chip: Chip
    since: str
    form: BaseForm
    post: str
    update: str
    bound: BoundPart
    preflight: PreflightPart
    ends: tuple[Chip, ...]
    differences: tuple[Difference, ...]
    taken: tuple[str, ...]
    left: tuple[str, ...]
    look: str = ""  # a fork needs no look at the source: _before.html then shows no button for it
    preview: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineagePart:
    """Part loops/_lineage.html. forked: "Forked from S-7 after iteration 12; ..." or "" for a
    session of its own. forks: those that went on from this one. differences: of the tracker,
    between the iteration's time and the fork."""

    forked: str = ""
    acts: tuple[Act, ...] = ()
    differences: tuple[Difference, ...] = ()
    forks: tuple[Link, ...] = ()
