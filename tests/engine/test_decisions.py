"""What a person's decision does to the loop (RULES 6, decisions and "After a decision")."""

import pytest

from loops.engine.single_thread import at_most
from loops.engine.values import Choice, Fault, LimitName, Limits, Role
from tests.engine.log import CLEAN, DONE, NOT_DONE, Log, config


def asked(kind):
    """A session that waits for the decision of a question of this kind."""
    log = Log(config(no_progress=2, has_coach=False) if kind == "no_progress" else None)
    match kind:
        case "no_progress":
            log.worker()
            log.worker()
        case "review_stall":
            log.worker(signal=DONE)
            for _ in range(3):
                log.review()
        case "infrastructure":
            log.worker(signal=DONE)
            for _ in range(3):
                log.review(fault=Fault.API_ERROR)
        case "auth":
            log.worker(signal=DONE)
            log.review(fault=Fault.AUTH)
        case "blocked":
            log.worker(signal=DONE)
            log.review(signal=CLEAN)
            log.worker(signal=DONE, blocked=("B-1", "T-2"))
        case "disputed_fix":
            log.review(signal=CLEAN, findings=("B-1",), blockers=("B-1",), disputed=("B-1",))
    assert log.next == f"ask {kind}"
    return log


KINDS = ["no_progress", "review_stall", "infrastructure", "auth", "blocked", "disputed_fix"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("choice", "end"),
    [("approve", "human_approved"), ("edit", "human_edited"), ("stop", "stopped")],
)
def test_decisions_that_end_the_session(kind, choice, end):
    log = asked(kind)
    log.decide(kind, Choice(choice))
    assert log.next == end
    log.human()
    assert log.next == end


def test_the_label_of_an_approval_says_not_proved():
    log = asked("blocked")
    log.decide("blocked", Choice.APPROVE)
    assert "not proved" in log.due.sentence


def test_a_stop_decided_while_an_iteration_runs_ends_the_session_after_it():
    log = Log()
    log.worker(signal=DONE, blocked=("B-1",), during=lambda: log.decide("blocked", Choice.STOP))
    assert log.next == "stopped"


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("iterations", Limits(iterations=1)),
        ("wall_seconds", Limits(wall_seconds=10)),
        ("tokens", Limits(tokens=100)),
        ("money", Limits(money=1.5)),
    ],
)
def test_limit_a_grant_leads_to_the_pending_step(name, limits):
    log = Log(config(limits=limits))
    log.worker(signal=DONE, active_seconds=10, tokens=100, money=1.5)
    assert log.next == "ask limit"
    assert log.due.limit is LimitName(name)
    log.decide("limit", Choice.GRANT, grants={name: 0.5 if name == "money" else 5})
    assert log.next == "reviewer"
    assert at_most(log.state) > 0


def test_a_grant_grows_the_bound_by_as_much():
    log = Log(config(iterations=2))
    log.worker(change=True)
    assert at_most(log.state) == 1
    log.worker(change=True)
    assert at_most(log.state) == 0
    log.decide("limit", Choice.GRANT, grants={"iterations": 20})
    assert at_most(log.state) == 20


def test_another_limit_still_asks_after_a_grant():
    log = Log(config(limits=Limits(iterations=1, tokens=5)))
    log.worker(change=True, tokens=5)
    log.decide("limit", Choice.GRANT, grants={"iterations": 5})
    assert log.due.limit is LimitName.TOKENS


def test_new_limits_are_meant_as_they_read():
    log = Log(config(iterations=1))
    log.worker(change=True)
    log.decide("limit", Choice.GRANT, grants={"iterations": 5})
    log.configure(config(iterations=3))
    assert at_most(log.state) == 2
    log.configure(config(iterations=3, review_every=5))
    assert at_most(log.state) == 2


def test_a_grant_survives_a_change_of_something_else():
    log = Log(config(iterations=1))
    log.worker(change=True)
    log.decide("limit", Choice.GRANT, grants={"iterations": 5})
    log.configure(config(iterations=1, no_progress=9))
    assert at_most(log.state) == 5


def test_no_progress_leads_to_the_worker_with_idle_and_oscillation_at_zero():
    log = asked("no_progress")
    log.decide("no_progress", Choice.GRANT)
    assert log.next == "worker"
    log.worker()
    assert log.next == "worker"
    log.worker()
    assert log.next == "ask no_progress"


def test_no_progress_after_a_done_leads_to_the_worker_and_not_to_the_review():
    log = Log(config(no_progress=1))
    log.worker(signal=DONE)
    log.decide("no_progress", Choice.GRANT)
    assert log.next == "worker"


def test_oscillation_and_conflicts_count_anew_after_the_decision():
    log = Log(config(review_every=100, has_coach=False))
    for number in range(5):
        log.worker(rev="tree-0" if number % 2 else "tree-b", signal=DONE if number < 4 else None)
        if log.next == "ask no_progress":
            log.decide("no_progress", Choice.GRANT)
            assert (log.state.swing.turns, log.state.conflicts) == (1, 0)
    assert log.next == "worker"


def test_review_stall_leads_to_the_review_with_repeats_at_zero():
    for choice in (Choice.GRANT, Choice.CHANGE):
        log = asked("review_stall")
        log.decide("review_stall", choice)
        for _ in range(2):
            assert log.next == "reviewer"
            log.review()
        assert log.next == "reviewer"
        log.review()
        assert log.next == "ask review_stall"


