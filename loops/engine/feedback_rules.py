"""The stable names of the rules of Thinker-Worker-Verifier (RULES 2).

1..11: rows of the table. 0, P, S, V, F, C: steps between its rows. Q: questions. E: what the end
needs. D: decisions (RULES 6). Never renumber: logs and pages keep them.
"""

from __future__ import annotations

from enum import StrEnum


class Rule(StrEnum):
    START = "TWV-0"
    OK = "TWV-1"
    VERIFY_AGAIN = "TWV-2"
    ASK_UNCERTAIN = "TWV-3"
    EXTRA_RETRY = "TWV-4"
    ASK_EXHAUSTED = "TWV-5"
    NO_ADVICE = "TWV-6"
    RETRY = "TWV-7"
    REASSIGN = "TWV-8"
    NO_REASSIGN = "TWV-9"
    REPLAN = "TWV-10"
    FINAL_RETRY = "TWV-11"
    PLANNED = "TWV-P"
    SELF_CALL = "TWV-S"
    VERIFY = "TWV-V"
    FORKED = "TWV-F"
    REPLACED = "TWV-C"
    ASK_IDLE = "TWV-Q1"
    NEEDS_PLAN = "TWV-E1"
    NEEDS_OK = "TWV-E2"
    NEEDS_CURRENT = "TWV-E3"
    REJECTED = "TWV-D1"
    PERSON_REPLANS = "TWV-D2"
    PERSON_REASSIGNS = "TWV-D3"
    AMENDED = "TWV-D4"


TEXT: dict[Rule, str] = {
    Rule.START: "A session starts with the thinker.",
    Rule.OK: "OK: done, whatever is recommended; a question if the criteria are out of date.",
    Rule.VERIFY_AGAIN: "UNCERTAIN: a verifier of the reserve judges the same attempt again.",
    Rule.ASK_UNCERTAIN: "UNCERTAIN, and nobody is left to judge the attempt again.",
    Rule.EXTRA_RETRY: "FAIL: the same worker again, with an attempt that a person granted.",
    Rule.ASK_EXHAUSTED: "FAIL after the final retry: nothing is left to try.",
    Rule.NO_ADVICE: "FAIL with FINISH or without a recommendation counts as RETRY.",
    Rule.RETRY: "RETRY: the same worker again while retries are left, else REASSIGN.",
    Rule.REASSIGN: "REASSIGN: a worker that this plan has not tried starts from the base.",
    Rule.NO_REASSIGN: "REASSIGN without a reassignment or an untried worker left: REPLAN.",
    Rule.REPLAN: "REPLAN: the thinker writes a new plan and a new version of the criteria.",
    Rule.FINAL_RETRY: "No replan is left: one final retry from the best output, by its author.",
    Rule.PLANNED: "A plan is followed by an attempt of the worker that it selects.",
    Rule.SELF_CALL: "The thinker asked to think once more.",
    Rule.VERIFY: "An attempt is judged by each verifier in turn.",
    Rule.FORKED: "A fork goes on with a first attempt at the plan that it took along.",
    Rule.REPLACED: "Who was due is no longer part of the session: another one takes the step.",
    Rule.ASK_IDLE: "Too many attempts in a row left the tree as it was.",
    Rule.NEEDS_PLAN: "A plan with criteria is needed.",
    Rule.NEEDS_OK: "The verifiers must have judged this tree OK.",
    Rule.NEEDS_CURRENT: "The criteria must be of the requirements as they read now.",
    Rule.REJECTED: "A person rejected the result and granted no further attempt.",
    Rule.PERSON_REPLANS: "A person asked for a new plan.",
    Rule.PERSON_REASSIGNS: "A person chose who works next.",
    Rule.AMENDED: "A person amended a requirement: a new plan follows.",
}
