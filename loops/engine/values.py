"""The words of the engine as values: what is folded, what is decided, what a boundary showed.

Pure: standard library only. Everything here is immutable and compares by value, so that the same
log always folds to the same state (RULES 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loops.engine.contracts import Criterion, Plan, Report, Verifier
from loops.engine.words import ROLES as ROLES
from loops.engine.words import Action as Action
from loops.engine.words import Choice as Choice
from loops.engine.words import DoneMode as DoneMode
from loops.engine.words import EndReason as EndReason
from loops.engine.words import FailureType as FailureType
from loops.engine.words import Fault as Fault
from loops.engine.words import Kind as Kind
from loops.engine.words import LimitName as LimitName
from loops.engine.words import Outcome as Outcome
from loops.engine.words import Pattern as Pattern
from loops.engine.words import Policy as Policy
from loops.engine.words import Role as Role
from loops.engine.words import Signal as Signal
from loops.engine.words import State as State
from loops.engine.words import Verdict as Verdict


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the session stood on at one moment.

    rev: hash of the tree's content; head: commit; spec: version over the session's scope;
    tracker_seq: the project's count of tracker writes.
    """

    rev: str
    head: str
    spec: str
    tracker_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Positive maxima. tokens and money may be an explicit None; the other three may not."""

    iterations: int = 40
    wall_seconds: int = 8 * 3600
    no_progress: int = 6
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a controller needs of a session's frozen configuration.

    gates: roles before which a person is asked. Single thread (RULES 4): review_every .. done_mode.
    Thinker-Worker-Verifier (RULES 2): pool (names of workers, in order), budgets R, A, P, S and the
    counters' way. Maker-Verifier (RULES 3): attempts N. Both: verifiers, budget U.
    """

    pattern: Pattern = Pattern.SINGLE_THREAD
    limits: Limits = field(default_factory=Limits)
    gates: tuple[Role, ...] = ()
    review_every: int = 3
    coach_every: int = 8
    has_coach: bool = True
    done_mode: DoneMode = DoneMode.AGENT
    pool: tuple[str, ...] = ()
    retries: int = 2
    reassigns: int = 2
    replans: int = 2
    self_calls: int = 1
    is_nested: bool = False
    attempts: int = 4
    verifiers: tuple[Verifier, ...] = ()
    reverifications: int = 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A tree that was recorded: hash of its content, and the commit it stands on."""

    rev: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that the record of one iteration showed; the log entry holds it whole, so a replay needs
    neither tracker nor tree. Lists of entries are tracker keys such as "B-7", in tracker order.

    claimed_at: last log sequence folded when the iteration was claimed; a human event with a
    higher sequence happened during the iteration.
    moved: this iteration moved a bug's state. task_worked: it marked a task FIXED.
    blockers, unjudged, blocked: over the scope, at the record.
    unjudged_left: entries that were unjudged at the claim and still are (reviews).
    findings: new code bugs, reopened entries, STALE entries re-confirmed by this iteration.
    marks_missing: requirement keys in scope without a holding mark. marks_added: this iteration's.
    uncommitted: paths not committed at the end. changed_paths: paths whose content changed, apart
    from untracked files first seen in this iteration (RULES 4, CONFLICT).
    disputed: entries reopened three times since the last `disputed_fix` decision on them.
    guidance: number of the guidance version this iteration wrote, if any.
    script_exit: exit code of the done script on (after.rev, after.head, after.spec), if it judged
    them at this boundary (`endings.needs_script` says whether it has to).
    active_seconds: wall time that counts against the limit. tokens: None when not reported.
    resets_in: seconds until the agent's own limit resets (fault AGENT_LIMIT).
    agent: which worker of the pool or which verifier it was; "" where the role has one agent.
    plan, report: the thinker's and the verifier's reply, if one came.
    notes: sentences for the next prompt (hook output, survivors, restored or moved paths).
    """

    number: int
    role: Role
    agent: str = ""
    before: Stamp
    after: Stamp
    claimed_at: int
    signal: Signal | None = None
    fault: Fault | None = None
    resets_in: float | None = None
    moved: bool = False
    task_worked: bool = False
    blockers: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    unjudged_left: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    marks_missing: tuple[str, ...] = ()
    marks_added: int = 0
    uncommitted: tuple[str, ...] = ()
    changed_paths: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    guidance: int | None = None
    script_exit: int | None = None
    plan: Plan | None = None
    report: Report | None = None
    active_seconds: float = 0.0
    tokens: int | None = None
    money: float | None = None
    notes: tuple[str, ...] = ()


