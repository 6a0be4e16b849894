"""When a session ends, asks about no progress, or goes on after a person acted (RULES 4)."""

import pytest

from loops.engine.values import Role
from tests.engine.log import BUGS, CLEAN, DONE, NOT_DONE, Log, config


def reviewed_once():
    """One done and the clean review after it."""
    log = Log()
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    assert log.state.streak == 1
    assert log.state.clean_review == ("tree-0", "spec-0")
    return log


# --- the end -------------------------------------------------------------------------------------


def test_shortest_run_with_one_change_is_work_done_review_done():
    log = Log()
    log.worker(change=True)
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    assert log.next == "worker"
    log.worker(signal=DONE)
    assert log.next == "done"


def test_shortest_run_with_nothing_to_do_is_done_review_done():
    log = Log()
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE)
    assert log.next == "no_op"


def test_a_worked_task_is_no_no_op_though_the_tree_is_the_base():
    log = Log()
    log.worker(moved=True, task_worked=True, unjudged=("T-1",))
    log.review(signal=CLEAN)
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE)
    assert log.next == "done"


@pytest.mark.parametrize("open_", [{"unjudged": ("B-1",)}, {"blocked": ("B-1",), "commit": True}])
def test_no_end_while_something_is_open(open_):
    log = reviewed_once()
    log.worker(signal=DONE, **open_)
    assert log.next != "done"
    assert log.next != "no_op"


def test_no_end_on_another_tree_than_the_reviewed_one():
    log = Log()
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    # No worker moved it, but it is another tree all the same.
    log.rev = "tree-elsewhere"
    log.worker(signal=DONE)
    assert log.next == "reviewer"
    assert log.why() == ["ST-E4"]


def test_no_end_under_another_spec_than_the_reviewed_one():
    log = reviewed_once()
    log.spec = "spec-new"
    log.worker(signal=DONE)
    assert log.next == "reviewer"
    assert log.why() == ["ST-E4"]


def test_why_not_done_names_each_condition_that_is_missing():
    log = Log()
    assert log.why(blockers=("B-1",), unjudged=("B-2",), blocked=("B-3",)) == [
        "ST-E3",
        "ST-E4",
        "ST-E5",
        "ST-E6",
        "ST-E7",
    ]
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    assert log.why() == ["ST-E3"]


def test_all_met_but_blocked_entries_asks_about_each_of_them():
    log = reviewed_once()
    log.worker(signal=DONE, blocked=("B-3", "T-4"))
    assert log.next == "ask blocked"
    assert log.due.subjects == ("B-3", "T-4")


def test_blocked_entries_wait_while_anything_else_is_missing():
    log = Log()
    log.worker(signal=DONE, blocked=("B-3",))
    assert log.next == "reviewer"


def test_the_last_allowed_iteration_that_proves_done_ends_done():
    log = Log(config(iterations=4))
    log.worker(change=True)
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE)
    assert log.state.iterations == 4
    assert log.next == "done"


def test_the_last_allowed_iteration_that_proves_nothing_asks():
    log = Log(config(iterations=3))
    log.worker(change=True)
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    assert log.next == "ask limit"


# --- human events --------------------------------------------------------------------------------


def test_a_human_event_takes_streak_and_clean_review_and_restarts_the_idle_count():
    log = reviewed_once()
    assert log.state.idle == 1
    log.human()
    assert (log.state.streak, log.state.clean_review, log.state.idle) == (0, None, 0)


def test_a_human_event_after_the_proof_takes_the_end_back():
    log = reviewed_once()
    log.worker(signal=DONE)
    assert log.next == "no_op"
    log.human()
    assert log.next == "reviewer"


# --- no progress ---------------------------------------------------------------------------------


def test_k_worker_iterations_without_a_change_ask():
    log = Log(config(no_progress=4, has_coach=False))
    for _ in range(3):
        log.worker(signal=NOT_DONE)
        if log.next == "reviewer":
            log.review(signal=CLEAN)
    assert log.next == "worker"
    log.worker()
    assert log.next == "ask no_progress"


def test_guidance_is_no_progress():
    log = Log(config(no_progress=4))
    for _ in range(3):
        log.worker()
    log.coach(guidance=1)
    log.worker()
    assert log.next == "ask no_progress"


@pytest.mark.parametrize("restart", ["change", "human event", "finding"])
def test_the_idle_count_starts_anew_with(restart):
    log = Log(config(no_progress=2))
    log.worker()
    if restart == "change":
        log.worker(change=True)
    elif restart == "human event":
        log.human()
    else:
        log.review(signal=BUGS, findings=("B-1",), blockers=("B-1",))
    log.worker()
    assert log.next == "worker"
    log.worker()
    assert log.next == "ask no_progress"


def swing(log, times):
    for number in range(times):
        log.worker(rev="tree-0" if number % 2 else "tree-b")


def test_the_same_two_trees_twice_call_the_coach():
    log = Log(config(review_every=100, coach_every=100))
    swing(log, 2)
    assert log.next == "worker"
    swing(log, 1)
    assert log.next == "coach"
    log.coach()
    log.worker(change=True)
    assert log.next == "worker"


def test_the_same_two_trees_three_times_ask():
    log = Log(config(review_every=100, has_coach=False))
    swing(log, 4)
    assert log.next == "worker"
    swing(log, 1)
    assert log.next == "ask no_progress"
    assert log.due.rule.value == "ST-Q4"


def test_a_third_tree_is_no_oscillation():
    log = Log(config(review_every=100, has_coach=False))
    for _ in range(6):
        swing(log, 2)
        log.worker(change=True)
        assert log.next == "worker"


def test_four_conflicts_in_a_row_ask_with_the_paths():
    log = Log(config(review_every=2, has_coach=False))
    for _ in range(4):
        if log.next == "reviewer":
            log.review(signal=CLEAN)
        log.worker(signal=DONE, change=True, changed_paths=("fmt.py",))
    assert log.next == "ask no_progress"
    assert "fmt.py" in log.due.question


def test_three_conflicts_and_some_work_do_not_ask():
    log = Log(config(review_every=100))
    for _ in range(3):
        log.worker(signal=DONE, change=True)
    log.worker(change=True)
    log.worker(signal=DONE, change=True)
    assert log.next == "worker"


# --- disputes ------------------------------------------------------------------------------------


def test_an_entry_reopened_three_times_asks():
    log = Log()
    log.review(signal=BUGS, findings=("B-1",), blockers=("B-1",), disputed=("B-1",))
    assert log.next == "ask disputed_fix"
    assert log.due.subjects == ("B-1",)


def test_a_role_of_another_pattern_is_refused():
    with pytest.raises(ValueError, match="maker"):
        Log().turn(role=Role.MAKER)