@pytest.mark.parametrize("kind", ["infrastructure", "auth"])
def test_infrastructure_and_auth_lead_to_the_same_step_with_faults_at_zero(kind):
    log = asked(kind)
    log.decide(kind, Choice.RETRY)
    assert (log.next, log.due.after_seconds) == ("reviewer", 0)
    log.review(fault=Fault.API_ERROR)
    log.review(fault=Fault.API_ERROR)
    assert log.next == "reviewer"


@pytest.mark.parametrize("fault", [Fault.AGENT_LIMIT, Fault.CONTEXT_FULL])
def test_holds_and_full_contexts_count_anew_after_the_decision(fault):
    log = Log()
    while log.next == "worker":
        log.worker(fault=fault, resets_in=90_000)
    log.decide("infrastructure", Choice.RETRY)
    assert log.next == "worker"
    assert log.due.shorter is False
    log.worker(fault=fault, resets_in=10)
    assert log.next == "worker"


def test_disputed_fix_leads_to_the_worker():
    log = asked("disputed_fix")
    log.decide("disputed_fix", Choice.ANSWER, subject="B-1", text="the reviewer is right")
    assert log.next == "worker"
    assert any("the reviewer is right" in note for note in log.due.notes)


def test_blocked_stands_until_every_entry_is_decided():
    log = asked("blocked")
    log.decide("blocked", Choice.ANSWER, subject="B-1", disposition="reopen")
    assert log.next == "ask blocked"
    assert log.due.subjects == ("T-2",)
    log.decide("blocked", Choice.ANSWER, subject="T-2", disposition="dismiss")
    assert log.next == "worker"


def test_blocked_leads_to_the_review_if_every_entry_was_dismissed():
    log = asked("blocked")
    log.human()
    log.decide("blocked", Choice.ANSWER, subject="B-1", disposition="dismiss", text="is as it is")
    log.human()
    log.decide("blocked", Choice.ANSWER, subject="T-2", disposition="dismiss")
    assert log.next == "reviewer"
    assert any("is as it is" in note for note in log.due.notes)


@pytest.mark.parametrize("disposition", ["reopen", "task", ""])
def test_blocked_leads_to_the_worker_if_any_entry_was_not_dismissed(disposition):
    log = asked("blocked")
    log.decide("blocked", Choice.ANSWER, subject="B-1", disposition="dismiss")
    log.decide("blocked", Choice.ANSWER, subject="T-2", disposition=disposition)
    assert log.next == "worker"


def test_a_decision_about_no_entry_is_about_all_of_them():
    log = asked("blocked")
    log.decide("blocked", Choice.AMEND)
    assert log.next == "worker"


def test_dismissals_of_an_earlier_question_do_not_colour_the_next():
    log = asked("blocked")
    log.decide("blocked", Choice.AMEND)
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE, blocked=("B-1",))
    log.decide("blocked", Choice.ANSWER, subject="B-1", disposition="dismiss")
    assert log.next == "reviewer"


def test_an_entry_that_is_answered_before_it_blocks_leaves_the_step_and_goes_into_the_prompts():
    log = Log()
    log.worker(signal=DONE, blocked=("B-1",))
    log.decide("blocked", Choice.ANSWER, subject="B-1", disposition="reopen", text="use UTC")
    assert log.next == "reviewer"
    assert any("use UTC" in note for note in log.due.notes)
    log.review(signal=CLEAN)
    assert any("use UTC" in note for note in log.due.notes)
    log.worker(signal=NOT_DONE)
    assert log.due.notes == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_stands_whatever_happens_until_it_is_decided(kind):
    log = asked(kind)
    log.human(edits=True)
    log.configure(config())
    log.decide("limit", Choice.GRANT, grants={"iterations": 3})
    assert log.next == f"ask {kind}"


@pytest.mark.parametrize("kind", KINDS)
def test_an_amended_requirement_lets_the_loop_go_on_by_its_rules(kind):
    log = asked(kind)
    log.human(edits=True)
    log.decide(kind, Choice.AMEND)
    assert log.due.role in Role
    assert log.state.streak == 0


@pytest.mark.parametrize("grants", [{"patience": 1}, {"iterations": 0}, {"tokens": -5}])
def test_a_grant_of_an_unknown_limit_or_of_nothing_is_refused(grants):
    with pytest.raises(ValueError, match=next(iter(grants))):
        Log().decide("limit", Choice.GRANT, grants=grants)


# --- precedence ----------------------------------------------------------------------------------


def test_an_end_goes_before_every_question():
    log = Log(config(iterations=3, no_progress=2))
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE)
    assert log.next == "no_op"


def test_blocked_goes_before_no_progress_and_both_are_asked():
    log = Log(config(no_progress=2))
    log.worker(signal=DONE)
    log.review(signal=CLEAN)
    log.worker(signal=DONE, blocked=("B-1",))
    assert log.next == "ask blocked"
    log.decide("blocked", Choice.ANSWER, subject="B-1", disposition="reopen")
    assert log.next == "ask no_progress"


def test_a_question_goes_before_a_limit():
    log = Log(config(iterations=2, no_progress=2))
    log.worker()
    log.worker()
    assert log.next == "ask no_progress"
    log.decide("no_progress", Choice.GRANT)
    assert log.next == "ask limit"
