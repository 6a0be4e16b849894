"""What the pages show of plans, attempts and verdicts: Thinker-Worker-Verifier and Maker-Verifier.

Every text of an agent in here is plain text; the templates escape it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracker.pages.atoms import CheckLine, Chip, Link

# --- verifiers by attempts (part loops/_matrix.html) ---------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One verifier's word on one attempt; chip None: it was not asked. score: "" = none given."""

    chip: Chip | None = None
    score: str = ""
    href: str = ""
    is_now: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """One attempt. by: the worker that made it, "" where one maker makes all."""

    number: int
    by: str
    href: str
    is_now: bool = False


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One verifier. kind: what its word is for ("required, mechanical")."""

    name: str
    kind: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCard:
    """One verifier on the attempt in question, with its reason. lines: criteria that do not hold,
    as (key, what was seen)."""

    name: str
    kind: str
    chip: Chip
    score: str
    feedback: str
    href: str
    lines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """hidden: how many older attempts are left out. cards: the reasons on the attempt marked."""

    columns: tuple[Column, ...]
    rows: tuple[MatrixRow, ...]
    hidden: int = 0
    cards: tuple[VerdictCard, ...] = ()

    @property
    def current(self) -> int:
        """The attempt that is marked, 0 = none."""
        return next((column.number for column in self.columns if column.is_now), 0)


# --- where it stands (part loops/_standing.html) -------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionLine:
    """traces: the requirement that it follows from, None = the plan's own. is_stale: that one was
    edited after the criteria were frozen. is_kept: the plan had dropped it, it was carried over."""

    key: str
    words: str
    traces: Link | None = None
    is_stale: bool = False
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Counter:
    """name: "Retries"; value: "1 of 2"."""

    name: str
    value: str
    is_used_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingPart:
    """lead and lines: why it is not done, or why it counts as done. plan: "Plan 2", linked to the
    iteration that made it; version: "Criteria, version 2". outdated: the sentence when they are out
    of date. now: what is due, in words. said_on: the last attempt; said: each verifier on it."""

    lead: str
    lines: tuple[CheckLine, ...]
    version: str = ""
    plan: Link | None = None
    outdated: str = ""
    criteria: tuple[CriterionLine, ...] = ()
    now: str = ""
    said_on: str = ""
    said: tuple[tuple[str, Chip], ...] = ()
    counters: tuple[Counter, ...] = ()
    bound: str = ""
    best: str = ""


# --- the tabs of one iteration -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPart:
    """A thinker's plan (loops/_plan.html). fate: whether it is in force, in a sentence."""

    chip: Chip
    fate: str
    summary: str
    worker: str
    alternatives: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    criteria: tuple[CriterionLine, ...] = ()
    version: str = ""
    risks: tuple[str, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLine:
    """A verifier's word on one criterion, with its evidence; chip None: it said nothing on it."""

    criterion: CriterionLine
    chip: Chip | None
    evidence: str


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that fired: its name, its words, and why in this case."""

    rule: str
    words: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPart:
    """A verifier's report (loops/_verdict.html). made: what the engine made of it. contradiction:
    the sentence when the report contradicts itself. advice: what it recommends, in words."""

    chip: Chip
    name: str
    kind: str
    attempt: Link | None
    score: str
    feedback: str
    judged: tuple[JudgedLine, ...]
    version: str
    advice: str = ""
    failure: str = ""
    contradiction: str = ""
    made: tuple[Fired, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class SeenScope:
    """One thing that a call was given. path: its memory scope, or "". items: texts, each may have
    several lines. href: where the thing itself can be looked at."""

    name: str
    path: str
    items: tuple[str, ...]
    href: str = ""


@dataclass(frozen=True, slots=True)
class SeenPart:
    """What a call saw beside the fixed words of its role (in loops/_prompt.html). lead: the rule
    that says what it may see."""

    lead: str
    scopes: tuple[SeenScope, ...]
