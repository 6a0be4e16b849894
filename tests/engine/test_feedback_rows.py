"""What follows a verdict: each row of the table in RULES 2, by its number."""

import pytest

from loops.engine.feedback import attempts_at_most
from loops.engine.feedback_rules import TEXT, Rule
from loops.engine.rule_texts import rule_text
from loops.engine.values import RunRole, Snapshot, Verifier
from tests.engine.feedback_log import (
    BASE,
    FAIL,
    FINISH,
    JUDGE,
    OK,
    REASSIGN,
    REPLAN,
    RETRY,
    SECOND,
    THIRD,
    UNCERTAIN,
    Log,
    config,
)


def test_every_rule_has_a_sentence_that_a_page_can_look_up():
    assert TEXT.keys() == set(Rule)
    assert all(rule_text(rule.value).endswith(".") for rule in Rule)
    assert rule_text("ST-W1")
    assert rule_text("F-1")
    assert rule_text("jazz") == ""


def test_the_names_never_change():
    names = " ".join(rule.value for rule in Rule)
    assert names == (
        "TWV-0 TWV-1 TWV-2 TWV-3 TWV-4 TWV-5 TWV-6 TWV-7 TWV-8 TWV-9 TWV-10 TWV-11"
        " TWV-P TWV-S TWV-V TWV-F TWV-C TWV-Q1 TWV-E1 TWV-E2 TWV-E3"
        " TWV-D1 TWV-D2 TWV-D3 TWV-D4"
    )


@pytest.mark.parametrize("advice", [FINISH, RETRY, REASSIGN, REPLAN, None])
def test_row_1_ok_ends_done_whatever_is_recommended(advice):
    log = Log()
    log.attempt(OK, advice)
    assert (log.next, log.rule) == ("done", "TWV-1")
    assert log.due.result == Snapshot("tree-1", "commit-1")
    assert log.why() == []


def test_row_1_asks_when_a_requirement_changed_since_the_plan():
    log = Log()
    log.think()
    log.human(edits=True)
    log.work()
    log.verify(OK)
    assert (log.next, log.rule) == ("ask spec_changed", "TWV-1")
    assert log.due.shown == Snapshot("tree-1", "commit-1")
    assert log.why() == ["TWV-E3"]


def test_row_1_ends_no_op_when_the_base_was_right_and_no_task_was_worked_on():
    log = Log()
    log.think()
    log.work(change=False)
    log.verify(OK)
    assert log.next == "no_op"
    log = Log()
    log.think()
    log.work(change=False, task_worked=True)
    log.verify(OK)
    assert log.next == "done"


def test_row_2_uncertain_asks_the_reserve_and_uses_no_attempt():
    log = Log(config(verifiers=(JUDGE, SECOND)))
    before = attempts_at_most(log.state)
    log.attempt(UNCERTAIN)
    assert (log.next, log.rule) == ("verifier second", "TWV-2")
    assert attempts_at_most(log.state) == before - 1
    log.verify(OK)
    assert log.next == "done"


def test_row_2_asks_as_many_of_the_reserve_as_the_budget_allows_each_once():
    log = Log(config(verifiers=(JUDGE, SECOND, THIRD), reverifications=5))
    log.attempt(UNCERTAIN)
    log.verify(UNCERTAIN)
    assert log.next == "verifier third"
    log.verify(UNCERTAIN)
    assert (log.next, log.rule) == ("ask uncertain", "TWV-3")


def test_row_2_counts_anew_at_each_attempt():
    log = Log(config(verifiers=(JUDGE, SECOND), reverifications=1))
    for _ in range(2):
        log.attempt(UNCERTAIN)
        assert log.rule == "TWV-2"
        log.verify(FAIL, RETRY)
        assert log.rule == "TWV-7"


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"verifiers": (JUDGE, SECOND), "reverifications": 0},
        {"verifiers": (JUDGE, Verifier(name="adviser", policy="advising"))},
    ],
)
def test_row_3_uncertain_without_another_verifier_asks_a_person(settings):
    log = Log(config(**settings))
    log.attempt(UNCERTAIN)
    if log.next == "verifier adviser":
        log.verify(OK)
    assert (log.next, log.rule) == ("ask uncertain", "TWV-3")
    assert log.due.shown == Snapshot("tree-1", "commit-1")
    assert log.why() == ["TWV-E2"]


def test_row_3_is_a_conflict_when_models_contradict_each_other():
    log = Log(config(verifiers=(JUDGE, Verifier(name="other"))))
    log.attempt(OK)
    log.verify(FAIL)
    assert (log.next, log.rule) == ("ask verifier_conflict", "TWV-3")
    assert log.due.shown == Snapshot("tree-1", "commit-1")


def test_row_3_an_ok_without_evidence_for_a_criterion_is_uncertain():
    log = Log()
    log.attempt(OK, criteria=("C-1",))
    assert log.next == "ask uncertain"


def test_row_4_an_attempt_that_a_person_granted_comes_first_and_moves_no_counter():
    log = Log()
    log.attempt(UNCERTAIN)
    log.decide("reject", attempts=2, text="Not yet.")
    counters = (log.state.retried, log.state.reassigned, log.state.replanned)
    log.attempt(FAIL, REPLAN)
    assert (log.next, log.rule) == ("worker writer", "TWV-4")
    assert log.due.start_from == Snapshot("tree-2", "commit-2")
    assert (log.state.retried, log.state.reassigned, log.state.replanned) == counters
    log.attempt(FAIL, REPLAN)
    assert (log.next, log.rule) == ("thinker", "TWV-10")


