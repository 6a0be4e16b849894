"""What a person may rely on while a session runs: it ends for a proven reason, or it asks."""

from __future__ import annotations

import pytest
from django.db import IntegrityError

from escalations import services as escalations
from escalations.models import Escalation
from escalations.word import Word
from loops import records, runner, services, uptake
from loops.agents.base import Reply
from loops.engine import controllers
from loops.engine.values import Choice, Fault, Recorded, Role
from loops.models import Answer, Iteration, LogEntry, Session, Transition
from loops.snapshots import Fold
from tests.loops import behaviours as act
from tests.loops.behaviours import HONEST
from tracker import services as tracker
from tracker.errors import Conflict, Invalid

pytestmark = pytest.mark.django_db(transaction=True)


def outcomes(session):
    return [o for _, o in played(session)]


def played(session):
    return list(session.iterations.order_by("number").values_list("role", "outcome"))


def run(session, world, *, most=60):
    """Run slices until the session can not go on by itself; waits are skipped."""
    for _ in range(most):
        Session.objects.filter(pk=session.pk).update(not_before=None)
        more = runner.advance(session.pk, world, iterations=1)
        session.refresh_from_db()
        if not more and (session.state not in ("queued", "running") or session.lease_until):
            return session
    pytest.fail(f"the session still runs: {played(session)}")


def the_question(session):
    return Escalation.objects.get(session=session, status="open")


# --- the ends -----------------------------------------------------------------------------------


def test_with_nothing_to_do_the_loop_needs_two_dones_around_a_clean_review(new_session, world):
    session = new_session()
    assert runner.advance(session.pk, world(HONEST)) is False
    session.refresh_from_db()
    assert (session.state, session.end_reason) == ("ended", "no_op")
    assert played(session) == [
        ("worker", "DONE"),
        ("reviewer", "REVIEW_CLEAN"),
        ("worker", "DONE"),
    ]


def test_honest_agents_fix_what_the_reviewer_finds_and_end_done(new_session, world):
    session = new_session()
    w = world(HONEST)
    w.workspace.files["b.txt"] = "this is bad"
    run(session, w)
    assert (session.state, session.end_reason) == ("ended", "done")
    assert w.workspace.files["b.txt"] == "this is good"
    assert outcomes(session)[-3:] == ["DONE", "REVIEW_CLEAN", "DONE"]
    assert not Escalation.objects.exists()


def test_a_person_files_a_task_while_the_loop_runs_and_it_is_worked_on(
    new_session, world, project, me
):
    session = new_session()
    w = world(HONEST)
    runner.advance(session.pk, w, iterations=1)
    tracker.file_task(project, by=me, title="Add a file")
    run(session, w)
    assert session.end_reason == "done"
    assert tracker.get_bug(project, "T-1").state == "CLOSED"


def test_a_requirement_edited_during_the_last_done_takes_that_done_back(
    new_session, world, project, me
):
    """No bug or edit slips in between a record and the end (RULES 4)."""
    session = new_session()

    def edits_once(tools):
        act.honest_worker(tools)
        if len(tools.memory.setdefault("turns", [])) == 1:
            tracker.edit_requirement(project, "R-1", text="a.txt is there, always.", by=me)
        tools.memory["turns"].append(1)

    w = world({Role.WORKER: edits_once, Role.REVIEWER: act.honest_reviewer})
    run(session, w)
    assert session.end_reason == "no_op"
    assert outcomes(session) == [
        "DONE",
        "REVIEW_CLEAN",
        "DONE",
        "REVIEW_CLEAN",
        "DONE",
        "REVIEW_CLEAN",
        "DONE",
    ]


def test_the_last_allowed_iteration_that_proves_done_ends_done(new_session, world):
    """Case O6: done beats the limit."""
    session = new_session(limits={"iterations": 3})
    run(session, world(HONEST))
    assert session.end_reason == "no_op"


