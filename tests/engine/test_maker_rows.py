"""Each rule of the Maker-Verifier loop, by name (RULES 3)."""

import pytest

from loops.engine.contracts import Judgement, Verifier
from loops.engine.maker_rules import TEXT, Rule
from loops.engine.maker_state import Output
from loops.engine.values import Choice, EndReason, Outcome, Policy, Snapshot
from tests.engine.maker_log import (
    CRITERIA,
    FAIL,
    JUDGE,
    OK,
    SECOND_SPARE,
    SPARE,
    UNCERTAIN,
    Log,
    config,
)

TESTS = Verifier(name="tests", is_mechanical=True)
ADVISER = Verifier(name="adviser", policy=Policy.ADVISING)


def test_every_rule_has_a_sentence():
    assert TEXT.keys() == set(Rule)
    assert all(text.endswith(".") for text in TEXT.values())


def test_the_names_never_change():
    assert " ".join(rule.value for rule in Rule) == (
        "MV-0 MV-1 MV-2 MV-3 MV-4 MV-E1 MV-E2 MV-E3 MV-E4 MV-E5 MV-E6"
        " MV-Q1 MV-Q2 MV-Q3 MV-Q4 MV-Q5 MV-D1 MV-D2 MV-D3 MV-D4"
    )


# --- MAKING -> VERIFYING -------------------------------------------------------------------------


def test_mv_0_a_session_starts_with_the_maker():
    assert Log().due.rule == "MV-0"
    assert Log().next == "maker"


def test_criteria_are_frozen_before_the_first_attempt():
    log = Log()
    assert (log.state.criteria, log.state.criteria_version) == (CRITERIA, 1)
    with pytest.raises(ValueError, match="needs criteria"):
        Log(criteria=())


def test_mv_1_every_verifier_but_the_reserve_judges_the_attempt_in_order():
    log = Log(config(verifiers=(SPARE, TESTS, ADVISER, JUDGE)))
    assert log.make() is Outcome.ATTEMPT
    for name in ("tests", "adviser", "judge"):
        assert (log.next, log.due.rule) == (name, "MV-1")
        assert log.judge(OK) is Outcome.VERDICT
    assert log.next == "done"


def test_no_verifier_is_skipped_after_a_fail():
    log = Log(config(verifiers=(TESTS, JUDGE)))
    log.attempt(FAIL)
    assert log.next == "judge"


def test_each_verifier_judges_the_attempts_own_tree():
    log = Log()
    log.make()
    assert log.due.start_from == log.tree


def test_a_verdict_on_another_tree_judges_nothing():
    log = Log()
    log.make()
    log.judge(OK, before="tree-elsewhere")
    assert log.next == "ask uncertain"


# --- APPROVED ------------------------------------------------------------------------------------


def test_mv_e1_an_approved_attempt_ends_done_with_its_tree():
    log = Log()
    log.attempt(OK)
    assert (log.due.reason, log.due.rule) == (EndReason.DONE, "MV-E1")
    assert log.due.result == Snapshot("tree-1", "commit-1")


def test_an_end_as_no_op_leaves_the_base_as_it_was_and_worked_on_no_task():
    log = Log()
    log.make(change=False)
    log.judge(OK)
    assert log.next == "no_op"


def test_an_end_after_work_on_a_task_is_no_no_op():
    log = Log()
    log.make(change=False, task_worked=True)
    log.judge(OK)
    assert log.next == "done"


def test_an_ok_without_evidence_for_a_criterion_is_no_approval():
    log = Log()
    log.attempt(OK, evidence=(Judgement("C-1", OK, "seen"),))
    assert log.next == "ask uncertain"


@pytest.mark.parametrize("during", [True, False])
def test_mv_q3_an_approval_by_criteria_out_of_date_asks_a_person(during):
    log = Log()
    if not during:
        log.human()
    log.make(during=log.human if during else None)
    log.judge(OK)
    assert (log.next, log.due.rule) == ("ask spec_changed", "MV-Q3")
    assert log.due.shown == log.tree


def test_only_an_edited_requirement_puts_criteria_out_of_date():
    log = Log()
    log.human(what="filed", key="T-1")
    log.attempt(OK)
    assert log.next == "done"


def test_an_edit_after_the_proof_and_before_the_end_takes_the_end_back():
    log = Log()
    log.attempt(OK)
    log.human(what="filed", key="T-1")
    assert log.next == "done"
    log.human()
    assert log.next == "ask spec_changed"


def test_an_end_by_a_person_stands_whatever_is_edited():
    log = Log()
    log.attempt(UNCERTAIN)
    log.decide("uncertain", Choice.APPROVE)
    log.human()
    assert log.next == "human_approved"


# --- REJECTED ------------------------------------------------------------------------------------


def test_mv_2_a_rejected_attempt_is_followed_by_another_one_that_sees_the_reason():
    log = Log()
    log.attempt(FAIL, feedback="it does not add")
    assert (log.next, log.due.rule) == ("maker", "MV-2")
    (rejection,) = log.state.rejections
    assert (rejection.attempt, rejection.criteria_version) == (1, 1)
    assert rejection.reason == "it does not add"


