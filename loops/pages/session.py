"""A session's page, live or pinned to one iteration (templates/loops/session.html and parts).

Each dataclass whose name ends in Part is the context of one template part and stands in it under
the part's own name: StatusPart is `status` in loops/_status.html.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from loops.pages.acting import ActionsPart, DeliverPart
from loops.pages.forking import LineagePart
from loops.pages.judging import Matrix, PlanPart, StandingPart, VerdictPart
from loops.pages.limits import LimitsPart
from loops.pages.output import DiffPart, FilesPart, LogPart, PromptPart
from loops.pages.timeline import Timeline
from tracker.pages.atoms import Act, CheckLine, Chip, Link, Tone

Tab = Literal["output", "plan", "verdict", "diff", "prompt", "files", "verdicts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPart:
    """Head of the session: state with its reason and the age of its evidence.

    title: first line of the goal. evidence: e.g. "Output 2 s ago", "Quiet 4 min, 15 allowed".
    evidence_at: when the last output came, for the ticking age (None: `evidence` stands as it is).
    facts: short facts under the title (roles, start). exposed: the sentence "this agent could act
    as you" where no sandbox hides the data folder (RULES 5), else "".
    """

    ref: str
    title: str
    chip: Chip
    project: Link
    branch: str
    evidence: str = ""
    evidence_at: datetime | None = None
    facts: tuple[str, ...] = ()
    exposed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticePart:
    """A line under the head when the state needs words: a question waits, the loop ended, it is
    queued or held. tone: wait for a person, ok, warn, bad, off. act: where to go."""

    tone: Tone
    icon: str
    text: str
    more: str = ""
    act: Act | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationRow:
    """duration: finished rows in words; started_at makes the running row tick. agent: which worker
    or verifier it was, "" where one agent plays the role."""

    number: int
    role: str
    role_icon: str
    chip: Chip
    href: str
    duration: str
    started_at: datetime | None = None
    is_current: bool = False
    title: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationRowsPart:
    """Newest first. older: link to the page of older rows, or "". history: the state at each."""

    rows: tuple[IterationRow, ...]
    done: int
    most: int
    older: str = ""
    history: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TabLink:
    name: Tab
    word: str
    href: str
    count: int | None = None
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationPart:
    """The middle pane: one iteration and one of its tabs. At most one of log .. matrix is set, the
    one that `tab` names; none: `missing` says why. started_at: ticks while it runs. limit: "15:00".

    is_live: it runs now and its output arrives. follows: the tab changes while the session runs,
    though the iteration is over. newest: link back to the live iteration when another one is
    pinned. then: the state after it, once it has ended. name: which worker or verifier it was.
    version: of the CLI that ran; warning: how it lies outside what was tested.
    """

    number: int
    role: str
    role_icon: str
    chip: Chip
    agent: str
    tab: Tab
    tabs: tuple[TabLink, ...]
    spent: str
    limit: str = ""
    usage: str = ""
    reason: str = ""
    started_at: datetime | None = None
    is_live: bool = False
    newest: Link | None = None
    then: Link | None = None
    log: LogPart | None = None
    diff: DiffPart | None = None
    prompt: PromptPart | None = None
    files: FilesPart | None = None
    plan: PlanPart | None = None
    verdict: VerdictPart | None = None
    matrix: Matrix | None = None
    missing: str = ""
    name: str = ""
    follows: bool = False
    version: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNotDonePart:
    """Checklist from the same rule that ends the loop. needed: done signals needed in a row.

    lead: "Not done yet, because:" or, at the end, the sentence of the end reason. standing: shown
    instead in the patterns that have no done streak.
    """

    streak: int
    needed: int
    lead: str
    lines: tuple[CheckLine, ...]
    standing: StandingPart | None = None

    @property
    def dots(self) -> tuple[bool, ...]:
        return tuple(index < self.streak for index in range(self.needed))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecEdit:
    """A requirement or guidance version on its way into the loop: pending, delivered, used.

    chip: e.g. ("warn", "clock", "with iteration 59"), ("ok", "check", "in use since 56").
    """

    what: Link
    by: str
    chip: Chip


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecEditsPart:
    """effect: what an edit does to the loop, in a sentence."""

    edits: tuple[SpecEdit, ...]
    effect: str = "An edit is read with the next iteration and sets the done streak back to 0."


@dataclass(frozen=True, slots=True)
class RoleCost:
    role: str
    agent: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPart:
    """confined: each agent with what confines it here."""

    rows: tuple[RoleCost, ...]
    note: str = ""
    confined: tuple[CheckLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """parts_url: base of the parts; a part is served alone at parts_url + name + "/".

    iteration: None before the first claim. timeline: None while nothing has run. deliver: None
    until it has ended.
    """

    status: StatusPart
    actions: ActionsPart
    rows: IterationRowsPart
    why: WhyNotDonePart
    limits: LimitsPart
    edits: SpecEditsPart
    cost: CostPart
    parts_url: str
    notice: NoticePart | None = None
    timeline: Timeline | None = None
    iteration: IterationPart | None = None
    lineage: LineagePart | None = None
    deliver: DeliverPart | None = None


# Name of a part -> its template. A part is served alone with {name: getattr(page, name)} and its
# root carries data-part="<name>"; live frames name parts by these names.
PARTS = {
    "status": "loops/_status.html",
    "actions": "loops/_actions.html",
    "notice": "loops/_notice.html",
    "lineage": "loops/_lineage.html",
    "timeline": "loops/_timeline.html",
    "rows": "loops/_iteration_rows.html",
    "iteration": "loops/_iteration.html",
    "why": "loops/_why_not_done.html",
    "deliver": "loops/_deliver.html",
    "limits": "loops/_limits.html",
    "edits": "loops/_spec_edits.html",
    "cost": "loops/_cost.html",
}
