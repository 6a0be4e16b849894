"""Limits, faults and gates: when the pending step waits, and how it goes on (RULES 1, 2 and 6)."""

import pytest

from loops.engine import feedback
from loops.engine.feedback import attempts_at_most
from loops.engine.values import (
    Fault,
    LimitName,
    Limits,
    Outcome,
    Role,
    Snapshot,
    Verifier,
)
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
    Log,
    asked,
    config,
    plan,
    report,
)

FIRST = Snapshot("tree-1", "commit-1")


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("iterations", Limits(iterations=2)),
        ("wall_seconds", Limits(wall_seconds=10)),
        ("tokens", Limits(tokens=100)),
        ("money", Limits(money=1.5)),
    ],
)
def test_a_grant_leads_to_the_pending_step(name, limits):
    log = Log(config(limits=limits))
    log.think()
    log.work(active_seconds=10, tokens=100, money=1.5)
    assert log.next == "ask limit"
    assert log.due.limit is LimitName(name)
    log.decide("grant", grants={name: 1})
    assert log.next == "verifier judge"


def test_a_limit_reached_with_the_last_verdict_does_not_stop_the_end():
    log = Log(config(iterations=3))
    log.attempt(OK)
    assert log.next == "done"


def test_a_no_progress_decision_counts_anew_and_the_pending_step_stands():
    log = asked("no_progress")
    log.decide("grant")
    assert (log.next, log.rule, log.state.idle) == ("worker writer", "TWV-7", 0)


@pytest.mark.parametrize("kind", ["infrastructure", "auth"])
@pytest.mark.parametrize("choice", ["retry", "change"])
def test_after_a_fault_the_same_step_runs_again(kind, choice):
    log = asked(kind)
    start = Snapshot("tree-1", "commit-1")
    log.decide(choice)
    assert (log.next, log.due.start_from) == ("worker writer", start)
    assert log.state.faults == 0
    assert not log.state.auth_failed


def test_a_step_whose_worker_left_the_pool_is_taken_by_another():
    log = asked("infrastructure")
    log.configure(pool=("coder", "analyst"))
    log.decide("change")
    assert log.next == "worker coder"


def test_a_step_whose_verifier_is_gone_is_taken_by_the_next():
    other = Verifier(name="other")
    log = Log(config(verifiers=(JUDGE, other)))
    log.think()
    log.work()
    log.turn(Role.VERIFIER, fault=Fault.AUTH)
    log.configure(verifiers=(other,))
    log.decide("change", kind="auth")
    assert log.next == "verifier other"


def test_when_the_last_open_verifier_is_gone_the_others_decide():
    other = Verifier(name="other")
    log = Log(config(verifiers=(JUDGE, other)))
    log.think()
    log.work()
    log.verify(OK)
    log.turn(Role.VERIFIER, fault=Fault.AUTH)
    log.configure(verifiers=(JUDGE,))
    log.decide("change", kind="auth")
    assert log.next == "done"


def test_a_gate_asks_before_each_turn_of_the_role_and_allow_lets_it_run_once():
    log = Log(config(gates=(Role.THINKER,)))
    assert log.next == "ask gate"
    assert log.due.gate is Role.THINKER
    log.decide("allow")
    assert log.next == "thinker"
    log.attempt(FAIL, RETRY)
    assert log.next == "worker writer"


@pytest.mark.parametrize("role", [Role.THINKER, Role.WORKER])
def test_a_thinker_or_worker_that_may_not_run_is_asked_about_again(role):
    log = Log(config(gates=(role,)))
    if role is Role.WORKER:
        log.think()
    log.decide("deny", text="Wait for the release.")
    assert log.next == "ask gate"
    log.decide("allow")
    assert log.due.role is role
    assert any("Wait for the release." in note for note in log.due.notes)


def test_a_verifier_that_may_not_run_leaves_the_attempt_to_the_person():
    log = Log(config(gates=(Role.VERIFIER,), verifiers=(JUDGE, SECOND)))
    log.think()
    log.work()
    log.decide("deny")
    assert log.next == "ask uncertain"
    assert log.due.shown == FIRST
    log.decide("reject", attempts=1)
    assert log.rule == "TWV-4"


# --- faults by role (RULES 1) --------------------------------------------------------------------

AGENT_FAULTS = [Fault.WALL_CLOCK, Fault.SILENCE, Fault.CRASH, Fault.UNPARSEABLE]
OUTER_FAULTS = [Fault.API_ERROR, Fault.REFUSED, Fault.CANNOT_START, Fault.WORKER_LOST]


def due_for(role):
    log = Log()
    if role is not Role.THINKER:
        log.think()
    if role is Role.VERIFIER:
        log.work()
    return log


@pytest.mark.parametrize("fault", [*AGENT_FAULTS, *OUTER_FAULTS])
@pytest.mark.parametrize("role", [Role.THINKER, Role.WORKER])
def test_a_fault_of_thinker_or_worker_repeats_the_step_and_uses_no_attempt(role, fault):
    log = due_for(role)
    due, left = log.next, attempts_at_most(log.state)
    assert log.turn(role, fault=fault) is Outcome.INTERRUPTED
    assert (log.next, log.rule) == (due, "F-1")
    assert (log.attempts, attempts_at_most(log.state)) == (0, left)
    log.turn(role, fault=fault)
    log.turn(role, fault=fault)
    assert log.next == "ask infrastructure"


