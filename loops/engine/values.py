"""The words of the engine as values: what is folded, what is decided, what a boundary showed.

Pure: standard library only. Everything here is immutable and compares by value, so that the same
log always folds to the same state (RULES 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    THINKER = "thinker"
    WORKER = "worker"
    VERIFIER = "verifier"
    MAKER = "maker"
    REVIEWER = "reviewer"
    COACH = "coach"


class Pattern(StrEnum):
    SINGLE_THREAD = "single_thread"


class Outcome(StrEnum):
    """How the engine classed one iteration; closed list of RULES 1."""

    WORK = "WORK"
    DONE = "DONE"
    CONFLICT = "CONFLICT"
    REJECTED = "REJECTED"
    STALL = "STALL"
    REVIEW_CLEAN = "REVIEW_CLEAN"
    REVIEW_BUGS = "REVIEW_BUGS"
    REVIEW_STALL = "REVIEW_STALL"
    COACH = "COACH"
    PLAN = "PLAN"
    ATTEMPT = "ATTEMPT"
    VERDICT = "VERDICT"
    INTERRUPTED = "INTERRUPTED"


class State(StrEnum):
    DRAFT = "draft"
    QUEUED = "queued"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    WAITING_HUMAN = "waiting_human"
    RESUMING = "resuming"
    STOPPING = "stopping"
    ENDED = "ended"


class EndReason(StrEnum):
    DONE = "done"
    NO_OP = "no_op"
    HUMAN_APPROVED = "human_approved"
    HUMAN_EDITED = "human_edited"
    EXHAUSTED = "exhausted"
    STOPPED = "stopped"
    FAILED = "failed"


class Kind(StrEnum):
    """Why a person is asked; closed list of RULES 6."""

    UNCERTAIN = "uncertain"
    CEILING = "ceiling"
    EXHAUSTED = "exhausted"
    LIMIT = "limit"
    NO_PROGRESS = "no_progress"
    INFRASTRUCTURE = "infrastructure"
    AUTH = "auth"
    BLOCKED = "blocked"
    SPEC_CHANGED = "spec_changed"
    REVIEW_STALL = "review_stall"
    VERIFIER_CONFLICT = "verifier_conflict"
    DISPUTED_FIX = "disputed_fix"
    GATE = "gate"
    QUARANTINE = "quarantine"


class Choice(StrEnum):
    """What a person may decide; table of RULES 6."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    REPLAN = "replan"
    REASSIGN = "reassign"
    AMEND = "amend"
    GRANT = "grant"
    CHANGE = "change"
    RETRY = "retry"
    ANSWER = "answer"
    ALLOW = "allow"
    DENY = "deny"
    STOP = "stop"


class Signal(StrEnum):
    """What an agent said through the agents' interface; words in its output never count."""

    DONE = "done"
    NOT_DONE = "not-done"
    REVIEW_CLEAN = "review clean"
    REVIEW_BUGS = "review bugs"


class Fault(StrEnum):
    """Why an iteration has no usable reply; never a verdict (table "Faults by role", RULES 1)."""

    WALL_CLOCK = "wall_clock"
    SILENCE = "silence"
    CRASH = "crash"
    UNPARSEABLE = "unparseable"
    API_ERROR = "api_error"
    REFUSED = "refused"
    CANNOT_START = "cannot_start"
    WORKER_LOST = "worker_lost"
    AGENT_LIMIT = "agent_limit"
    CONTEXT_FULL = "context_full"
    AUTH = "auth"


class DoneMode(StrEnum):
    AGENT = "agent"
    SCRIPT = "script"
    BOTH = "both"


class LimitName(StrEnum):
    ITERATIONS = "iterations"
    WALL_SECONDS = "wall_seconds"
    NO_PROGRESS = "no_progress"
    TOKENS = "tokens"
    MONEY = "money"


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
    """What the single-threaded controller needs of a session's frozen configuration (RULES 4)."""

    pattern: Pattern = Pattern.SINGLE_THREAD
    limits: Limits = field(default_factory=Limits)
    review_every: int = 3
    coach_every: int = 8
    has_coach: bool = True
    done_mode: DoneMode = DoneMode.AGENT


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
    notes: sentences for the next prompt (hook output, survivors, restored or moved paths).
    """

    number: int
    role: Role
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
    """

    seq: int
    base_rev: str
    base_head: str
    script_exit: int | None = None
    spec: str = ""
    blockers: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class HumanEvent:
    """A person changed what counts (RULES 4, "Human events"), in the session's scope."""

    seq: int
    what: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A person's final word on one escalation.

    grants: limit name -> amount added (money may be a fraction). subject: the tracker entry it was
    about, if any. disposition: what happened to that entry ("reopen", "dismiss", "task").
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


Entry = Opened | Configured | Recorded | HumanEvent | Decided


# --- directives: what the controller says to do next -------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRole:
    """Run one iteration of `role`. after_seconds: back-off before it (0 = at once).

    shorter: the last call overflowed the context; build the prompt with less in it.
    """

    rule: str
    role: Role
    reason: str
    after_seconds: float = 0.0
    shorter: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHuman:
    """A blocking question. subjects: tracker entries, one question each (none: one question).

    limit: which limit is reached (kind LIMIT).
    """

    rule: str
    kind: Kind
    question: str
    subjects: tuple[str, ...] = ()
    limit: LimitName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    rule: str
    reason: EndReason
    sentence: str


Directive = RunRole | AskHuman | Finish


@dataclass(frozen=True, slots=True)
class Why:
    """One line of "why not done": the rule that is not met, in words."""

    rule: str
    text: str