# --- the questions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("worker", "reviewer", "kind"),
    [
        (act.cheat, act.honest_reviewer, "no_progress"),
        (act.honest_worker, act.silent, "review_stall"),
        (act.silent, act.honest_reviewer, "no_progress"),
        (act.crasher, act.honest_reviewer, "no_progress"),
    ],
)
def test_agents_that_get_nowhere_come_to_a_person(new_session, world, worker, reviewer, kind):
    session = new_session()
    run(session, world({Role.WORKER: worker, Role.REVIEWER: reviewer}))
    assert session.state == "waiting_human"
    assert the_question(session).kind == kind


def test_a_liar_with_open_work_never_ends_the_loop(new_session, world, project, me):
    session = new_session()
    tracker.file_task(project, by=me, title="Do this first")
    run(session, world({Role.WORKER: act.liar, Role.REVIEWER: act.honest_reviewer}))
    assert session.state == "waiting_human"
    assert set(outcomes(session)) == {"REJECTED"}


def test_a_limit_asks_and_a_grant_goes_on_with_the_pending_step(new_session, world, me):
    session = new_session(limits={"iterations": 1})
    w = world(HONEST)
    run(session, w)
    question = the_question(session)
    assert (question.kind, question.limit) == ("limit", "iterations")
    escalations.decide(question, Word(choice=Choice.GRANT, grants={"iterations": 20}), me)
    run(session, w)
    assert session.end_reason == "no_op"
    assert records.whole(session)["limits"]["iterations"] == {"used": 3, "limit": 21}


def test_a_blocked_entry_is_asked_about_at_once_and_blocks_only_when_nothing_else_is_left(
    new_session, world, project, me
):
    session = new_session()
    tracker.file_task(project, by=me, title="Impossible")
    tracker.file_task(project, by=me, title="Possible")

    def worker(tools):
        if tracker.get_bug(project, "T-1").state == "OPEN":
            tools.loopwatch("bug", "blocked", "T-1", "--why", "It cannot be done.")
            return
        act.honest_worker(tools)

    w = world({Role.WORKER: worker, Role.REVIEWER: act.honest_reviewer})
    runner.advance(session.pk, w, iterations=1)
    assert the_question(session).blocking is False
    run(session, w)
    question = the_question(session)
    assert (session.state, question.kind, question.blocking) == ("waiting_human", "blocked", True)
    assert question.subject == "T-1"
    word = Word(choice=Choice.ANSWER, text="Then not.", disposition="dismiss")
    escalations.decide(question, word, me)
    run(session, w)
    assert session.end_reason == "done"


def test_settling_the_matter_in_the_tracker_is_the_decision(new_session, world, project, me):
    session = new_session()
    tracker.file_task(project, by=me, title="Impossible")

    def worker(tools):
        if tracker.get_bug(project, "T-1").state == "OPEN":
            tools.loopwatch("bug", "blocked", "T-1", "--why", "It cannot be done.")
        else:
            act.honest_worker(tools)

    w = world({Role.WORKER: worker, Role.REVIEWER: act.honest_reviewer})
    run(session, w)
    question = the_question(session)
    task = tracker.get_bug(project, "T-1")
    tracker.comment(task, me, "Let me think.")
    tracker.set_priority(task, me, "P0")
    question.refresh_from_db()
    assert question.status == "open", "a comment is no decision"
    tracker.dismiss(task, me, "not needed")
    question.refresh_from_db()
    assert question.status == "decided"
    assert question.decision.by == me.actor
    assert question.decision.details["disposition"] == "dismiss"
    run(session, w)
    assert session.state == "ended"


