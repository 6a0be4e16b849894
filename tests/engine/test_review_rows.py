"""What a review counts as, and what follows (RULES 4, second table), and the coach."""

import pytest

from loops.engine.outcomes import explain
from loops.engine.values import Fault, Outcome
from tests.engine.log import BUGS, CLEAN, DONE, Log, config

FOUND = {"signal": BUGS, "findings": ("B-9",), "blockers": ("B-9",)}


# --- outcome -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seen",
    [
        {"fault": Fault.CRASH, "signal": CLEAN},
        {"fault": Fault.WALL_CLOCK},
        {"fault": Fault.SILENCE},
        {"fault": Fault.UNPARSEABLE},
        {},
        {"signal": DONE},
        {"signal": CLEAN, "unjudged_left": ("B-1",)},
        {"signal": BUGS, "unjudged_left": ("B-1",), "findings": ("B-2",), "blockers": ("B-2",)},
        {"signal": CLEAN, "marks_missing": ("R-2",)},
        {"signal": BUGS},
        {"findings": ("B-2",), "blockers": ("B-2",)},
    ],
)
def test_review_stall(seen):
    assert Log().review(**seen) is Outcome.REVIEW_STALL


@pytest.mark.parametrize(
    "seen",
    [
        FOUND,
        {"signal": BUGS, "findings": ("B-9",)},
        {"signal": BUGS, "blockers": ("B-1",)},
        {"signal": BUGS, "blockers": ("B-1",), "marks_missing": ("R-1",)},
        {"signal": CLEAN, "findings": ("B-9",), "blockers": ("B-9",)},
        {"signal": CLEAN, "blockers": ("B-1",)},
    ],
)
def test_review_bugs(seen):
    assert Log().review(**seen) is Outcome.REVIEW_BUGS


@pytest.mark.parametrize("seen", [{}, {"blocked": ("B-1",)}, {"unjudged": ("B-2",)}])
def test_review_clean(seen):
    assert Log().review(signal=CLEAN, **seen) is Outcome.REVIEW_CLEAN


def test_clean_beside_a_finding_is_called_a_contradiction():
    log = Log()
    evidence = log.evidence(role="reviewer", signal=CLEAN, findings=("B-9",), blockers=("B-9",))
    assert "contradicts" in explain(evidence, Outcome.REVIEW_BUGS)
    assert "B-9" in explain(evidence, Outcome.REVIEW_BUGS)


# --- effect and next -----------------------------------------------------------------------------


def after_done():
    log = Log()
    log.worker(signal=DONE)
    assert log.next == "reviewer"
    return log


def test_review_clean_keeps_the_streak_and_is_of_the_claims_tree_and_spec():
    log = after_done()
    log.review(signal=CLEAN)
    assert log.state.streak == 1
    assert log.state.clean_review == ("tree-0", "spec-0")
    assert log.next == "worker"


def test_a_review_during_which_a_person_acted_is_no_clean_review():
    log = after_done()
    outcome = log.review(signal=CLEAN, during=lambda: log.human(edits=True))
    assert outcome is Outcome.REVIEW_CLEAN
    assert log.state.clean_review is None
    log.worker(signal=DONE)
    assert log.next == "reviewer"


def test_review_bugs_ends_streak_and_clean_review():
    log = after_done()
    log.review(signal=CLEAN)
    log.review(**FOUND)
    assert (log.state.streak, log.state.clean_review) == (0, None)
    assert log.next == "worker"


def test_a_stalled_review_is_repeated_and_says_why():
    log = after_done()
    log.review(signal=CLEAN, marks_missing=("R-7",))
    assert log.next == "reviewer"
    assert "R-7" in log.due.notes[0]
    assert log.state.streak == 1


def test_the_findings_of_a_stalled_review_count():
    log = after_done()
    log.review(signal=CLEAN)
    log.review(findings=("B-9",), blockers=("B-9",))
    assert (log.state.streak, log.state.clean_review) == (0, None)
    assert log.next == "reviewer"


def test_two_repeats_of_a_stalled_review_are_allowed():
    log = after_done()
    log.review()
    log.review()
    assert log.next == "reviewer"
    log.review()
    assert log.next == "ask review_stall"


def test_a_stalled_review_that_added_marks_does_not_count():
    log = after_done()
    log.review()
    log.review()
    log.review(signal=CLEAN, marks_added=1, marks_missing=("R-2",))
    assert log.next == "reviewer"
    log.review()
    assert log.next == "ask review_stall"


def test_a_verdict_ends_the_row_of_stalled_reviews():
    log = after_done()
    log.review()
    log.review()
    log.review(signal=CLEAN)
    log.worker(signal=DONE, unjudged=("B-1",))
    log.review()
    assert log.next == "reviewer"


@pytest.mark.parametrize("verdict", [{"signal": CLEAN}, FOUND])
def test_the_coach_comes_after_a_review_when_due(verdict):
    log = Log(config(coach_every=1))
    log.worker(signal=DONE)
    assert log.next == "reviewer"
    log.review(**verdict)
    assert log.next == "coach"


def test_without_a_coach_a_review_is_followed_by_the_worker():
    log = Log(config(coach_every=1, has_coach=False))
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    assert log.next == "worker"


def test_a_contradicting_review_is_told_so_at_its_next_prompt():
    log = after_done()
    log.review(signal=CLEAN, blockers=("B-1",))
    assert log.next == "worker"
    assert log.due.notes == ()
    log.worker(signal=DONE)
    assert "B-1" in log.due.notes[0]


# --- the coach -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seen",
    [{"guidance": 3}, {}]
    + [{"fault": f} for f in (Fault.CRASH, Fault.WALL_CLOCK, Fault.SILENCE, Fault.UNPARSEABLE)],
)
def test_the_coach_keeps_the_streak_and_hands_over_to_the_worker(seen):
    log = Log(config(coach_every=1))
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    assert log.turn(**seen) is Outcome.COACH
    assert log.state.streak == 1
    assert log.next == "worker"
    log.worker(signal=DONE)
    assert log.next == "no_op"


def test_the_coach_is_gone_when_a_new_configuration_has_none():
    log = Log(config(coach_every=1))
    log.worker(change=True)
    assert log.next == "coach"
    log.configure(config(has_coach=False))
    assert log.next == "worker"
