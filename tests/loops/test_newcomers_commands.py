"""What somebody new types at a terminal: refused with one sentence, and nothing half-written."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from django.core.management import CommandError, call_command

from escalations.models import Escalation
from loops import runner, secrets, services
from loops.engine.values import Role
from loops.models import Agent, Session
from tests.loops import behaviours as act
from tests.loops.behaviours import HONEST
from tracker import commands
from tracker import services as tracker
from tracker.errors import Invalid
from tracker.models import Project, Requirement


@pytest.fixture(autouse=True)
def as_a_person(monkeypatch, tmp_path, settings):
    monkeypatch.setattr(commands, "refuse_agents", lambda: None)
    settings.DATA = tmp_path


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    return folder


def refused(*words) -> str:
    with pytest.raises(CommandError) as caught:
        call_command(*words)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_session_that_cannot_start_leaves_no_draft_and_no_goal(project, db):
    for role in ("worker", "reviewer"):
        services.save_agent(role, {"argv": ["true"]})
    agents = ["--agent", "worker=worker", "--agent", "reviewer=reviewer"]
    goals = Requirement.objects.count()
    said = refused("session", "start", "demo", "--goal", "Tidy.", *agents)
    assert said.startswith("No session was started. /nowhere is not a folder")
    assert not Session.objects.exists()
    assert Requirement.objects.count() == goals


def test_a_requirement_or_document_that_is_not_there_is_named(project):
    for role in ("worker", "reviewer"):
        services.save_agent(role, {"argv": ["true"]})
    agents = ["--agent", "worker=worker", "--agent", "reviewer=reviewer"]
    assert "There is no R-99 in demo." in refused(
        "session", "start", "demo", *agents, "--only=R-99"
    )
    said = refused("session", "start", "demo", *agents, "--document", "prices")
    assert "There is no document prices in demo." in said
    me = tracker.person("me")
    tracker.remove_requirement(project, "R-2", by=me)
    assert "no R-2" in refused("session", "start", "demo", *agents, "--only", "R-2")


@pytest.mark.django_db
@pytest.mark.parametrize("inside", ["", ".git", "plain"])
def test_a_project_is_added_only_from_the_folder_of_a_repository(repo, inside):
    (repo / "plain").mkdir()
    folder = repo / inside
    if not inside:
        call_command("project", "add", "shop", str(folder))
        assert Project.objects.get().repo_path == str(folder)
        return
    said = refused("project", "add", "shop", str(folder))
    assert f"{folder} " in said
    assert not Project.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--env", "=1"], "'=1' does not read NAME=VALUE."),
        (["--env", "DEBUG"], "'DEBUG' does not read NAME=VALUE."),
        (["--env", "2=1"], "'2' is no name of an environment variable"),
        (["--env", "PATH=/bin"], "PATH is set by Loopwatch"),
        (["--env", "RUN_MARK=x"], "RUN_MARK is set by Loopwatch"),
        (["--env", "LOOPWATCH_TOKEN=x"], "LOOPWATCH_TOKEN is set by Loopwatch"),
        (["--secret", "LOOPWATCH_SOCKET=key"], "LOOPWATCH_SOCKET is set by Loopwatch"),
        (["--secret", "KEY=nosuch"], "There is no secret named nosuch"),
        (["--secret", "KEY="], "There is no secret named"),
    ],
)
def test_an_agents_variables_are_checked_when_it_is_added(words, sentence):
    said = refused("agent", "add", "mine", "true", *words)
    assert sentence in said
    assert "Value error" not in said
    assert not Agent.objects.exists()


@pytest.mark.django_db
def test_an_agents_plain_variables_and_kept_secrets_are_taken():
    secrets.keep("key", "value")
    call_command(
        "agent", "add", "mine", "true", "--env", "A=b=c", "--env", "E=", "--secret", "K=key"
    )
    kept = Agent.objects.get().settings
    assert (kept["env"], kept["secret_env"]) == ({"A": "b=c", "E": ""}, {"K": "key"})


@pytest.mark.django_db
@pytest.mark.parametrize("words", [["session", "strat"], ["session", "start"], ["agent", "--x"]])
def test_words_that_fit_no_command_are_refused_in_one_line(words, capsys):
    from escalations.management.commands import session
    from loops.management.commands import agent

    command = {"agent": agent, "session": session}[words[0]].Command()
    with pytest.raises(SystemExit) as caught:
        command.run_from_argv(["loopwatch", *words])
    said = capsys.readouterr()
    assert caught.value.code == 2
    assert said.err.count("\n") == 1
    assert f"See: loopwatch {words[0]}" in said.err
    assert said.out == ""


def test_the_help_of_a_command_is_about_that_command(capsys):
    from loops.management.commands.agent import Command

    with pytest.raises(SystemExit):
        Command().run_from_argv(["loopwatch", "agent", "--help"])
    said = capsys.readouterr().out
    assert "add" in said
    assert "--settings" not in said
    assert "--pythonpath" not in said


@pytest.mark.django_db(transaction=True)
def test_a_question_names_the_whole_command_of_each_decision(new_session, world, capsys):
    session = new_session(limits={"iterations": 1})
    runner.advance(session.pk, world({**HONEST, Role.WORKER: act.blocker}))
    asked = Escalation.objects.get()
    call_command("escalation", "show", str(asked.pk))
    said = capsys.readouterr().out
    commands = [shlex.split(line) for line in said.splitlines() if "loopwatch escalation" in line]
    offered = said.count(": ") and [line.split(":")[0].strip() for line in said.splitlines()[2:]]
    assert commands
    assert "stop" in offered
    chosen = next(words for words in commands if "--grant" in words or "--dismiss" in words)
    call_command(*chosen[1:])
    asked.refresh_from_db()
    assert asked.status == "decided"
    capsys.readouterr()
    call_command("escalation", "show", str(asked.pk))
    said = capsys.readouterr().out
    assert "Decided by" in said
    assert "escalation decide" not in said


def test_texts_have_limits_that_a_sentence_names(project, me):
    kib = 1024
    long = "é" * (33 * kib)
    for file in (
        lambda: tracker.file_task(project, by=me, title="t", text=long),
        lambda: tracker.file_spec_bug(project, by=me, title="t", text=long),
        lambda: tracker.edit_requirement(project, None, text=long, by=me, session_ref="S-9"),
    ):
        with pytest.raises(Invalid, match=r"has 66 KiB; at most 64 KiB are kept"):
            file()
    tracker.edit_requirement(project, "R-1", text=long, by=me)
    with pytest.raises(Invalid, match=r"The text of the requirement has .* MiB; at most 2 MiB"):
        tracker.edit_requirement(project, "R-1", text="é" * (1200 * kib), by=me)
