"""What each decision of a person does to a Maker-Verifier session (RULES 6)."""

import pytest

from loops.engine.contracts import Criterion, Judgement, Verifier
from loops.engine.maker_verifier import attempts_at_most
from loops.engine.values import Choice, EndReason, Fault, Limits, Role, Snapshot
from tests.engine.maker_log import CRITERIA, FAIL, JUDGE, OK, SPARE, UNCERTAIN, Log, config

NEW = (Criterion("C-1", "it adds whole numbers", "R-1"),)
FIRST, SECOND = Snapshot("tree-1", "commit-1"), Snapshot("tree-2", "commit-2")


def at(kind):
    """A session that asks a question of that kind after two attempts; the first is the best."""
    other = (Verifier(name="other"),) if kind == "verifier_conflict" else ()
    log = Log(
        config(
            verifiers=(JUDGE, *other),
            attempts=2 if kind == "ceiling" else 9,
            no_progress=1 if kind == "no_progress" else 99,
            iterations=4 if kind == "limit" else 99,
            gates=(Role.VERIFIER,) if kind == "gate" else (),
        )
    )
    allow = (lambda: log.decide("gate", Choice.ALLOW)) if kind == "gate" else (lambda: None)
    log.make()
    allow()
    for _ in (JUDGE, *other):
        log.judge(FAIL, score=9)
    log.make(change=kind != "no_progress")
    if kind == "gate":
        return log
    if kind == "spec_changed":
        log.human()
        log.judge(OK, score=2)
    elif kind == "uncertain":
        log.judge(UNCERTAIN, score=2)
    elif kind == "verifier_conflict":
        log.judge(OK, score=2)
        log.judge(FAIL, evidence=(Judgement("C-1", FAIL, "wrong"),))
    elif kind in ("infrastructure", "auth"):
        fault = Fault.AUTH if kind == "auth" else Fault.API_ERROR
        for _ in range(3 if kind == "infrastructure" else 1):
            log.judge(fault=fault)
    else:
        log.judge(FAIL, score=2)
    return log


KINDS = [
    "uncertain",
    "verifier_conflict",
    "ceiling",
    "limit",
    "no_progress",
    "infrastructure",
    "auth",
    "spec_changed",
    "gate",
]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_question_is_asked(kind):
    assert at(kind).next == f"ask {kind}"


@pytest.mark.parametrize("kind", KINDS)
def test_approve_ends_with_the_tree_that_was_shown(kind):
    log = at(kind)
    shown = log.due.shown
    expected = {"ceiling": FIRST, "no_progress": FIRST}.get(kind, SECOND)
    assert shown == expected
    log.decide(kind, Choice.APPROVE)
    assert log.due.reason is EndReason.HUMAN_APPROVED
    assert log.due.result == shown


@pytest.mark.parametrize("kind", KINDS)
def test_edit_ends_with_the_persons_tree(kind):
    log = at(kind)
    log.decide(kind, Choice.EDIT, result=Snapshot("tree-h", "commit-h"))
    assert log.due.reason is EndReason.HUMAN_EDITED
    assert log.due.result == Snapshot("tree-h", "commit-h")


@pytest.mark.parametrize("kind", KINDS)
def test_stop_ends_with_what_stands(kind):
    log = at(kind)
    log.decide(kind, Choice.STOP)
    assert (log.due.reason, log.due.result) == (EndReason.STOPPED, None)


@pytest.mark.parametrize("kind", KINDS)
def test_reject_with_attempts_brings_them_and_the_reason_to_the_maker(kind):
    log = at(kind)
    before = attempts_at_most(log.state)
    log.decide(kind, Choice.REJECT, attempts=2, text="too slow")
    assert attempts_at_most(log.state) == before + 2
    if kind == "limit":
        assert log.next == "ask limit"  # more attempts raise no limit
        return
    assert (log.next, log.due.rule) == ("maker", "MV-D1")
    assert log.due.notes == ("A person decided (reject): too slow",)
    assert log.due.start_from == log.state.current


@pytest.mark.parametrize("kind", KINDS)
def test_reject_without_attempts_ends_exhausted_with_the_best_output(kind):
    log = at(kind)
    log.decide(kind, Choice.REJECT, attempts=0, text="no good")
    assert (log.due.reason, log.due.rule) == (EndReason.EXHAUSTED, "MV-D2")
    assert log.due.result == (log.state.best.tree if log.state.best else SECOND)
    assert log.due.result == FIRST or kind == "no_progress"


@pytest.mark.parametrize("kind", KINDS)
def test_amend_puts_new_criteria_in_force_and_allows_one_more_attempt(kind):
    log = at(kind)
    before = attempts_at_most(log.state)
    log.human()
    log.decide(kind, Choice.AMEND, criteria=NEW)
    state = log.state
    assert (state.criteria, state.criteria_version) == (NEW, 2)
    assert not state.is_outdated
    assert attempts_at_most(state) == before + 1
    if kind == "limit":
        assert log.next == "ask limit"
        return
    assert (log.next, log.due.rule) == ("maker", "MV-D3")
    log.make()
    if kind == "gate":
        log.decide("gate", Choice.ALLOW)
    for _ in log.config.verifiers:
        log.judge(OK, criteria=NEW)
    assert log.next == "done"


def test_an_amendment_without_new_criteria_leaves_them_out_of_date():
    log = at("spec_changed")
    log.decide("spec_changed", Choice.AMEND)
    log.attempt(OK)
    assert log.next == "ask spec_changed"