def test_infrastructure_faults_repeat_the_step_with_back_off_and_then_ask(new_session, world, me):
    session = new_session()

    def refused(tools):
        return Reply(fault=Fault.CANNOT_START, detail="There is no such program.")

    w = world({Role.WORKER: refused, Role.REVIEWER: act.honest_reviewer})
    assert runner.advance(session.pk, w) is False
    session.refresh_from_db()
    assert session.state == "running"
    assert session.not_before is not None
    run(session, w)
    question = the_question(session)
    assert (question.kind, outcomes(session)) == ("infrastructure", ["INTERRUPTED"] * 3)
    w.behaviours[Role.WORKER] = act.honest_worker
    escalations.decide(question, Word(choice=Choice.RETRY), me)
    run(session, w)
    assert session.end_reason == "no_op"


def test_an_agents_limit_frees_the_slot_and_says_until_when(new_session, world):
    session = new_session()

    def limited(tools):
        return Reply(fault=Fault.AGENT_LIMIT, resets_in=1200)

    runner.advance(session.pk, world({Role.WORKER: limited, Role.REVIEWER: act.silent}))
    session.refresh_from_db()
    assert (session.state, session.lease_until) == ("running", None)
    assert session.held_until == session.not_before is not None


def test_a_bad_credential_asks_at_once(new_session, world):
    session = new_session()
    auth = {Role.WORKER: lambda _: Reply(fault=Fault.AUTH), Role.REVIEWER: act.silent}
    run(session, world(auth))
    assert the_question(session).kind == "auth"


# --- control ------------------------------------------------------------------------------------


def test_pause_waits_for_the_boundary_and_resume_goes_on(new_session, world, me):
    session = new_session()
    w = world(HONEST)
    runner.advance(session.pk, w, iterations=1)
    services.pause(session, me)
    assert runner.advance(session.pk, w) is False
    session.refresh_from_db()
    assert (session.state, session.iteration_count) == ("paused", 1)
    services.resume(session, me)
    run(session, w)
    assert session.end_reason == "no_op"


def test_a_step_is_exactly_one_iteration(new_session, world, me):
    session = new_session()
    w = world(HONEST)
    runner.advance(session.pk, w, iterations=1)
    services.pause(session, me)
    runner.advance(session.pk, w)
    services.step(session, me)
    assert runner.advance(session.pk, w) is False
    session.refresh_from_db()
    assert (session.state, session.iteration_count) == ("paused", 2)


def test_stop_of_an_idle_session_ends_it_at_once_and_supersedes_its_questions(
    new_session, world, me
):
    session = new_session()
    run(session, world({Role.WORKER: act.silent, Role.REVIEWER: act.silent}))
    question = the_question(session)
    services.stop(session, me)
    session.refresh_from_db()
    question.refresh_from_db()
    assert (session.state, session.end_reason, question.status) == (
        "ended",
        "stopped",
        "superseded",
    )


def test_stop_cuts_off_the_iteration_that_runs(new_session, world, me):
    session = new_session()

    def stopped(tools):
        services.stop(session, me)
        while not tools.control.must_stop():
            pass
        return Reply(fault=Fault.WORKER_LOST)

    runner.advance(session.pk, world({Role.WORKER: stopped, Role.REVIEWER: act.silent}))
    session.refresh_from_db()
    assert (session.state, session.end_reason) == ("ended", "stopped")
    assert outcomes(session) == ["INTERRUPTED"]


def test_an_illegal_move_is_refused_with_a_sentence(new_session, me):
    session = new_session()
    with pytest.raises(Conflict, match=r"S-\d+ is queued; it can be stopped, not resumed\."):
        services.resume(session, me)
    assert Transition.objects.filter(session=session).count() == 1


def test_a_second_message_for_a_session_that_runs_does_nothing(new_session, world):
    session = new_session()

    def inner(tools):
        assert runner.advance(session.pk, w) is False
        act.honest_worker(tools)

    w = world({Role.WORKER: inner, Role.REVIEWER: act.honest_reviewer})
    run(session, w)
    assert w.most_alive == 1
    assert session.end_reason == "no_op"


