"""The stable names of the Maker-Verifier rules (RULES 3), as directives and pages carry them.

MV-1..: rows of the loop. E: the end, and what is missing before it. Q: questions. D: "After a
decision" (RULES 6). Limits, gates, faults and the ends by people have the names that every pattern
shares (rules.py).
Never renumber: logs and pages keep them.
"""

from __future__ import annotations

from enum import StrEnum


class Rule(StrEnum):
    START = "MV-0"
    VERIFY = "MV-1"
    REJECTED = "MV-2"
    REVERIFY = "MV-3"
    FORKED = "MV-4"
    PROVED = "MV-E1"
    NEEDS_ATTEMPT = "MV-E2"
    NEEDS_VERDICTS = "MV-E3"
    NEEDS_APPROVAL = "MV-E4"
    NEEDS_CRITERIA = "MV-E5"
    NEEDS_TREE = "MV-E6"
    ASK_UNCERTAIN = "MV-Q1"
    ASK_CONFLICT = "MV-Q2"
    ASK_SPEC_CHANGED = "MV-Q3"
    ASK_CEILING = "MV-Q4"
    ASK_IDLE = "MV-Q5"
    AFTER_REJECT = "MV-D1"
    EXHAUSTED = "MV-D2"
    AFTER_AMEND = "MV-D3"
    AFTER_NO_PROGRESS = "MV-D4"


TEXT: dict[Rule, str] = {
    Rule.START: "A session starts with the maker.",
    Rule.VERIFY: "Each attempt is judged by every verifier in order.",
    Rule.REJECTED: "A rejected attempt is followed by another one, with the reason.",
    Rule.REVERIFY: "An uncertain verdict goes to another verifier while the budget lasts.",
    Rule.FORKED: "A fork goes on from its tree with the maker.",
    Rule.PROVED: "The verifiers approved the attempt, and its criteria are up to date.",
    Rule.NEEDS_ATTEMPT: "An attempt is needed.",
    Rule.NEEDS_VERDICTS: "Every verifier must have judged the attempt.",
    Rule.NEEDS_APPROVAL: "The verifiers must approve the attempt.",
    Rule.NEEDS_CRITERIA: "The criteria must follow from the requirements as they read now.",
    Rule.NEEDS_TREE: "The tree must be the one that was judged.",
    Rule.ASK_UNCERTAIN: "The verifiers left the attempt open.",
    Rule.ASK_CONFLICT: "The verifiers contradict each other.",
    Rule.ASK_SPEC_CHANGED: "The attempt is approved, but a requirement was edited meanwhile.",
    Rule.ASK_CEILING: "Every allowed attempt was rejected.",
    Rule.ASK_IDLE: "Too many attempts in a row without a change.",
    Rule.AFTER_REJECT: "After a rejection by a person: another attempt.",
    Rule.EXHAUSTED: "A person allowed no more attempts.",
    Rule.AFTER_AMEND: "After an amendment: another attempt under the new criteria.",
    Rule.AFTER_NO_PROGRESS: "After a no_progress decision: the maker, count at zero.",
}