def test_what_was_rejected_by_older_criteria_is_marked_so():
    log = at("ceiling")
    log.decide("ceiling", Choice.AMEND, criteria=NEW)
    log.attempt(FAIL)
    assert [r.criteria_version for r in log.state.rejections] == [1, 1, 2]


def test_a_granted_limit_leads_to_the_pending_step():
    log = Log(config(iterations=1))
    log.make()
    log.decide("limit", Choice.GRANT, grants={"iterations": 3})
    assert log.next == "judge"
    assert log.due.start_from == log.tree


def test_changed_limits_lead_to_the_pending_step():
    log = Log(config(iterations=1))
    log.make()
    log.configure(config(limits=Limits(iterations=9)))
    log.decide("limit", Choice.CHANGE)
    assert log.next == "judge"


def test_a_grant_that_raises_nothing_is_refused():
    log = at("limit")
    with pytest.raises(ValueError, match="raises nothing"):
        log.decide("limit", Choice.GRANT, grants={"iterations": 0})


@pytest.mark.parametrize("grants", [{}, {"no_progress": 5}])
def test_after_a_no_progress_grant_the_maker_goes_on_and_idle_attempts_count_anew(grants):
    log = at("no_progress")
    log.decide("no_progress", Choice.GRANT, grants=grants)
    assert (log.next, log.due.rule) == ("maker", "MV-D4")
    assert log.state.idle == 0
    log.make(change=False)
    log.judge(FAIL)
    assert log.next == ("maker" if grants else "ask no_progress")


@pytest.mark.parametrize("kind", ["infrastructure", "auth"])
@pytest.mark.parametrize("choice", [Choice.RETRY, Choice.CHANGE])
def test_after_a_fault_decision_the_same_step_runs_with_faults_at_0(kind, choice):
    log = at(kind)
    log.decide(kind, choice)
    assert (log.next, log.due.rule) == ("judge", "D-3")
    assert log.due.start_from == SECOND
    log.judge(fault=Fault.API_ERROR)
    assert log.next == "judge"


def test_an_attempt_of_another_amendment_is_not_judged_by_the_old_criteria():
    # A question that blocks nothing, such as on a blocked entry, is decided while a verifier runs.
    log = Log()
    log.make()
    log.judge(OK, during=lambda: log.decide("blocked", Choice.AMEND, criteria=NEW))
    assert log.next == "maker"
    assert log.state.given == ()


def test_an_end_by_a_person_while_something_runs_is_final():
    log = Log()
    log.make()
    log.judge(OK, during=lambda: log.decide("blocked", Choice.APPROVE))
    assert log.next == "human_approved"
    assert log.due.result == FIRST


def test_an_answer_on_an_entry_leaves_its_words_and_the_pending_step():
    log = Log()
    log.make()
    log.decide("blocked", Choice.ANSWER, subject="B-1", text="leave it")
    assert log.next == "judge"
    assert log.due.notes == ()
    log.judge(FAIL)
    assert log.due.notes == ("A person decided on B-1 (answer): leave it",)


@pytest.mark.parametrize("kind", ["uncertain", "ceiling", "no_progress", "spec_changed"])
def test_a_decision_on_another_question_leaves_the_open_one(kind):
    log = at(kind)
    log.decide("auth", Choice.RETRY)
    assert log.next == f"ask {kind}"
    log.decide("gate", Choice.ALLOW)
    assert log.next == f"ask {kind}"
    log.decide("blocked", Choice.ANSWER, subject="B-1", text="x")
    assert log.next == f"ask {kind}"


@pytest.mark.parametrize("kind", ["uncertain", "spec_changed"])
def test_an_amendment_on_another_question_brings_its_criteria_and_leaves_the_open_one(kind):
    log = at(kind)
    log.decide("blocked", Choice.AMEND, criteria=NEW)
    assert log.next == f"ask {kind}"
    assert log.state.criteria == NEW
    log.decide(kind, Choice.REJECT, attempts=1)
    assert log.next == "maker"


def test_a_rejection_on_another_question_brings_its_attempts_and_leaves_the_open_one():
    log = at("uncertain")
    before = attempts_at_most(log.state)
    log.decide("blocked", Choice.REJECT, attempts=2)
    assert log.next == "ask uncertain"
    assert attempts_at_most(log.state) == before + 2


def test_a_verdicts_question_stays_until_a_decision_that_settles_it():
    log = at("uncertain")
    log.decide("uncertain", Choice.RETRY)
    assert log.next == "ask uncertain"


def test_before_any_attempt_an_exhausted_session_keeps_what_stands():
    log = Log(config(iterations=1))
    log.make(fault=Fault.CRASH)
    assert log.next == "ask limit"
    assert log.due.shown is None
    log.decide("limit", Choice.REJECT, attempts=0)
    assert (log.next, log.due.result) == ("exhausted", None)


@pytest.mark.parametrize("choice", [Choice.RETRY, Choice.REJECT, Choice.AMEND])
def test_whatever_lets_a_crashed_maker_go_on_keeps_what_it_left(choice):
    log = Log(config(verifiers=(JUDGE, SPARE)))
    log.attempt(FAIL)
    for _ in range(3):
        log.make(fault=Fault.CRASH)
    log.decide("infrastructure", choice, attempts=1)
    assert (log.next, log.due.start_from) == ("maker", None)
    assert log.state.criteria == CRITERIA
