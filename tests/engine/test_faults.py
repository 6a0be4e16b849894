"""Faults by role (RULES 1): never a verdict, the same step again, a person when it goes on."""

import pytest

from loops.engine.values import Fault, Outcome, Role
from tests.engine.log import CLEAN, DONE, NOT_DONE, Log, config

REPEATED = [Fault.API_ERROR, Fault.REFUSED, Fault.CANNOT_START, Fault.WORKER_LOST]
AGENTS_OWN = [Fault.WALL_CLOCK, Fault.SILENCE, Fault.CRASH, Fault.UNPARSEABLE]
ROLES = [Role.WORKER, Role.REVIEWER, Role.COACH]
TABLE = {
    **{(fault, role): Outcome.INTERRUPTED for fault in Fault for role in ROLES},
    **{(fault, Role.WORKER): Outcome.STALL for fault in AGENTS_OWN},
    **{(fault, Role.REVIEWER): Outcome.REVIEW_STALL for fault in AGENTS_OWN},
    **{(fault, Role.COACH): Outcome.COACH for fault in AGENTS_OWN},
}


def due(role):
    """A session in which `role` is due."""
    log = Log(config(coach_every=1))
    if role is not Role.WORKER:
        log.worker(signal=DONE, notes=("mind the gap",))
    if role is Role.COACH:
        log.review(signal=CLEAN)
    assert log.due.role is role
    return log


@pytest.mark.parametrize(("fault", "role"), TABLE)
def test_each_cell_of_the_table(fault, role):
    assert due(role).turn(fault=fault, signal=DONE) is TABLE[fault, role]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("fault", REPEATED)
def test_an_interrupted_step_is_repeated_with_growing_waits_then_a_person_is_asked(fault, role):
    log = due(role)
    notes, waits = log.due.notes, []
    for _ in range(2):
        log.turn(fault=fault)
        assert log.due.role is role
        assert log.due.notes == notes
        waits.append(log.due.after_seconds)
    if fault is Fault.WORKER_LOST:  # our own death: at once
        assert waits == [0, 0]
    else:
        assert 0 < waits[0] < waits[1]
    log.turn(fault=fault)
    assert log.next == "ask infrastructure"


def test_a_success_ends_the_row_of_faults():
    log = Log()
    for _ in range(2):
        log.worker(fault=Fault.API_ERROR)
    log.worker(change=True)
    assert log.due.after_seconds == 0
    log.worker(fault=Fault.API_ERROR)
    log.worker(fault=Fault.API_ERROR)
    assert log.next == "worker"


def test_an_interrupted_step_without_a_change_keeps_the_proof():
    log = Log()
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(fault=Fault.API_ERROR)
    assert log.state.streak == 1
    log.worker(signal=DONE)
    assert log.next == "no_op"


@pytest.mark.parametrize("left", [{"change": True}, {"commit": True}, {"moved": True}])
def test_what_an_interrupted_step_left_behind_ends_the_proof_and_is_told(left):
    log = Log()
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(fault=Fault.WORKER_LOST, **left)
    assert (log.state.streak, log.state.clean_review) == (0, None)
    assert any("is still there" in note for note in log.due.notes)


def test_an_interrupted_review_with_a_finding_ends_the_proof():
    log = Log()
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.review(fault=Fault.API_ERROR, findings=("B-1",), blockers=("B-1",))
    assert (log.state.streak, log.state.clean_review) == (0, None)


def test_faults_are_no_worker_iterations_without_progress():
    log = Log(config(no_progress=2, coach_every=2))
    log.worker(signal=NOT_DONE)
    for _ in range(5):
        log.worker(fault=Fault.AGENT_LIMIT, resets_in=1)
    assert log.state.idle == 1
    assert log.state.workers_since_coach == 1
    assert log.next == "worker"


def test_an_interrupted_iteration_counts_against_the_limit_of_iterations():
    log = Log(config(iterations=2))
    log.worker(fault=Fault.API_ERROR)
    log.worker(fault=Fault.API_ERROR)
    assert log.next == "ask limit"


# --- the agent's own limit -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resets_in", "wait"), [(None, 300), (42.0, 42), (0.0, 1), (-5.0, 1), (86_400.0, 86_400)]
)
@pytest.mark.parametrize("role", ROLES)
def test_a_limited_agent_is_held_until_its_limit_resets(role, resets_in, wait):
    log = due(role)
    log.turn(fault=Fault.AGENT_LIMIT, resets_in=resets_in)
    assert (log.due.role, log.due.after_seconds, log.due.rule.value) == (role, wait, "F-3")


def test_holds_are_no_faults_in_a_row_but_twenty_of_them_ask():
    log = Log()
    for _ in range(19):
        log.worker(fault=Fault.AGENT_LIMIT, resets_in=10)
        assert log.next == "worker"
    log.worker(fault=Fault.AGENT_LIMIT, resets_in=10)
    assert log.next == "ask infrastructure"


def test_a_reset_more_than_a_day_away_asks_at_once():
    log = Log()
    log.worker(fault=Fault.AGENT_LIMIT, resets_in=86_401)
    assert log.next == "ask infrastructure"


def test_a_success_ends_the_row_of_holds():
    log = Log()
    for _ in range(19):
        log.worker(fault=Fault.AGENT_LIMIT)
    log.worker(change=True)
    log.worker(fault=Fault.AGENT_LIMIT)
    assert log.next == "worker"


# --- context, credentials ------------------------------------------------------------------------


@pytest.mark.parametrize("role", ROLES)
def test_a_full_context_is_tried_once_more_and_shorter(role):
    log = due(role)
    log.turn(fault=Fault.CONTEXT_FULL)
    assert (log.due.role, log.due.shorter) == (role, True)
    log.turn(fault=Fault.CONTEXT_FULL)
    assert log.next == "ask infrastructure"


def test_the_prompt_after_a_shortened_one_is_whole_again():
    log = Log()
    log.worker(fault=Fault.CONTEXT_FULL)
    log.worker(change=True)
    assert log.due.shorter is False


@pytest.mark.parametrize("role", ROLES)
def test_refused_credentials_ask_at_once(role):
    log = due(role)
    log.turn(fault=Fault.AUTH)
    assert log.next == "ask auth"