# --- log entries: the append-only facts a controller folds -------------------------------------


@dataclass(frozen=True, slots=True)
class Opened:
    """The session's first claim: the base it started from, and what stood open there.

    script_exit: exit code of the done script on the base (done modes script and both).
    blockers, unjudged, blocked: as in Evidence, at this moment. A script session whose base passes
    ends at once when they are empty, so whoever writes this entry must fill them.
    criteria: the first frozen version (Maker-Verifier); empty in the other patterns.
    """

    seq: int
    base_rev: str
    base_head: str
    script_exit: int | None = None
    spec: str = ""
    blockers: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()


@dataclass(frozen=True, slots=True)
class Configured:
    """A configuration version in force from the next step."""

    seq: int
    config: Config


@dataclass(frozen=True, slots=True)
class Recorded:
    seq: int
    evidence: Evidence
    outcome: Outcome


REQUIREMENT_EDITED = "requirement edited"


@dataclass(frozen=True, slots=True)
class HumanEvent:
    """A person changed what counts (RULES 4, "Human events"), in the session's scope.

    what: REQUIREMENT_EDITED, or the verb on the tracker entry `key`.
    """

    seq: int
    what: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A person's final word on one escalation.

    grants: limit name -> amount added (money may be a fraction). subject: the tracker entry it was
    about, if any. disposition: what happened to that entry ("reopen", "dismiss", "task").
    attempts: k of a rejection. worker: of a reassignment. criteria: the new frozen version that an
    amendment brings (Maker-Verifier). result: the tree with the person's commit on top (edit).
    """

    seq: int
    escalation: int
    kind: Kind
    choice: Choice
    text: str = ""
    subject: str = ""
    disposition: str = ""
    grants: Mapping[str, float] = field(default_factory=dict)
    attempts: int = 0
    worker: str = ""
    criteria: tuple[Criterion, ...] = ()
    result: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class Forked:
    """Here a copy of another session's log ends: what was learnt stays, every counter, the streak
    and what was spent start at 0. parent: session; iteration: the last one copied; base: the tree
    to go on from."""

    seq: int
    parent: int
    iteration: int
    base: Snapshot


Entry = Opened | Configured | Recorded | HumanEvent | Decided | Forked


# --- directives: what the controller says to do next -------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRole:
    """Run one iteration of `role`. after_seconds: back-off before it (0 = at once).

    agent: which worker of the pool or which verifier; "" where the role has one agent. start_from:
    the tree to put into the clone first; None = as it stands. shorter: the last call overflowed the
    context; build the prompt with less in it.
    """

    rule: str
    role: Role
    reason: str
    agent: str = ""
    start_from: Snapshot | None = None
    after_seconds: float = 0.0
    shorter: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHuman:
    """A blocking question. subjects: tracker entries, one question each (none: one question).

    limit: which limit is reached (kind LIMIT). gate: who would be next (kind GATE). shown: the tree
    that a person would approve; None = the one that stands.
    """

    rule: str
    kind: Kind
    question: str
    subjects: tuple[str, ...] = ()
    limit: LimitName | None = None
    gate: Role | None = None
    shown: Snapshot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The end. result: the tree that the session's branch is to hold; None = as it stands."""

    rule: str
    reason: EndReason
    sentence: str
    result: Snapshot | None = None


Directive = RunRole | AskHuman | Finish


@dataclass(frozen=True, slots=True)
class Why:
    """One line of "why not done": the rule that is not met, in words."""

    rule: str
    text: str