def test_sessions_of_one_project_queue_behind_each_other(new_session, world):
    first, second = new_session(), new_session()
    assert runner.advance(second.pk, world(HONEST)) is False
    second.refresh_from_db()
    assert second.state == "queued"
    run(first, world(HONEST))
    run(second, world(HONEST))
    assert second.end_reason == "no_op"


def test_the_database_allows_one_active_session_per_project(new_session):
    first, second = new_session(), new_session()
    Session.objects.filter(pk=first.pk).update(holds_project=True)
    with pytest.raises(IntegrityError):
        Session.objects.filter(pk=second.pk).update(holds_project=True)


# --- decisions ----------------------------------------------------------------------------------


def test_a_second_decision_is_refused_and_says_who_was_first(new_session, world, me):
    session = new_session()
    run(session, world({Role.WORKER: act.silent, Role.REVIEWER: act.silent}))
    question = the_question(session)
    escalations.decide(question, Word(choice=Choice.GRANT), me)
    with pytest.raises(Conflict, match="already decided: grant by me"):
        escalations.decide(question, Word(choice=Choice.STOP), me)
    assert Answer.objects.count() == 1


def test_a_decision_is_in_the_log_once_however_often_it_is_delivered(new_session, world, me):
    session = new_session()
    run(session, world({Role.WORKER: act.silent, Role.REVIEWER: act.silent}))
    escalations.decide(the_question(session), Word(choice=Choice.GRANT), me)
    assert not uptake.take_up(session.pk)
    assert LogEntry.objects.filter(session=session, kind="decided").count() == 1


def test_approval_needs_the_evidence_that_was_shown_and_ends_not_proved(new_session, world, me):
    session = new_session()
    run(session, world({Role.WORKER: act.cheat, Role.REVIEWER: act.honest_reviewer}))
    question = the_question(session)
    assert question.evidence
    with pytest.raises(Conflict, match="look at it"):
        escalations.decide(question, Word(choice=Choice.APPROVE, evidence="old"), me)
    escalations.decide(question, Word(choice=Choice.APPROVE, evidence=question.evidence), me)
    session.refresh_from_db()
    assert (session.state, session.end_reason) == ("ended", "human_approved")


def test_a_word_that_the_question_does_not_take_names_those_it_takes(new_session, world, me):
    session = new_session()
    run(session, world({Role.WORKER: act.silent, Role.REVIEWER: act.silent}))
    with pytest.raises(Invalid, match="it takes grant, amend, stop"):
        escalations.decide(the_question(session), Word(choice=Choice.RETRY), me)


# --- the log ------------------------------------------------------------------------------------


def test_the_cached_state_is_what_the_whole_log_folds_to(new_session, world):
    session = new_session()
    w = world(HONEST)
    w.workspace.files["b.txt"] = "this is bad"
    run(session, w)
    cached = controllers.state_to_json(Fold.load(session).state)
    session.fold = None
    assert controllers.state_to_json(Fold.load(session).state) == cached
    assert session.iteration_count == Iteration.objects.filter(session=session).count()


def test_replaying_the_log_gives_every_recorded_outcome_again(new_session, world):
    session = new_session()
    w = world(HONEST)
    w.workspace.files["b.txt"] = "this is bad"
    run(session, w)
    entries = [
        controllers.entry_from_json(row.seq, row.kind, row.payload)
        for row in LogEntry.objects.filter(session=session).order_by("seq")
    ]
    compared = controllers.replay(entries[0].config, entries)
    assert len(compared) == sum(isinstance(entry, Recorded) for entry in entries) > 3
    assert all(recorded == recomputed for _, recorded, recomputed in compared)


def test_a_log_that_cannot_be_read_fails_the_session_and_names_the_fault(new_session, world):
    session = new_session()
    LogEntry.objects.filter(session=session, seq=1).update(payload={"nonsense": 1})
    runner.advance(session.pk, world(HONEST))
    session.refresh_from_db()
    assert (session.state, session.end_reason) == ("ended", "failed")
    assert "nonsense" in session.end_sentence
