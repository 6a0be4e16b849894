"""What a worker's iteration counts as, and what follows (RULES 4, first table)."""

import pytest

from loops.engine.values import Fault, Outcome
from tests.engine.log import CLEAN, DONE, NOT_DONE, Log, config

AGENT_FAULTS = [Fault.WALL_CLOCK, Fault.SILENCE, Fault.CRASH, Fault.UNPARSEABLE]


# --- outcome -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", AGENT_FAULTS)
def test_stall_when_the_agent_failed_even_if_it_worked_and_signalled(fault):
    assert Log().worker(fault=fault, change=True, signal=DONE) is Outcome.STALL


def test_stall_without_change_and_signal():
    assert Log().worker() is Outcome.STALL


def test_conflict_when_done_comes_with_a_changed_tree():
    assert Log().worker(signal=DONE, change=True, blockers=("B-1",)) is Outcome.CONFLICT


def test_committing_leftovers_is_no_conflict():
    assert Log().worker(signal=DONE, commit=True) is Outcome.DONE


def test_moved_test_leftovers_are_no_conflict():
    # The boundary has moved them away: the tree is the one before, only the note tells.
    log = Log()
    assert log.worker(signal=DONE, notes=("junk.tmp was moved away",)) is Outcome.DONE
    assert "junk.tmp was moved away" in log.due.notes


@pytest.mark.parametrize("open_", [{"blockers": ("T-1",)}, {"uncommitted": ("a.py",)}])
def test_rejected_when_done_comes_too_early(open_):
    assert Log().worker(signal=DONE, **open_) is Outcome.REJECTED


def test_done():
    assert Log().worker(signal=DONE, unjudged=("B-1",), blocked=("B-2",)) is Outcome.DONE


@pytest.mark.parametrize(
    "seen", [{"change": True}, {"commit": True}, {"moved": True}, {"signal": NOT_DONE}]
)
def test_work_is_a_change_without_done_or_not_done(seen):
    assert Log().worker(**seen) is Outcome.WORK


# --- effect --------------------------------------------------------------------------------------


def reviewed_once():
    """One done and the clean review after it."""
    log = Log()
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    assert log.state.streak == 1
    assert log.state.clean_review == ("tree-0", "spec-0")
    return log


@pytest.mark.parametrize(
    "seen",
    [
        {"fault": Fault.CRASH},
        {},
        {"signal": DONE, "change": True},
        {"signal": DONE, "blockers": ("B-1",)},
        {"change": True},
        {"signal": NOT_DONE},
    ],
)
def test_every_outcome_but_done_ends_the_streak(seen):
    log = reviewed_once()
    log.worker(**seen)
    assert log.state.streak == 0


def test_a_change_takes_the_clean_review_back():
    for seen in ({"change": True}, {"moved": True}, {"change": True, "signal": DONE}):
        log = reviewed_once()
        log.worker(**seen)
        assert log.state.clean_review is None


def test_without_a_change_the_clean_review_holds():
    log = reviewed_once()
    log.worker(signal=NOT_DONE)
    assert log.state.clean_review == ("tree-0", "spec-0")


def test_a_done_during_which_a_person_acted_does_not_count():
    log = Log()
    assert log.worker(signal=DONE, during=log.human) is Outcome.DONE
    assert log.state.streak == 0
    assert log.next == "reviewer"


def test_leftovers_of_a_stalled_worker_are_told_to_the_next():
    log = Log()
    log.worker(fault=Fault.WALL_CLOCK, change=True)
    assert any("is still there" in note for note in log.due.notes)


def test_a_conflict_shows_rule_and_paths_to_the_next_worker_even_after_a_review():
    log = Log(config(review_every=1))
    log.worker(signal=DONE, change=True, changed_paths=("src/a.py",))
    assert log.next == "reviewer"
    assert log.due.notes == ()
    log.review(signal=CLEAN)
    assert "src/a.py" in log.due.notes[0]
    assert "dropped" in log.due.notes[0]
    log.worker(change=True)
    assert log.due.notes == ()


def test_a_rejected_done_says_why_with_the_words_of_the_hook():
    log = Log()
    log.worker(signal=DONE, blockers=("B-1",), uncommitted=("a.py",), notes=("hook: no tests",))
    assert log.next == "worker"
    text = " ".join(log.due.notes)
    assert "B-1" in text
    assert "a.py" in text
    assert "hook: no tests" in text


# --- next ----------------------------------------------------------------------------------------


def test_three_stalls_in_a_row_call_the_coach_and_are_forgotten():
    log = Log()
    log.worker()
    log.worker()
    assert log.next == "worker"
    log.worker()
    assert log.next == "coach"
    assert log.state.stalls == 0


def test_a_stall_in_between_is_no_row():
    log = Log()
    log.worker()
    log.worker()
    log.worker(signal=NOT_DONE)
    log.worker()
    assert log.next == "worker"


def test_without_a_coach_the_worker_goes_on_after_three_stalls():
    log = Log(config(has_coach=False))
    for _ in range(3):
        log.worker()
    assert log.next == "worker"


def test_a_stall_and_a_rejected_done_go_to_the_worker_though_the_coach_is_due():
    for seen in ({}, {"signal": DONE, "blockers": ("B-1",)}):
        log = Log(config(coach_every=1))
        log.worker(**seen)
        assert log.next == "worker"


@pytest.mark.parametrize("signal", [None, DONE])
def test_a_review_after_n_pieces_of_work_conflicts_included(signal):
    log = Log(config(review_every=3))
    for _ in range(2):
        log.worker(change=True)
        assert log.next == "worker"
    log.worker(change=True, signal=signal)
    assert log.next == "reviewer"


def test_a_review_when_the_list_is_empty_and_a_fix_waits():
    log = Log()
    log.worker(change=True, blockers=("B-2",), unjudged=("B-1",))
    assert log.next == "worker"
    log.worker(change=True, unjudged=("B-1", "B-2"))
    assert log.next == "reviewer"


def test_the_count_of_work_starts_anew_after_a_review():
    log = Log(config(review_every=2))
    log.worker(change=True)
    log.worker(change=True)
    log.review(signal=CLEAN)
    log.worker(change=True)
    assert log.next == "worker"


def test_the_coach_comes_every_c_worker_iterations_but_after_a_due_review():
    log = Log(config(review_every=2, coach_every=2))
    log.worker(change=True)
    log.worker(change=True)
    assert log.next == "reviewer"
    log.review(signal=CLEAN)
    assert log.next == "coach"
    log.coach(guidance=1)
    assert log.next == "worker"
    log.worker(change=True)
    assert log.next == "worker"


def test_work_goes_to_the_coach_when_due():
    log = Log(config(coach_every=2))
    log.worker(change=True)
    log.worker(change=True)
    assert log.next == "coach"
