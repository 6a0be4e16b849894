"""Criteria: frozen with a plan, carried over into the next, out of date after an edit (RULES 2)."""

import hashlib

import pytest

from loops.engine.contracts import Criterion, criteria_hash
from loops.engine.feedback import is_out_of_date
from loops.engine.values import Role, Snapshot
from tests.engine.feedback_log import BASE, FAIL, OK, REPLAN, RETRY, UNCERTAIN, Log, config

ONE, TWO = Criterion("", "It answers 404.", "R-1"), Criterion("", "It is fast.", "R-2")
OWN = Criterion("", "It is tidy.")


def words(log):
    return [(one.key, one.words, one.traces) for one in log.state.criteria]


def test_criteria_get_keys_of_their_own_in_order():
    log = Log()
    log.think(criteria=(ONE, TWO, OWN, Criterion("", "  ")))
    assert words(log) == [
        ("C-1", "It answers 404.", "R-1"),
        ("C-2", "It is fast.", "R-2"),
        ("C-3", "It is tidy.", ""),
    ]


def test_a_replan_keeps_every_criterion_that_traces_to_a_requirement():
    log = Log()
    log.think(criteria=(ONE, OWN, TWO))
    log.attempt(FAIL, REPLAN)
    log.think(criteria=(Criterion("", "It answers within 10 ms.", "R-2"),))
    assert words(log) == [
        ("C-1", "It answers within 10 ms.", "R-2"),  # rewritten, not dropped
        ("C-2", "It answers 404.", "R-1"),  # carried over
    ]
    assert any("It answers 404." in note.text for note in log.state.notes)
    assert log.state.plan_number == 2


def test_what_was_carried_over_must_hold_too():
    log = Log()
    log.think(criteria=(ONE,))
    log.attempt(FAIL, REPLAN)
    log.think(criteria=(OWN,))
    log.attempt(OK, criteria=("C-1",))
    assert log.next == "ask uncertain"


def test_the_hash_names_keys_words_and_traces_and_nothing_else_has_it():
    log = Log()
    log.think(criteria=(ONE,))
    first = criteria_hash(log.state.criteria)
    frozen = '[["C-1","It answers 404.","R-1"]]'
    assert first == hashlib.sha256(frozen.encode()).hexdigest()
    for other in (Criterion("C-1", "x", "R-1"), Criterion("C-1", "It answers 404.", "R-2")):
        assert criteria_hash((other,)) != first


# --- out of date ---------------------------------------------------------------------------------


def test_an_edit_during_the_thinker_s_call_is_one_that_it_did_not_read():
    log = Log()
    log.think(during=lambda: log.human(edits=True))
    log.attempt(OK)
    assert log.next == "ask spec_changed"


def test_an_edit_before_the_thinker_s_call_is_in_its_plan():
    log = Log()
    log.human(edits=True)
    log.attempt(OK)
    assert log.next == "done"


@pytest.mark.parametrize("when", ["work", "verify"])
def test_an_edit_during_an_attempt_or_its_verdict_counts(when):
    log = Log()
    log.think()
    edit = {"during": lambda: log.human(edits=True)}
    log.work(**(edit if when == "work" else {}))
    log.verify(OK, **(edit if when == "verify" else {}))
    assert log.next == "ask spec_changed"


def test_a_new_plan_after_the_edit_clears_it():
    log = Log()
    log.think()
    log.human(edits=True)
    log.attempt(FAIL, REPLAN)
    log.attempt(OK)
    assert log.next == "done"


def test_an_edit_takes_a_proved_end_back():
    log = Log()
    log.attempt(OK)
    assert log.next == "done"
    log.human(edits=True)
    assert log.next == "ask spec_changed"
    assert log.due.shown == Snapshot("tree-1", "commit-1")
    log.decide("approve")
    assert log.next == "human_approved"


def test_another_human_event_takes_nothing_back():
    log = Log()
    log.attempt(OK)
    log.human()
    assert log.next == "done"


# --- a fork --------------------------------------------------------------------------------------


def test_a_fork_keeps_what_was_learnt_and_counts_from_zero():
    log = Log(config(retries=1, reassigns=0))
    log.think("coder")
    log.attempt(FAIL, RETRY, feedback="It answers 500.", seen={"tokens": 7, "money": 1.0})
    log.work(notes=("a server was still running",))
    base = Snapshot("tree-9", "commit-9")
    log.fork(base)
    state = log.state
    assert (log.next, log.rule) == ("worker coder", "TWV-F")
    assert log.due.start_from == base
    assert words(log)[0] == ("C-1", "It answers 404.", "R-1")
    assert "It answers 500." in state.feedback[0].text
    assert state.own[-1].text == "a server was still running"
    assert (state.retried, state.attempts, state.iterations, state.tokens) == (0, 0, 0, 0)
    assert (state.money, state.best, state.attempt, state.given) == (0.0, None, None, ())


def test_a_fork_before_any_plan_starts_with_the_thinker():
    log = Log()
    log.fork()
    assert log.next == "thinker"


def test_a_fork_of_a_session_that_waited_or_ended_goes_on():
    for status in (UNCERTAIN, OK):
        log = Log()
        log.attempt(status)
        log.fork()
        assert log.next == "worker writer"
        log.attempt(OK)
        assert log.next == "done"


def test_a_requirement_that_changed_between_the_copied_log_and_the_fork_is_noticed():
    log = Log()
    log.think()
    log.fork(BASE)
    log.spec = "spec-of-today"  # no entry of this log tells of the edit
    assert not is_out_of_date(log.state)
    log.attempt(OK)
    assert log.next == "ask spec_changed"


def test_a_no_op_fork_is_measured_from_its_own_base():
    log = Log()
    log.attempt(FAIL, RETRY)
    log.fork(Snapshot("tree-1", "commit-1"))
    log.turn(Role.WORKER)
    log.verify(OK)
    assert log.next == "no_op"
