"""What happens between the rows of RULES 2: who plans, who judges, what is counted and kept."""

import pytest

from loops.engine.values import FailureType
from tests.engine.feedback_log import (
    BASE,
    FAIL,
    JUDGE,
    OK,
    REASSIGN,
    RETRY,
    SECOND,
    TESTS,
    UNCERTAIN,
    Log,
    config,
)


def test_a_session_starts_with_the_thinker():
    log = Log()
    assert (log.next, log.rule) == ("thinker", "TWV-0")


def test_the_worker_that_the_plan_selects_starts_from_the_base():
    log = Log()
    log.think("coder")
    assert (log.next, log.rule) == ("worker coder", "TWV-P")
    assert log.due.start_from == BASE


def test_every_verifier_but_the_reserve_judges_each_attempt_in_order():
    log = Log(config(verifiers=(TESTS, SECOND, JUDGE)))
    log.think()
    log.work()
    assert (log.next, log.rule) == ("verifier tests", "TWV-V")
    assert log.due.start_from is None  # the attempt stands there
    log.verify(FAIL, RETRY)
    assert log.next == "verifier judge"
    log.verify(OK)
    assert log.rule == "TWV-7"


def test_a_thinker_that_asks_for_it_thinks_once_more_within_its_own_budget():
    log = Log(config(self_calls=1))
    log.think(requires_self_call=True)
    assert (log.next, log.rule) == ("thinker", "TWV-S")
    assert log.state.criteria == ()  # nothing is frozen yet
    log.think("coder", requires_self_call=True)
    assert log.next == "worker coder"
    assert log.state.plan_number == 1


def test_without_a_self_call_budget_the_plan_is_followed_at_once():
    log = Log(config(self_calls=0))
    log.think(requires_self_call=True)
    assert log.next == "worker writer"


# --- counters ------------------------------------------------------------------------------------


def test_global_counters_go_on_over_workers_and_plans():
    log = Log(config(retries=1))
    log.attempt(FAIL, RETRY)
    log.attempt(FAIL, REASSIGN)
    log.attempt(FAIL, RETRY)
    assert log.rule == "TWV-8"  # the one retry was the first worker's


def test_nested_retries_start_anew_with_each_worker_and_both_with_each_plan():
    log = Log(config(retries=1, reassigns=1, is_nested=True))
    log.attempt(FAIL, RETRY)
    log.attempt(FAIL, REASSIGN)
    log.attempt(FAIL, RETRY)
    assert log.rule == "TWV-7"
    log.attempt(FAIL, RETRY)
    assert log.rule == "TWV-10"
    log.think()
    log.attempt(FAIL, REASSIGN)
    assert log.rule == "TWV-8"


def test_a_new_plan_may_try_every_worker_again():
    log = Log(config(pool=("writer", "coder"), reassigns=5))
    log.attempt(FAIL, REASSIGN)
    log.attempt(FAIL, REASSIGN)
    assert log.rule == "TWV-10"
    log.think("writer")
    log.attempt(FAIL, REASSIGN)
    assert log.next == "worker coder"


def test_the_lowest_score_of_the_required_verifiers_is_the_attempt_s():
    log = Log(config(verifiers=(TESTS, JUDGE)))
    log.think()
    log.work()
    log.verify(FAIL, RETRY, score=9)
    log.verify(FAIL, RETRY, score=4)
    assert log.state.best.score == 4


def test_what_each_verifier_said_and_saw_is_kept_for_the_next_attempts():
    log = Log()
    log.attempt(FAIL, RETRY, feedback="It answers 500.", failure_type=FailureType.QUALITY)
    (said,) = log.state.feedback
    assert said.text.startswith("It answers 500.\nC-1: FAIL: seen at C-1")
    assert (said.attempt, said.plan, said.worker) == (1, 1, "writer")


def test_two_sessions_with_the_same_goal_share_nothing():
    one, two = Log(), Log()
    one.attempt(FAIL, RETRY, feedback="Only of the first.")
    two.attempt(FAIL, RETRY, feedback="Only of the second.")
    assert "first" in one.state.feedback[0].text
    assert "first" not in repr(two.state)


# --- no progress ---------------------------------------------------------------------------------


def test_attempts_in_a_row_that_change_nothing_ask_a_person():
    log = Log(config(no_progress=2))
    log.think()
    for _ in range(2):
        log.work(change=False)
        log.verify(FAIL, RETRY)
    assert (log.next, log.rule) == ("ask no_progress", "TWV-Q1")
    log.decide("grant")
    assert log.next == "worker writer"
    assert log.state.idle == 0


def test_an_attempt_that_changes_nothing_is_judged_before_anybody_asks_about_it():
    log = Log(config(no_progress=1))
    log.think()
    log.work(change=False)
    assert log.next == "verifier judge"
    log.verify(OK)
    assert log.next == "no_op"


def test_an_attempt_with_a_change_or_a_human_event_starts_the_count_anew():
    log = Log(config(no_progress=2))
    log.think()
    for change in (False, True, False):
        log.work(change=change)
        log.verify(FAIL, RETRY)
        assert log.next.startswith("worker")
    log.human()
    assert log.state.idle == 0


@pytest.mark.parametrize("status", [FAIL, UNCERTAIN])
def test_why_not_done_says_what_is_missing(status):
    log = Log()
    assert log.why() == ["TWV-E1"]
    log.think()
    assert log.why() == ["TWV-E2"]
    log.work()
    log.verify(status, RETRY)
    assert log.why() == ["TWV-E2"]
