"""Done by a script, and done by both (RULES 4, "Done mode")."""

import pytest

from loops.engine.single_thread import needs_script
from loops.engine.values import DoneMode, Fault
from tests.engine.log import CLEAN, DONE, NOT_DONE, Log, config

SCRIPT, BOTH = config(done_mode=DoneMode.SCRIPT), config(done_mode=DoneMode.BOTH)


def needs(log):
    return needs_script(log.state, rev=log.rev, head=log.head, spec=log.spec)


def test_script_ends_when_it_passes_and_nothing_is_open():
    log = Log(SCRIPT, script_exit=1)
    assert log.next == "worker"
    log.worker(change=True, script_exit=0)
    assert log.next == "done"


@pytest.mark.parametrize("open_", ["blockers", "unjudged"])
def test_script_does_not_end_while_something_is_open(open_):
    log = Log(SCRIPT, script_exit=1)
    log.worker(change=True, script_exit=0, **{open_: ("B-1",)})
    assert log.next in ("worker", "reviewer")


def test_script_ends_once_a_review_has_judged_the_last_fix():
    log = Log(SCRIPT, script_exit=1)
    log.worker(change=True, script_exit=0, unjudged=("B-1",))
    assert log.next == "reviewer"
    log.review(signal=CLEAN)
    assert log.next == "done"


def test_script_is_never_ended_by_done_signals():
    log = Log(SCRIPT, script_exit=1)
    for _ in range(3):
        log.worker(signal=DONE)
        assert log.next == "reviewer"
        log.review(signal=CLEAN)
    assert log.why() == ["ST-E8"]


def test_script_that_passes_asks_about_blocked_entries():
    log = Log(SCRIPT, script_exit=1)
    log.worker(change=True, script_exit=0, blocked=("B-1",))
    assert log.next == "ask blocked"


def test_script_that_passes_at_the_base_ends_at_once_as_no_op():
    assert Log(SCRIPT, script_exit=0).next == "no_op"


def test_a_human_event_before_the_end_of_such_a_session_takes_it_back():
    log = Log(SCRIPT, script_exit=0)
    log.human()
    assert log.next == "worker"


@pytest.mark.parametrize(
    "opening",
    [
        {"script_exit": 1},
        {"script_exit": None},
        {"script_exit": 0, "blockers": ("T-1",)},
        {"script_exit": 0, "unjudged": ("B-1",)},
        {"script_exit": 0, "blocked": ("B-1",)},
    ],
)
def test_script_at_the_base_does_not_end_when_it_fails_or_something_is_open(opening):
    assert Log(SCRIPT, **opening).next == "worker"


def test_script_result_of_another_spec_does_not_count():
    log = Log(SCRIPT, script_exit=1)
    log.worker(change=True, script_exit=0, blockers=("T-1",))
    log.human(edits=True)
    log.review(signal=CLEAN)
    assert log.next == "worker"
    assert needs(log)


def test_both_needs_the_signals_and_the_script():
    log = Log(BOTH, script_exit=0)
    assert log.next == "worker"
    log.worker(change=True, script_exit=1)
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE)
    assert log.next == "reviewer"
    assert log.why() == ["ST-E8"]
    log.worker(change=True, script_exit=0)
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE)
    assert log.next == "done"


def test_both_counts_the_script_for_this_head_only():
    log = Log(BOTH, script_exit=0)
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE, commit=True)
    assert log.next == "reviewer"
    assert log.why() == ["ST-E8"]


def test_both_ends_on_a_tree_that_was_judged_long_before():
    log = Log(BOTH, script_exit=1)
    log.worker(change=True, script_exit=0)
    for _ in range(5):
        log.worker(signal=NOT_DONE)
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE)
    assert log.next == "done"


def test_each_tree_commit_and_spec_is_judged_once():
    log = Log(SCRIPT, script_exit=1)
    assert not needs(log)
    log.worker(fault=Fault.CRASH, change=True)
    assert needs(log)
    log.worker(signal=NOT_DONE, script_exit=2)
    assert not needs(log)
    log.spec = "spec-new"
    assert needs(log)


def test_no_script_without_a_mode_that_asks_for_it():
    assert not needs(Log())


def test_script_verdicts_kept_are_bounded():
    log = Log(SCRIPT, script_exit=1)
    for _ in range(50):
        log.worker(change=True, script_exit=1)
    assert len(log.state.judged) <= 16