def test_row_5_a_fail_after_the_final_retry_asks_with_the_best_output():
    log = Log(config(retries=0, reassigns=0, replans=0))
    log.attempt(FAIL, RETRY, score=7)
    log.attempt(FAIL, RETRY, score=3)
    assert (log.next, log.rule) == ("ask exhausted", "TWV-5")
    assert log.due.shown == Snapshot("tree-1", "commit-1")
    assert "attempt 1" in log.due.question
    assert "not verified" in log.due.question


@pytest.mark.parametrize("advice", [FINISH, None])
def test_row_6_fail_with_finish_is_no_success_and_counts_as_retry(advice):
    """Known implementations accept FAIL + FINISH as success."""
    log = Log()
    log.attempt(FAIL, advice)
    assert (log.next, log.rule) == ("worker writer", "TWV-7")
    assert "contradiction" in log.due.reason
    assert "TWV-6" in log.due.reason


def test_row_7_retry_is_by_the_same_worker_from_its_last_tree():
    log = Log()
    log.think("coder")
    log.attempt(FAIL, RETRY)
    assert (log.next, log.rule) == ("worker coder", "TWV-7")
    assert log.due.start_from == Snapshot("tree-1", "commit-1")
    assert log.state.retried == 1


def test_row_7_without_a_retry_left_becomes_a_reassignment():
    log = Log(config(retries=0))
    log.attempt(FAIL, RETRY)
    assert (log.next, log.rule) == ("worker coder", "TWV-8")
    assert "TWV-7" in log.due.reason


def test_row_8_reassign_starts_from_the_base():
    log = Log()
    log.attempt(FAIL, REASSIGN)
    assert (log.next, log.rule) == ("worker coder", "TWV-8")
    assert log.due.start_from == BASE
    assert log.state.reassigned == 1


@pytest.mark.parametrize(
    ("recommended", "alternatives", "taken"),
    [
        ("analyst", ("coder",), "analyst"),
        ("writer", ("analyst", "coder"), "analyst"),  # the current one is no other
        ("somebody", ("analyst",), "analyst"),  # not of the pool
        ("", ("writer", "analyst"), "analyst"),
        ("", (), "coder"),
    ],
)
def test_row_8_takes_the_recommended_worker_then_the_alternatives_then_the_pool(
    recommended, alternatives, taken
):
    log = Log()
    log.think("writer", alternative_workers=alternatives)
    log.attempt(FAIL, REASSIGN, recommended_worker=recommended)
    assert log.next == f"worker {taken}"


def test_row_8_three_workers_each_get_their_turn():
    """Known implementations never try the third."""
    log = Log(config(reassigns=5))
    seen = []
    log.think()
    while log.next.startswith("worker") and log.rule != "TWV-11":
        seen.append(log.due.agent)
        log.attempt(FAIL, REASSIGN)
    assert seen == ["writer", "coder", "analyst"]


@pytest.mark.parametrize("settings", [{"reassigns": 0}, {"pool": ("writer",)}])
def test_row_9_without_a_reassignment_or_an_untried_worker_it_becomes_a_replan(settings):
    log = Log(config(**settings))
    log.attempt(FAIL, REASSIGN)
    assert (log.next, log.rule) == ("thinker", "TWV-10")
    assert "TWV-9" in log.due.reason


def test_row_10_replan_brings_a_new_version_of_the_criteria_from_the_base():
    log = Log()
    log.attempt(FAIL, REPLAN, feedback="The plan misses the cache.")
    assert (log.next, log.rule) == ("thinker", "TWV-10")
    log.think("analyst")
    assert log.next == "worker analyst"
    assert log.due.start_from == BASE
    assert log.state.plan_number == 2
    (said,) = log.state.feedback
    assert said.plan == 1
    assert said.text.startswith("The plan misses the cache.")


def test_row_11_the_final_retry_is_by_the_author_of_the_best_output_from_its_tree():
    log = Log(config(retries=0, reassigns=1, replans=0))
    log.attempt(FAIL, REASSIGN, score=8)
    log.attempt(FAIL, REASSIGN, score=2)
    assert (log.next, log.rule) == ("worker writer", "TWV-11")
    assert log.due.start_from == Snapshot("tree-1", "commit-1")
    log.work()
    log.verify(OK)
    assert log.next == "done"


def test_row_11_ties_go_to_the_latest_output():
    log = Log(config(retries=0, reassigns=1, replans=0))
    log.attempt(FAIL, REASSIGN, score=5)
    log.attempt(FAIL, REASSIGN, score=5)
    assert log.next == "worker coder"
    assert log.due.start_from == Snapshot("tree-2", "commit-2")


def test_a_whole_cascade_happens_in_one_pass_and_says_which_rows_passed_it_on():
    log = Log(config(retries=0, reassigns=0, replans=0))
    log.attempt(FAIL, FINISH)
    assert log.rule == "TWV-11"
    for row in ("TWV-6", "TWV-7", "TWV-9"):
        assert row in log.due.reason
    assert isinstance(log.due, RunRole)
