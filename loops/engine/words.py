"""The closed lists of the engine: every word that a log, a row or a page may hold.

Pure: standard library only.
"""

from __future__ import annotations

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
    FEEDBACK = "thinker_worker_verifier"
    MAKER_VERIFIER = "maker_verifier"


# Who takes part in each.
ROLES: dict[Pattern, tuple[Role, ...]] = {
    Pattern.SINGLE_THREAD: (Role.WORKER, Role.REVIEWER, Role.COACH),
    Pattern.MAKER_VERIFIER: (Role.MAKER, Role.VERIFIER),
    Pattern.FEEDBACK: (Role.THINKER, Role.WORKER, Role.VERIFIER),
}


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


class Verdict(StrEnum):
    """What a verifier judged."""

    OK = "OK"
    FAIL = "FAIL"
    UNCERTAIN = "UNCERTAIN"


class FailureType(StrEnum):
    QUALITY = "quality"
    WORKER_MISMATCH = "worker_mismatch"
    PLANNING_ISSUE = "planning_issue"
    OTHER = "other"


class Action(StrEnum):
    """What a verifier recommends; the controller decides (RULES 2)."""

    FINISH = "FINISH"
    RETRY = "RETRY"
    REASSIGN = "REASSIGN"
    REPLAN = "REPLAN"


class Policy(StrEnum):
    """What a verifier's verdict is for. RESERVE: asked only when the verdict is UNCERTAIN."""

    REQUIRED = "required"
    ADVISING = "advising"
    RESERVE = "reserve"
