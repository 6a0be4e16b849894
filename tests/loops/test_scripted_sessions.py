"""Scripted agents as real processes on the real runner: the honest ones end `done` without a
question, the others never reach an end that they did not earn (RULES 4)."""

from __future__ import annotations

import subprocess

import pytest
from django.conf import settings

from escalations.models import Escalation
from loops import runner, services, stage
from loops.agents import scripted
from loops.agents.confine import confinement
from loops.models import Iteration, OutputPiece, Session
from tracker import services as tracker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
CHECK = "R-1 app.txt lacks bad"
REVIEWER = ("reviewer", "--check", CHECK)


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "app.txt").write_text("hello\nthis is bad\n")
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    return folder


@pytest.fixture
def play(repo, db):
    """Run one session of the named agents; returns it as it then stands."""

    def run(
        worker,
        reviewer=REVIEWER,
        *,
        limit=12,
        wall_seconds=60,
        worker_argv=(),
        reviewer_argv=(),
        secret_env=None,
        **config,
    ):
        me = tracker.person("me")
        project = tracker.create_project(name="p", repo_path=str(repo), by=me)
        tracker.edit_requirement(project, None, text="app.txt lacks the word bad.", by=me)
        argv = {
            "worker": worker_argv or scripted.argv(*(worker or ("finisher",))),
            "reviewer": reviewer_argv or scripted.argv(*reviewer),
        }
        agents = {role: {"argv": argv[role], "wall_seconds": wall_seconds} for role in argv}
        agents |= config.pop("agents", {})
        for role, name in (secret_env or {}).items():
            agents[role]["secret_env"] = {"API_KEY": name}
        config = {"agents": agents, "limits": {"iterations": limit}, **config}
        session = services.create_session(project, by=me, config=config)
        services.start(session, me)
        for _ in range(limit * 2):
            Session.objects.filter(pk=session.pk).update(not_before=None)
            runner.advance(session.pk, stage.equip)
            session.refresh_from_db()
            if session.state not in ("queued", "running"):
                break
        return session

    return run


def outcomes(session):
    return list(
        Iteration.objects.filter(session=session)
        .order_by("number")
        .values_list("outcome", flat=True)
    )


def asked(session):
    return sorted(Escalation.objects.filter(session=session).values_list("kind", flat=True))


@pytest.mark.parametrize("worker", ["finisher", "batch-worker", "formatter", "leftover-maker"])
def test_honest_agents_end_done_without_any_question(play, worker):
    session = play((worker,))
    assert (session.end_reason, asked(session)) == ("done", []), outcomes(session)


CHEATS = [
    (("early-done",), REVIEWER, "no_progress"),
    (("change-and-done",), REVIEWER, "no_progress"),
    (("uncommitted-done",), REVIEWER, "no_progress"),
    (("gold-plater",), REVIEWER, "limit"),
    (("chatty",), REVIEWER, "no_progress"),
    (("spec-spammer",), REVIEWER, "no_progress"),
    (("spec-editor",), REVIEWER, None),
    (("task-forger",), REVIEWER, None),
    (("git-attacker",), REVIEWER, None),
    (("finisher",), ("dead-reviewer",), "review_stall"),
    (("finisher",), ("false-reviewer",), "review_stall"),
    (("finisher",), ("always-reopening", "--check", CHECK), None),
]


@pytest.mark.parametrize(("worker", "reviewer", "kind"), CHEATS)
def test_no_cheat_reaches_an_end_that_it_did_not_earn(play, worker, reviewer, kind):
    session = play(worker, reviewer)
    assert session.state == "waiting_human", (session.end_reason, outcomes(session))
    if kind is not None:
        assert asked(session) == [kind], outcomes(session)


def test_a_git_attack_runs_nothing_as_the_engine(play, tmp_path):
    marker = tmp_path / "ran-as-engine"
    play(("git-attacker", "--marker", str(marker)))
    assert not marker.exists()


def test_people_s_commands_refuse_an_agent(play):
    """The self-approver tries to answer its own question in every way it knows."""
    session = play(("self-approver", "--data", str(settings.DATA)), limit=4)
    assert session.state == "waiting_human", outcomes(session)
    assert not Escalation.objects.filter(session=session).exclude(status="open").exists()


def test_a_daemon_does_not_outlive_its_iteration(play):
    """Case O7."""
    session = play(("daemon-starter",), limit=2)
    assert session.state == "waiting_human"
    notes = [
        row.payload["evidence"].get("notes", []) for row in session.log.filter(kind="recorded")
    ]
    if confinement() == "shim":
        assert any("left running was ended" in note for found in notes for note in found)


def test_an_agent_that_waits_on_its_terminal_is_ended_by_silence(play):
    """Case O16: stdin is closed, and quiet beyond the limit is acted on."""
    session = play(("staller", "--seconds", "60"), limit=1, wall_seconds=2)
    assert outcomes(session) == ["STALL"]


def test_words_in_the_output_never_end_a_loop_and_are_kept_for_people(play):
    """Case O5."""
    session = play(("chatty",), limit=2)
    assert session.end_reason is None
    text = "".join(
        OutputPiece.objects.filter(iteration__session=session).values_list("text", flat=True)
    )
    assert "complete" in text.lower()


def test_nothing_in_the_source_repository_changes(play, repo):
    before = {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()}
    session = play(("finisher",))
    after = {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()}
    assert session.end_reason == "done"
    assert after == before