def test_the_next_attempt_goes_on_from_the_tree_of_the_last_one():
    log = Log()
    assert log.due.start_from is None
    log.attempt(FAIL)
    assert log.due.start_from == Snapshot("tree-1", "commit-1")


def test_a_rejection_without_a_reason_is_no_rejection():
    log = Log()
    log.attempt(FAIL, feedback=" \n")
    assert log.next == "ask uncertain"
    assert log.state.rejections == ()


def test_evidence_against_a_criterion_is_a_reason_too():
    log = Log()
    log.attempt(FAIL, feedback="", evidence=(Judgement("C-2", FAIL, "returns 0"),))
    assert log.next == "maker"
    assert log.state.rejections[0].reason == "C-2: returns 0"


def test_mv_q4_the_ceiling_asks_a_person_and_shows_the_best_attempt():
    log = Log(config(attempts=3))
    for score in (7, 7, 4):
        log.attempt(FAIL, score=score)
    assert (log.next, log.due.rule) == ("ask ceiling", "MV-Q4")
    assert log.due.shown == Snapshot("tree-2", "commit-2")
    assert "attempt 2 (score 7 of 10)" in log.due.question


def test_the_last_allowed_attempt_that_is_approved_ends_done():
    log = Log(config(attempts=1))
    log.attempt(OK)
    assert log.next == "done"


def test_the_best_output_is_the_one_with_the_highest_score_ties_to_the_latest():
    log = Log(config(attempts=9))
    best = []
    for score in (0, 0, 3, 9, 2, 9, 8):
        log.attempt(FAIL, score=score)
        best.append(log.state.best.attempt)
    assert best == [1, 2, 3, 4, 4, 6, 6]
    assert log.state.best == Output(6, 9, Snapshot("tree-6", "commit-6"))


def test_only_the_last_reasons_are_kept():
    log = Log(config(attempts=9))
    for number in range(5):
        log.attempt(FAIL, feedback=f"reason {number}")
    assert [r.reason for r in log.state.rejections] == ["reason 2", "reason 3", "reason 4"]


# --- UNCERTAIN -----------------------------------------------------------------------------------


def test_mv_3_an_uncertain_verdict_goes_to_the_reserve():
    log = Log(config(verifiers=(JUDGE, SPARE)))
    log.attempt(UNCERTAIN)
    assert (log.next, log.due.rule) == ("spare", "MV-3")
    log.judge(OK)
    assert log.next == "done"


def test_the_reserve_is_asked_at_most_u_times_for_an_attempt():
    log = Log(config(verifiers=(JUDGE, SPARE, SECOND_SPARE), reverifications=1))
    log.attempt(UNCERTAIN)
    log.judge(UNCERTAIN)
    assert (log.state.reverified, log.next) == (1, "ask uncertain")


def test_each_of_the_reserve_judges_an_attempt_once():
    log = Log(config(verifiers=(JUDGE, SPARE, SECOND_SPARE), reverifications=9))
    log.attempt(UNCERTAIN)
    assert log.next == "spare"
    log.judge(UNCERTAIN)
    assert log.next == "second spare"
    log.judge(UNCERTAIN)
    assert log.next == "ask uncertain"


def test_u_starts_at_0_for_each_attempt():
    log = Log(config(verifiers=(JUDGE, SPARE)))
    log.attempt(UNCERTAIN)
    log.judge(FAIL)
    log.attempt(UNCERTAIN)
    assert log.next == "spare"


def test_without_a_budget_nobody_of_the_reserve_is_asked():
    log = Log(config(verifiers=(JUDGE, SPARE), reverifications=0))
    log.attempt(UNCERTAIN)
    assert log.next == "ask uncertain"


def test_mv_q1_an_uncertain_verdict_without_a_reserve_asks_a_person_and_shows_the_attempt():
    log = Log()
    log.attempt(FAIL, score=9)
    log.attempt(UNCERTAIN, score=2)
    assert (log.next, log.due.rule) == ("ask uncertain", "MV-Q1")
    assert log.due.shown == Snapshot("tree-2", "commit-2")


def test_mv_q2_verifiers_that_contradict_each_other_are_a_question_of_their_own():
    log = Log(config(verifiers=(JUDGE, Verifier(name="other"))))
    log.attempt(OK)
    log.judge(FAIL, evidence=(Judgement("C-1", FAIL, "wrong"),))
    assert (log.next, log.due.rule) == ("ask verifier_conflict", "MV-Q2")
    assert log.due.shown == log.tree


def test_a_contradiction_goes_to_the_reserve_first():
    log = Log(config(verifiers=(JUDGE, Verifier(name="other"), SPARE)))
    log.attempt(OK)
    log.judge(FAIL, evidence=(Judgement("C-1", FAIL, "wrong"),))
    assert log.next == "spare"
    log.judge(UNCERTAIN)
    assert log.next == "ask uncertain"


def test_an_attempt_that_nobody_judges_is_a_persons():
    log = Log(config(verifiers=()))
    log.make()
    assert log.next == "ask uncertain"