@pytest.mark.parametrize("fault", AGENT_FAULTS)
def test_a_verifier_that_fails_leaves_the_attempt_uncertain(fault):
    log = Log(config(verifiers=(JUDGE, SECOND)))
    log.think()
    log.work()
    assert log.turn(Role.VERIFIER, fault=fault) is Outcome.VERDICT
    assert (log.next, log.rule) == ("verifier second", "TWV-2")
    assert log.turn(Role.VERIFIER, fault=fault) is Outcome.VERDICT
    assert log.next == "ask uncertain"


def test_a_verifier_without_a_report_leaves_the_attempt_uncertain():
    log = due_for(Role.VERIFIER)
    assert log.verify(None) is Outcome.VERDICT
    assert log.next == "ask uncertain"
    assert "gave no report" in log.state.feedback[-1].text


@pytest.mark.parametrize("fault", OUTER_FAULTS)
def test_a_verifier_that_could_not_run_is_asked_again(fault):
    log = due_for(Role.VERIFIER)
    assert log.turn(Role.VERIFIER, fault=fault) is Outcome.INTERRUPTED
    assert (log.next, log.rule) == ("verifier judge", "F-1")


@pytest.mark.parametrize("role", [Role.THINKER, Role.WORKER, Role.VERIFIER])
def test_refused_credentials_ask_at_once(role):
    log = due_for(role)
    log.turn(role, fault=Fault.AUTH)
    assert log.next == "ask auth"


@pytest.mark.parametrize("role", [Role.THINKER, Role.WORKER, Role.VERIFIER])
def test_an_agent_s_own_limit_holds_the_step_and_the_twentieth_hold_asks(role):
    log = due_for(role)
    due = log.next
    for _ in range(19):
        log.turn(role, fault=Fault.AGENT_LIMIT, resets_in=7.0)
        assert (log.next, log.rule, log.due.after_seconds) == (due, "F-3", 7.0)
    log.turn(role, fault=Fault.AGENT_LIMIT)
    assert log.next == "ask infrastructure"


@pytest.mark.parametrize("role", [Role.THINKER, Role.WORKER, Role.VERIFIER])
def test_a_full_context_is_tried_once_with_less(role):
    log = due_for(role)
    log.turn(role, fault=Fault.CONTEXT_FULL)
    assert log.due.shorter
    log.turn(role, fault=Fault.CONTEXT_FULL)
    assert log.next == "ask infrastructure"


def test_a_success_ends_the_row_of_faults():
    log = due_for(Role.THINKER)
    for _ in range(2):
        log.turn(Role.THINKER, fault=Fault.CRASH)
    log.think()
    log.work(change=False, fault=Fault.CRASH)
    assert log.next == "worker writer"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (None, "handed in no plan"),
        (plan("somebody"), "somebody; the pool is: writer, coder, analyst"),
        (plan(alternative_workers=("nobody",)), "nobody; the pool is"),
        (plan(criteria=()), "no success criterion"),
    ],
)
def test_a_reply_that_is_no_plan_is_refused_and_the_thinker_told_why(made, words):
    log = Log()
    assert log.turn(Role.THINKER, plan=made) is Outcome.INTERRUPTED
    assert (log.next, log.rule) == ("thinker", "F-1")
    assert any(words in note for note in log.due.notes)
    for _ in range(2):
        log.turn(Role.THINKER, plan=made)
    assert log.next == "ask infrastructure"


def test_what_an_interrupted_worker_left_stays_for_its_next_call():
    log = due_for(Role.WORKER)
    log.work(fault=Fault.CRASH)
    assert log.next == "worker writer"
    assert log.due.start_from is None
    assert "What it changed is still there." in log.state.own[-1].text
    log.work(change=False, fault=Fault.CRASH)
    assert log.due.start_from is None


def test_an_interrupted_worker_that_left_nothing_starts_where_it_should_have():
    log = Log()
    log.attempt(FAIL, REASSIGN)
    log.work(change=False, fault=Fault.CANNOT_START)
    assert log.due.start_from == BASE


def test_a_role_of_another_pattern_has_no_part_here():
    with pytest.raises(ValueError, match="coach"):
        feedback.classify(Log().state, Log().evidence(Role.COACH))


@pytest.mark.parametrize(
    ("role", "seen", "words"),
    [
        (Role.THINKER, {"plan": plan("coder")}, "plan for coder, with success criteria: 2"),
        (Role.THINKER, {}, "handed in no plan"),
        (Role.THINKER, {"plan": plan("somebody")}, "plan was refused"),
        (Role.THINKER, {"fault": Fault.CRASH}, "it crashed"),
        (Role.WORKER, {"change": True}, "changed the tree"),
        (Role.WORKER, {}, "left the tree as it was"),
        (Role.WORKER, {"fault": Fault.SILENCE, "change": True}, "What it changed is still there."),
        (Role.VERIFIER, {"report": report(OK)}, "OK, score 5."),
        (Role.VERIFIER, {"report": report(FAIL, REPLAN)}, "it recommends REPLAN."),
        (Role.VERIFIER, {"report": report(FAIL, FINISH)}, "contradicts a FAIL"),
        (Role.VERIFIER, {"report": report(FAIL)}, "recommends nothing, which contradicts"),
        (Role.VERIFIER, {"fault": Fault.CRASH}, "it crashed. It counts as UNCERTAIN."),
        (Role.VERIFIER, {}, "gave no report. It counts as UNCERTAIN."),
        (Role.VERIFIER, {"fault": Fault.API_ERROR}, "the model's service failed"),
    ],
)
def test_each_outcome_says_why(role, seen, words):
    log = due_for(role)
    evidence = log.evidence(role, **seen)
    assert words in feedback.explain(evidence, feedback.classify(log.state, evidence))
