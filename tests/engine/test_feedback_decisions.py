"""What a person's decision does to a Thinker-Worker-Verifier session (RULES 6)."""

import pytest

from loops.engine.feedback import attempts_at_most
from loops.engine.values import (
    Choice,
    Fault,
    Role,
    Snapshot,
)
from tests.engine.feedback_log import (
    BASE,
    FAIL,
    OK,
    REASSIGN,
    RETRY,
    UNCERTAIN,
    Log,
    asked,
    config,
)

FIRST = Snapshot("tree-1", "commit-1")
ON_AN_ATTEMPT = ["uncertain", "verifier_conflict", "exhausted", "spec_changed"]
OTHERS = ["infrastructure", "auth", "no_progress", "limit", "gate"]


# --- ends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ON_AN_ATTEMPT + OTHERS)
@pytest.mark.parametrize(
    ("choice", "end"),
    [("approve", "human_approved"), ("edit", "human_edited"), ("stop", "stopped")],
)
def test_decisions_that_end_the_session_keep_what_was_shown(kind, choice, end):
    log = asked(kind)
    shown = log.due.shown
    log.decide(choice)
    assert log.next == end
    assert log.due.result == shown
    log.human(edits=True)
    assert log.next == end


@pytest.mark.parametrize("kind", ON_AN_ATTEMPT)
def test_a_question_about_an_attempt_shows_its_tree(kind):
    assert asked(kind).due.shown == FIRST


def test_edit_ends_with_the_person_s_commit_on_top():
    log = asked("uncertain")
    edited = Snapshot("tree-p", "commit-p")
    log.decide("edit", result=edited)
    assert log.due.result == edited


# --- reject --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ON_AN_ATTEMPT)
def test_reject_grants_attempts_to_the_same_worker_and_tells_it_why(kind):
    log = asked(kind)
    before, last = attempts_at_most(log.state), log.state.attempt
    log.decide("reject", attempts=2, text="The error text is wrong.")
    assert (log.next, log.rule) == ("worker writer", "TWV-4")
    assert log.due.start_from == last
    assert any("The error text is wrong." in note for note in log.due.notes)
    assert attempts_at_most(log.state) == before + 2
    assert log.state.feedback[-1].text == "The error text is wrong."


@pytest.mark.parametrize("kind", ON_AN_ATTEMPT)
def test_reject_without_a_further_attempt_ends_exhausted_with_the_best_output(kind):
    log = asked(kind)
    log.decide("reject", attempts=0, text="Enough.")
    assert log.next == "exhausted"
    assert log.due.result == FIRST
    assert "not verified" in log.due.sentence
    log.human(edits=True)
    assert log.next == "exhausted"


@pytest.mark.parametrize("kind", OTHERS)
def test_reject_on_another_question_grants_attempts_for_later(kind):
    log = asked(kind)
    before = attempts_at_most(log.state)
    log.decide("reject", attempts=1)
    assert log.state.extra == 1
    assert attempts_at_most(log.state) == before + 1


def test_after_granted_attempts_are_used_up_exhausted_is_asked_again():
    log = asked("exhausted")
    log.decide("reject", attempts=1)
    log.attempt(FAIL, RETRY)
    assert log.next == "ask exhausted"


# --- replan, reassign, amend ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ON_AN_ATTEMPT)
@pytest.mark.parametrize(("choice", "rule"), [(Choice.REPLAN, "TWV-D2"), (Choice.AMEND, "TWV-D4")])
def test_replan_and_amend_give_one_more_attempt_and_move_no_counter(kind, choice, rule):
    log = asked(kind)
    before = attempts_at_most(log.state)
    counters = (log.state.retried, log.state.reassigned, log.state.replanned)
    if choice is Choice.AMEND:
        log.human(edits=True)
    log.decide(choice, text="Think of the cache.")
    assert (log.next, log.rule) == ("thinker", rule)
    assert any("Think of the cache." in note for note in log.due.notes)
    log.think("coder")
    assert log.next == "worker coder"
    assert log.due.start_from == BASE
    assert attempts_at_most(log.state) <= before + 1
    assert (log.state.retried, log.state.reassigned, log.state.replanned) == counters


def test_after_a_replan_that_a_person_asked_for_nothing_is_left_to_try_anew():
    log = asked("exhausted")
    log.decide("replan")
    log.attempt(FAIL, REASSIGN)
    assert log.next == "ask exhausted"


def test_an_amendment_is_met_by_the_new_plan():
    log = asked("spec_changed")
    log.human(edits=True)
    log.decide("amend")
    log.attempt(OK)
    assert log.next == "done"


def test_a_person_s_replan_opens_no_new_round_of_reassignments():
    log = Log(config(pool=("writer", "coder"), retries=0, reassigns=9, replans=0))
    log.attempt(FAIL, REASSIGN)
    log.attempt(UNCERTAIN)
    assert attempts_at_most(log.state) == 1
    log.decide("replan")
    assert attempts_at_most(log.state) == 2
    log.think("writer")
    log.attempt(FAIL, REASSIGN)
    assert log.rule == "TWV-11"


@pytest.mark.parametrize("kind", ON_AN_ATTEMPT)
def test_reassign_lets_the_named_worker_start_from_the_base(kind):
    log = asked(kind)
    log.decide("reassign", worker="analyst", text="Somebody else.")
    assert (log.next, log.rule) == ("worker analyst", "TWV-D3")
    assert log.due.start_from == BASE
    assert log.state.reassigned == 0
    assert any("Somebody else." in note for note in log.due.notes)


def test_a_worker_outside_the_pool_is_refused_and_the_pool_named():
    log = asked("uncertain")
    with pytest.raises(ValueError, match="writer, coder, analyst"):
        log.decide("reassign", worker="somebody")


def test_before_there_is_a_plan_a_reassignment_changes_nothing():
    log = Log()
    log.turn(Role.THINKER, fault=Fault.AUTH)
    log.decide("reassign", worker="coder")
    assert log.next == "thinker"


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("choice", [Choice.REPLAN, Choice.AMEND, Choice.REASSIGN])
def test_on_every_other_question_they_never_add_more_than_one_attempt(kind, choice):
    log = asked(kind)
    before = attempts_at_most(log.state)
    log.decide(choice, worker="coder")
    step = log.state.step
    assert (step.role, step.agent) == (
        (Role.WORKER, "coder") if choice is Choice.REASSIGN else (Role.THINKER, "")
    )
    assert attempts_at_most(log.state) <= before + 1


# --- what is no decision on the open question ----------------------------------------------------


@pytest.mark.parametrize("choice", ["reject", "replan", "reassign", "amend", "retry", "allow"])
def test_a_decision_on_another_question_changes_nothing_but_words(choice):
    log = asked("uncertain")
    log.decide(choice, kind="blocked", worker="coder", attempts=3, text="By the way.")
    assert log.next == "ask uncertain"
    assert log.state.extra == 0
    log.decide("replan")
    assert any("By the way." in note for note in log.due.notes)


def test_what_does_not_settle_an_attempt_leaves_the_question_open():
    log = asked("uncertain")
    log.decide("retry")
    assert log.next == "ask uncertain"


def test_words_of_a_person_reach_the_next_call_of_thinker_and_worker_and_no_verifier():
    log = asked("uncertain")
    log.decide("replan", text="Mind the cache.")
    assert any("Mind the cache." in note for note in log.due.notes)
    log.think()
    assert any("Mind the cache." in note for note in log.due.notes)
    log.work()
    assert log.due.notes == ()
    log.verify(FAIL, RETRY)
    assert log.due.notes == ()
