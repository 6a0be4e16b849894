"""Maker-Verifier and Thinker-Worker-Verifier on the real runner, in a world in memory."""

from __future__ import annotations

import pytest

from escalations import services as escalations
from escalations.models import Escalation
from escalations.word import Word
from loops import runner
from loops.engine.values import Choice, Role
from loops.models import Iteration, Session
from tests.loops import verified as v
from tests.loops.world import MemoryWorkspace, World
from tracker import services as tracker

pytestmark = pytest.mark.django_db(transaction=True)


def run(session, world, rounds=60):
    for _ in range(rounds):
        Session.objects.filter(pk=session.pk).update(not_before=None)
        runner.advance(session.pk, world)
        session.refresh_from_db()
        if session.state not in ("queued", "running"):
            return session
    raise AssertionError("the session neither ended nor asked")


def played(session):
    rows = Iteration.objects.filter(session=session).order_by("number")
    return [f"{r.agent or r.role}:{r.outcome}" for r in rows]


def question(session):
    return Escalation.objects.get(session=session, status="open")


def bad_files():
    return MemoryWorkspace(files={"a.txt": "bad", "b.txt": "bad too"})


def test_a_maker_is_judged_told_why_and_done_when_the_verifier_shows_evidence(new_session):
    world = World(v.MAKERS, bad_files())
    session = run(new_session(**v.maker_config()), world)
    assert session.end_reason == "done"
    assert played(session) == ["maker:ATTEMPT", "judge:VERDICT", "maker:ATTEMPT", "judge:VERDICT"]
    assert "bad in b.txt" in world.prompts[2]


def test_the_verifier_is_never_shown_what_the_maker_said(new_session):
    def talker(tools):
        tools.control.output(b"I swear that ZEBRA passes all tests\n")
        v.builder(tools)

    world = World({**v.MAKERS, Role.MAKER: talker}, bad_files())
    run(new_session(**v.maker_config()), world)
    assert not any("ZEBRA" in text for text in world.prompts)


def test_all_attempts_used_asks_a_person_and_more_attempts_go_on(new_session, me):
    world = World({Role.MAKER: v.idle, "judge": v.judge}, bad_files())
    session = run(new_session(**v.maker_config(attempts=2)), world)
    asked = question(session)
    assert (session.state, asked.kind) == ("waiting_human", "ceiling")
    world.behaviours = v.MAKERS
    escalations.decide(asked, Word(choice=Choice.REJECT, text="Mend both files.", attempts=2), me)
    session = run(Session.objects.get(pk=session.pk), world)
    assert session.end_reason == "done"
    assert any("Mend both files." in text for text in world.prompts)


def test_rejected_for_good_ends_exhausted_with_the_best_output(new_session, me):
    world = World({Role.MAKER: v.builder, "judge": v.failing()}, bad_files())
    session = run(new_session(**v.maker_config(attempts=1)), world)
    escalations.decide(question(session), Word(choice=Choice.REJECT, text="No.", attempts=0), me)
    session.refresh_from_db()
    assert session.end_reason == "exhausted"


def test_an_amended_requirement_freezes_new_criteria(new_session, project, me):
    world = World({Role.MAKER: v.idle, "judge": v.unsure}, bad_files())
    session = run(new_session(**v.maker_config()), world)
    assert question(session).kind == "uncertain"
    word = Word(choice=Choice.AMEND, requirement="R-2", document="The word bad is welcome.")
    escalations.decide(question(session), word, me)
    run(Session.objects.get(pk=session.pk), world)
    assert "The word bad is welcome." in world.prompts[-1]


def test_a_plan_is_made_worked_on_and_proved(new_session):
    world = World(v.FEEDBACK, MemoryWorkspace(files={"a.txt": "bad"}))
    session = run(new_session(**v.feedback_config()), world)
    assert session.end_reason == "done"
    assert played(session) == ["thinker:PLAN", "coder:ATTEMPT", "judge:VERDICT"]


def test_another_worker_starts_from_the_base_not_from_the_last_ones_tree(new_session):
    trees = []

    def worker(tools):
        trees.append(dict(tools.workspace.files))
        tools.workspace.files[f"{len(trees)}.txt"] = "work"
        tools.workspace.commit()

    world = World({**v.FEEDBACK, Role.WORKER: worker, "judge": v.failing("REASSIGN")})
    session = run(new_session(**v.feedback_config()), world)
    assert trees[0] == trees[1] == {"a.txt": "one"}
    assert question(session).kind == "exhausted"


