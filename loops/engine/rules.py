"""The stable names of the rules that directives, questions and "why not done" carry.

W, R, C: rows of RULES 4 for worker, reviewer, coach. E: the ending row, whole (E1, E2) and by
condition (E3..). Q: questions. F: "Faults by role" (RULES 1). D: "After a decision" (RULES 6).
G: gates.
Never renumber: logs and pages keep them.
"""

from __future__ import annotations

from enum import StrEnum


class Rule(StrEnum):
    START = "ST-0"
    STALL = "ST-W1"
    CONFLICT = "ST-W2"
    REJECTED = "ST-W3"
    DONE = "ST-W4"
    WORK = "ST-W5"
    REVIEW_STALL = "ST-R1"
    REVIEW_BUGS = "ST-R2"
    REVIEW_CLEAN = "ST-R3"
    COACH = "ST-C1"
    PROVED = "ST-E1"
    SCRIPT_PASSED = "ST-E2"
    NEEDS_STREAK = "ST-E3"
    NEEDS_REVIEW = "ST-E4"
    NEEDS_NO_BLOCKERS = "ST-E5"
    NEEDS_NO_UNJUDGED = "ST-E6"
    NEEDS_NO_BLOCKED = "ST-E7"
    NEEDS_SCRIPT = "ST-E8"
    ASK_BLOCKED = "ST-Q1"
    ASK_DISPUTED = "ST-Q2"
    ASK_IDLE = "ST-Q3"
    ASK_OSCILLATION = "ST-Q4"
    ASK_CONFLICTS = "ST-Q5"
    ASK_REVIEW_STALL = "ST-Q6"
    ASK_LIMIT = "ST-Q7"
    FAULT_AGAIN = "F-1"
    FAULT_THRICE = "F-2"
    HELD = "F-3"
    HELD_TOO_LONG = "F-4"
    SHORTER = "F-5"
    CONTEXT_FULL = "F-6"
    AUTH = "F-7"
    AFTER_NO_PROGRESS = "D-1"
    AFTER_REVIEW_STALL = "D-2"
    AFTER_FAULT = "D-3"
    AFTER_DISPUTED = "D-4"
    AFTER_BLOCKED = "D-5"
    APPROVED = "D-6"
    EDITED = "D-7"
    STOPPED = "D-8"
    ASK_GATE = "G-1"
    AFTER_GATE = "G-2"


TEXT: dict[Rule, str] = {
    Rule.START: "A session starts with the worker.",
    Rule.STALL: "A worker fault, or neither change nor signal: three in a row call the coach.",
    Rule.CONFLICT: "Done and a changed tree in one iteration: counted as work, signal dropped.",
    Rule.REJECTED: "Done while entries are open or the tree is not committed: the worker again.",
    Rule.DONE: "A done signal is followed by a review unless it ends the session.",
    Rule.WORK: "Work: a review when enough has gathered, the coach if due, else the worker.",
    Rule.REVIEW_STALL: "A review without a usable verdict is repeated.",
    Rule.REVIEW_BUGS: "A review with findings: the coach if due, else the worker.",
    Rule.REVIEW_CLEAN: "A clean review: the coach if due, else the worker.",
    Rule.COACH: "After the coach, the worker.",
    Rule.PROVED: "Two done signals in a row, nothing open, a clean review of this tree and spec.",
    Rule.SCRIPT_PASSED: "The done script passed on this tree and nothing is open.",
    Rule.NEEDS_STREAK: "Two done signals in a row are needed.",
    Rule.NEEDS_REVIEW: "A clean review of this tree and spec is needed.",
    Rule.NEEDS_NO_BLOCKERS: "No code bug or task may be open.",
    Rule.NEEDS_NO_UNJUDGED: "Every fix must have been judged by a review.",
    Rule.NEEDS_NO_BLOCKED: "No entry may be blocked.",
    Rule.NEEDS_SCRIPT: "The done script must have passed on this tree.",
    Rule.ASK_BLOCKED: "Only blocked entries stand between the session and its end.",
    Rule.ASK_DISPUTED: "An entry was reopened three times.",
    Rule.ASK_IDLE: "Too many worker iterations in a row without a change.",
    Rule.ASK_OSCILLATION: "The same two trees in turn, three times.",
    Rule.ASK_CONFLICTS: "Done and changes in one iteration, four times in a row.",
    Rule.ASK_REVIEW_STALL: "Three reviews in a row without a usable verdict.",
    Rule.ASK_LIMIT: "A limit is reached.",
    Rule.FAULT_AGAIN: "An interrupted step is repeated after a wait.",
    Rule.FAULT_THRICE: "The same step was interrupted three times in a row.",
    Rule.HELD: "The agent's own limit: the same step once it resets.",
    Rule.HELD_TOO_LONG: "Twenty holds in a row, or a reset more than 24 hours away.",
    Rule.SHORTER: "The context was full: once more with a shorter prompt.",
    Rule.CONTEXT_FULL: "The context was full with the shorter prompt too.",
    Rule.AUTH: "The agent's credentials were refused.",
    Rule.AFTER_NO_PROGRESS: "After a no_progress decision: the worker, counts at zero.",
    Rule.AFTER_REVIEW_STALL: "After a review_stall decision: the review, repeats at zero.",
    Rule.AFTER_FAULT: "After an infrastructure or auth decision: the same step.",
    Rule.AFTER_DISPUTED: "After a disputed_fix decision: the worker.",
    Rule.AFTER_BLOCKED: "After a blocked decision: the worker; if all were dismissed, the review.",
    Rule.APPROVED: "A person approved the result.",
    Rule.EDITED: "A person edited and approved the result.",
    Rule.STOPPED: "A person stopped the session.",
    Rule.ASK_GATE: "A person wants to be asked before this role runs.",
    Rule.AFTER_GATE: "A person did not let the role run.",
}
