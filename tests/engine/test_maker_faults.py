"""Faults by role, limits, no progress and gates of the Maker-Verifier loop (RULES 1 and 3)."""

import pytest

from loops.engine.values import Choice, Fault, LimitName, Outcome, Role
from tests.engine.maker_log import FAIL, JUDGE, OK, SPARE, Log, config

# --- faults by role ------------------------------------------------------------------------------

AGENT = (Fault.WALL_CLOCK, Fault.SILENCE, Fault.CRASH, Fault.UNPARSEABLE)
OURS = (Fault.API_ERROR, Fault.REFUSED, Fault.CANNOT_START, Fault.WORKER_LOST)


@pytest.mark.parametrize("fault", Fault)
def test_a_fault_of_the_maker_is_no_attempt(fault):
    log = Log()
    assert log.make(fault=fault) is Outcome.INTERRUPTED
    assert log.state.attempts == 0
    assert log.next == ("ask auth" if fault is Fault.AUTH else "maker")


@pytest.mark.parametrize("fault", AGENT)
def test_a_verifier_that_fails_or_cannot_be_read_is_uncertain(fault):
    log = Log()
    log.make()
    assert log.judge(fault=fault) is Outcome.VERDICT
    assert log.next == "ask uncertain"
    assert log.state.given[0].report.feedback.startswith("It gave no verdict: ")


def test_a_verifier_that_hands_in_no_report_is_uncertain():
    log = Log()
    log.make()
    assert log.judge() is Outcome.VERDICT
    assert log.next == "ask uncertain"


def test_a_verifier_that_fails_has_no_verdict_even_if_it_handed_one_in():
    log = Log()
    log.make()
    log.judge(OK, fault=Fault.CRASH)
    assert log.next == "ask uncertain"


@pytest.mark.parametrize("fault", [*OURS, Fault.AGENT_LIMIT, Fault.CONTEXT_FULL])
def test_other_faults_repeat_the_verifiers_step(fault):
    log = Log(config(verifiers=(JUDGE, SPARE)))
    log.make()
    assert log.judge(fault=fault) is Outcome.INTERRUPTED
    assert log.next == "judge"
    assert log.state.given == ()
    assert log.due.start_from == log.tree
    assert log.due.shorter is (fault is Fault.CONTEXT_FULL)
    log.judge(OK)
    assert log.next == "done"


@pytest.mark.parametrize("fault", [*AGENT, *OURS])
def test_three_interruptions_in_a_row_ask_a_person(fault):
    log = Log()
    log.make(fault=fault)
    log.make(fault=fault)
    assert log.next == "maker"
    log.make(fault=fault)
    assert log.next == "ask infrastructure"


def test_a_success_ends_the_row_of_faults():
    log = Log()
    for _ in range(2):
        log.make(fault=Fault.CRASH)
    log.make()
    for _ in range(2):
        log.judge(fault=Fault.API_ERROR)
    assert log.next == "judge"
    log.judge(FAIL)
    log.make(fault=Fault.CRASH)
    assert log.next == "maker"


def test_a_held_verifier_waits_until_its_limit_resets():
    log = Log()
    log.make()
    log.judge(fault=Fault.AGENT_LIMIT)
    assert log.due.after_seconds > 0


def test_after_an_interruption_that_left_changes_the_maker_goes_on_from_what_stands():
    log = Log()
    log.attempt(FAIL)
    log.make(fault=Fault.CRASH)
    assert log.due.start_from is None
    assert any("is still there" in note for note in log.due.notes)
    log.make(fault=Fault.CRASH, change=False)
    assert log.due.start_from is None
    log.make()
    assert log.state.attempts == 2
    assert log.state.notes == ()


def test_after_an_interruption_without_a_change_the_maker_goes_on_from_the_last_attempt():
    log = Log()
    log.attempt(FAIL)
    tree = log.tree
    log.make(fault=Fault.CRASH, change=False)
    assert log.due.start_from == tree
    assert log.due.notes == ()


def test_what_an_interrupted_maker_left_is_not_what_a_person_is_shown():
    log = Log()
    log.attempt(FAIL)
    tree = log.tree
    for _ in range(3):
        log.make(fault=Fault.CRASH)
    assert log.next == "ask infrastructure"
    assert log.due.shown == tree


def test_notes_of_the_boundary_go_to_the_maker_alone():
    log = Log()
    log.make(notes=("paths restored",))
    assert log.due.notes == ()
    log.judge(FAIL)
    assert log.due.notes == ("paths restored",)
    log.make()
    log.judge(FAIL)
    assert log.due.notes == ()


# --- limits, no progress, gates ------------------------------------------------------------------


@pytest.mark.parametrize("turns", [1, 2])
def test_a_reached_limit_is_asked_before_the_next_step_and_shows_the_attempt(turns):
    log = Log(config(iterations=turns))
    log.make()
    if turns == 2:
        log.judge(FAIL)
    assert log.next == "ask limit"
    assert log.due.limit is LimitName.ITERATIONS
    assert log.due.shown == log.tree


def test_the_last_allowed_iteration_that_proves_done_ends_done():
    log = Log(config(iterations=2))
    log.attempt(OK)
    assert log.next == "done"


def test_mv_q5_attempts_in_a_row_without_a_change_ask_a_person():
    log = Log(config(no_progress=2))
    log.attempt(FAIL)
    for _ in range(2):
        assert log.next == "maker"
        log.make(change=False)
        log.judge(FAIL)
    assert (log.next, log.due.rule) == ("ask no_progress", "MV-Q5")


def test_an_attempt_without_a_change_that_is_approved_ends_done():
    log = Log(config(no_progress=1))
    log.attempt(FAIL)
    log.make(change=False)
    log.judge(OK)
    assert log.next == "done"


@pytest.mark.parametrize("what", ["requirement edited", "filed"])
def test_a_person_who_changes_what_counts_starts_the_count_anew(what):
    log = Log(config(no_progress=2))
    log.make(change=False)
    log.judge(FAIL)
    log.make(change=False)
    log.human(what=what)
    log.judge(FAIL)
    assert log.next == "maker"


def test_a_gate_asks_before_the_role_once():
    log = Log(config(gates=(Role.VERIFIER,)))
    log.make()
    assert log.next == "ask gate"
    assert log.due.gate is Role.VERIFIER
    assert log.due.shown == log.tree
    log.decide("gate", Choice.ALLOW)
    assert log.next == "judge"


def test_a_maker_that_may_not_run_is_asked_about_again():
    log = Log(config(gates=(Role.MAKER,)))
    log.decide("gate", Choice.DENY, text="not yet")
    assert log.next == "ask gate"
    log.decide("gate", Choice.ALLOW)
    assert log.next == "maker"
    assert log.due.notes == ("A person decided (deny): not yet",)


def test_without_the_verifier_a_person_has_to_judge():
    log = Log(config(gates=(Role.VERIFIER,)))
    log.make()
    log.decide("gate", Choice.DENY)
    assert (log.next, log.due.rule) == ("ask uncertain", "MV-Q1")
    assert log.due.shown == log.tree
    log.decide("uncertain", Choice.REJECT, attempts=0)
    assert log.due.result == log.tree