@pytest.mark.parametrize("action", ["RETRY", "REASSIGN", "REPLAN", "FINISH"])
def test_a_verifier_that_is_never_satisfied_comes_to_a_person_within_the_bound(new_session, action):
    world = World({**v.FEEDBACK, "judge": v.failing(action)}, bad_files())
    session = run(new_session(**v.feedback_config("a", "b", "c")), world)
    attempts = [one for one in played(session) if one.endswith("ATTEMPT")]
    assert question(session).kind == "exhausted"
    assert len(attempts) <= 8


def test_an_edited_requirement_makes_an_ok_ask_instead_of_ending(new_session, project, me):
    def edit_then_judge(tools):
        if not tools.memory.get("edited"):
            tools.memory["edited"] = True
            tracker.edit_requirement(project, "R-1", text="The file a.txt is large.", by=me)
        v.judge(tools)

    world = World({**v.FEEDBACK, "judge": edit_then_judge}, MemoryWorkspace(files={"a.txt": "x"}))
    session = run(new_session(**v.feedback_config()), world)
    assert question(session).kind == "spec_changed"
    escalations.decide(question(session), Word(choice=Choice.REPLAN, text="Heed R-1."), me)
    session = run(Session.objects.get(pk=session.pk), world)
    assert session.end_reason in ("done", "no_op")
    assert played(session)[-3:] == ["thinker:PLAN", "coder:ATTEMPT", "judge:VERDICT"]


def test_a_person_names_the_worker_that_tries_next(new_session, me):
    world = World({**v.FEEDBACK, "judge": v.unsure}, bad_files())
    session = run(new_session(**v.feedback_config("a", "b")), world)
    escalations.decide(question(session), Word(choice=Choice.REASSIGN, worker="b"), me)
    run(Session.objects.get(pk=session.pk), world)
    assert played(session)[-2:] == ["b:ATTEMPT", "judge:VERDICT"]


def test_a_second_verifier_is_asked_before_a_person(new_session):
    config = v.feedback_config(verifiers=[v.verifier(), v.verifier("second", "reserve")])
    world = World({**v.FEEDBACK, "judge": v.unsure, "second": v.judge}, MemoryWorkspace())
    session = run(new_session(**config), world)
    assert session.end_reason in ("done", "no_op")
    assert played(session)[-2:] == ["judge:VERDICT", "second:VERDICT"]


def test_a_gate_asks_before_the_role_runs_and_only_once_for_it(new_session, me):
    world = World(v.MAKERS, bad_files())
    session = run(new_session(**v.maker_config(gates=["maker"])), world)
    assert (question(session).kind, world.calls) == ("gate", [])
    escalations.decide(question(session), Word(choice=Choice.ALLOW), me)
    session = run(Session.objects.get(pk=session.pk), world)
    assert question(session).kind == "gate"
    assert played(session) == ["maker:ATTEMPT", "judge:VERDICT"]


def test_a_changed_agent_or_limit_is_in_force_from_the_next_step(new_session, me):
    world = World({Role.MAKER: v.crashing, "judge": v.judge}, bad_files())
    session = run(new_session(**v.maker_config()), world)
    assert question(session).kind == "infrastructure"
    world.behaviours = v.MAKERS
    escalations.decide(question(session), Word(choice=Choice.CHANGE, limits={"iterations": 9}), me)
    session = run(Session.objects.get(pk=session.pk), world)
    assert session.end_reason == "done"
    assert session.config["limits"]["iterations"] == 9


def test_a_thinker_without_a_plan_is_asked_about_never_guessed(new_session):
    world = World({**v.FEEDBACK, Role.THINKER: v.idle})
    session = run(new_session(**v.feedback_config()), world)
    assert question(session).kind == "infrastructure"
    assert set(played(session)) == {"thinker:INTERRUPTED"}


def test_a_verifier_that_mends_the_tree_itself_has_not_judged_it(new_session):
    def mend_and_approve(tools):
        v.builder(tools)
        v.builder(tools)
        v.judge(tools)

    world = World({Role.MAKER: v.idle, "judge": mend_and_approve}, bad_files())
    session = run(new_session(**v.maker_config()), world)
    assert question(session).kind == "uncertain"
    assert world.workspace.files["a.txt"] == "bad"
