"""Scripted agents in the patterns with verifiers, as real processes on the real runner: honest ones
end right, no cheat reaches an end that it did not earn (RULES 2 and 3)."""

from __future__ import annotations

import subprocess

import pytest

from escalations import services as escalations
from escalations.models import Escalation
from escalations.word import Word
from loops import runner, services, stage
from loops.agents import scripted
from loops.engine.values import Choice
from loops.models import Iteration, OutputPiece, Session
from tracker import services as tracker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
CHECKS = ("--check", "R-1 app.txt lacks bad", "--check", "R-2 app.txt has hello")


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "app.txt").write_text("this is bad\n")
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    return folder


def agent(name, *options):
    checks = CHECKS if name in ("builder", "slow-builder", "checker", "mending-verifier") else ()
    return {"argv": scripted.argv(name, *checks, *options), "wall_seconds": 60}


def maker(worker, verifier=("checker",), **more):
    return {
        "pattern": "maker_verifier",
        "agents": {"maker": agent(*worker)},
        "verifiers": [{"name": "judge", "agent": agent(*verifier)}],
        **more,
    }


def feedback(worker, verifier=("checker",), thinker=("planner",), **more):
    return {
        "pattern": "thinker_worker_verifier",
        "agents": {"thinker": agent(*thinker)},
        "pool": [{"name": name, "agent": agent(*worker)} for name in ("coder", "writer", "third")],
        "verifiers": [{"name": "judge", "agent": agent(*verifier)}],
        **more,
    }


SLOW = pytest.mark.slow  # the other half of a matrix whose every row and column runs in CI
BOTH = pytest.mark.parametrize("pattern", [maker, feedback])


@pytest.fixture
def play(repo, db):
    """Run one session until it ends or asks; returns it as it then stands."""

    def run(config):
        me = tracker.person("me")
        project = tracker.create_project(name="p", repo_path=str(repo), by=me)
        tracker.edit_requirement(project, None, text="app.txt lacks the word bad.", by=me)
        tracker.edit_requirement(project, None, text="app.txt says hello.", by=me)
        session = services.create_session(project, by=me, config=config)
        services.start(session, me)
        return go_on(session)

    return run


def go_on(session):
    for _ in range(80):
        Session.objects.filter(pk=session.pk).update(not_before=None)
        runner.advance(session.pk, stage.equip)
        session.refresh_from_db()
        if session.state not in ("queued", "running"):
            break
    return session


def played(session):
    rows = Iteration.objects.filter(session=session).order_by("number")
    return [f"{r.agent or r.role}:{r.outcome}" for r in rows]


def asked(session):
    return sorted(Escalation.objects.filter(session=session).values_list("kind", flat=True))


@BOTH
@pytest.mark.parametrize("worker", ["slow-builder", pytest.param("builder", marks=SLOW)])
def test_honest_agents_end_done_without_any_question(play, pattern, worker):
    session = play(pattern((worker,)))
    assert (session.end_reason, asked(session)) == ("done", []), played(session)


NOT_GOOD = {"ceiling", "exhausted", "no_progress"}
CHEATS = [
    (("reporter",), ("checker",), NOT_GOOD),
    (("chatty",), ("checker",), NOT_GOOD),
    (("verdict-forger",), ("checker",), NOT_GOOD),
    (("early-done",), ("checker",), NOT_GOOD),
    (("change-and-done",), ("checker",), NOT_GOOD),
    (("gold-plater",), ("checker",), NOT_GOOD),
    (("git-attacker",), ("checker",), NOT_GOOD),
    (("self-approver",), ("checker",), NOT_GOOD),
    (("task-forger",), ("checker",), NOT_GOOD),
    (("spec-editor",), ("checker",), NOT_GOOD),
    (("builder",), ("dead-reviewer",), {"uncertain"}),
    (("builder",), ("yes-sayer",), {"uncertain"}),
    (("builder",), ("unsure",), {"uncertain"}),
    (("reporter",), ("mending-verifier",), {"uncertain"}),
    (("builder",), ("never-satisfied", "--action", "FINISH"), NOT_GOOD),
    (("crasher",), ("checker",), {"infrastructure"}),
]
MATRIX = [
    pytest.param(
        pattern, *cheat, id=f"{pattern.__name__}-{cheat[0][0]}-{cheat[1][0]}",
        marks=SLOW if (row + column) % 2 else (),
    )
    for row, cheat in enumerate(CHEATS)
    for column, pattern in enumerate((maker, feedback))
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "worker", "verifier", "kinds"), MATRIX)
def test_no_cheat_reaches_an_end_that_it_did_not_earn(play, pattern, worker, verifier, kinds):
    session = play(pattern(worker, verifier))
    assert session.state == "waiting_human", (session.end_reason, played(session))
    assert len(asked(session)) == 1
    assert asked(session)[0] in kinds, played(session)


@pytest.mark.parametrize(
    "action", ["REPLAN", *(pytest.param(a, marks=SLOW) for a in ("RETRY", "REASSIGN", "FINISH"))]
)
def test_a_verifier_that_is_never_satisfied_meets_the_bound_and_a_person(play, action):
    session = play(feedback(("gold-plater",), ("never-satisfied", "--action", action)))
    attempts = [one for one in played(session) if one.endswith(":ATTEMPT")]
    assert (asked(session), len(attempts) <= 8) == (["exhausted"], True)


def test_a_plan_for_a_worker_that_is_not_there_never_runs_one(play):
    session = play(feedback(("builder",), thinker=("foreign-planner",)))
    assert asked(session) == ["infrastructure"]
    assert {one.split(":")[0] for one in played(session)} == {"thinker"}
    said = OutputPiece.objects.filter(iteration__session=session).values_list("text", flat=True)
    assert "the pool is coder, writer, third" in "".join(said)


def test_a_thinker_that_thinks_for_ever_has_a_budget(play):
    session = play(feedback(("builder",), thinker=("restless-planner",)))
    assert session.end_reason == "done"
    assert played(session)[:3] == ["thinker:PLAN", "thinker:PLAN", "coder:ATTEMPT"]


def test_another_worker_starts_from_the_base_in_the_real_clone(play):
    session = play(feedback(("gold-plater",), ("never-satisfied", "--action", "REASSIGN")))
    rows = Iteration.objects.filter(session=session, outcome="ATTEMPT").order_by("number")
    starts = [row.before["rev"] for row in rows][:3]
    assert starts == [session.base_rev] * 3
    assert len({row.rev for row in rows}) > 1


@BOTH
def test_the_best_output_stands_on_the_branch_when_a_person_ends_it(play, pattern, repo):
    session = play(pattern(("gold-plater",), ("never-satisfied",)))
    question = Escalation.objects.get(session=session)
    me = tracker.person("me")
    escalations.decide(question, Word(choice=Choice.REJECT, text="No.", attempts=0), me)
    session.refresh_from_db()
    assert session.end_reason == "exhausted"
    assert session.result_rev == question.evidence


def test_nothing_in_the_source_repository_changes(play, repo):
    before = {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()}
    session = play(feedback(("slow-builder",)))
    after = {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()}
    assert session.end_reason == "done"
    assert after == before
