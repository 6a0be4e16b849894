"""Agents are found, tried and judged by how far their models stand apart; every door calls the same
verbs."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from loops import agent_services, configuration, programs, secrets, services, tasks, trying
from loops.adapters import KINDS, outside
from loops.agent_settings import AgentConfig
from loops.independence import Grade, family, grade, mind, pairs
from loops.models import Agent, Program
from loops.trials import LATE_SECONDS, trial
from tests.loops import verified as v
from tracker import commands
from tracker.errors import Conflict, Invalid, NotFound

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    asked = []
    monkeypatch.setattr(
        agent_services.current_app, "send_task", lambda task, args: asked.append((task, *args))
    )
    monkeypatch.setattr(commands, "refuse_agents", lambda: None)
    return asked


def run(*words):
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


# --- what is on this machine -----------------------------------------------------------------


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """Put programs with these names and first words on an otherwise empty PATH."""

    def put(**says):
        for name, text in says.items():
            file = tmp_path / name
            file.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && echo '{text}'\n")
            file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return tmp_path

    return put


def test_clis_on_path_are_found_with_the_version_that_they_say(on_path):
    on_path(claude="2.1.332 (Claude Code)", codex="codex-cli 0.171.0", qwen="no number")
    agent_services.look_again()
    known = programs.known()
    assert known["claude"].version == "2.1.332"
    assert known["codex"].version == "0.171.0"
    assert known["gemini"].path == ""
    assert (known["qwen"].version, known["qwen"].fault[-17:]) == ("", "named no version.")


def test_a_program_that_an_agent_names_is_asked_too_and_forgotten_with_it(on_path):
    folder = on_path(other="3.2.1")
    services.save_agent("own", {"adapter": "claude", "program": str(folder / "other")})
    agent_services.look_again()
    agent = Agent.objects.get()
    assert programs.program_of(agent.settings, programs.known()).version == "3.2.1"
    agent_services.remove("own")
    agent_services.look_again()
    assert not Program.objects.filter(name__contains="other").exists()


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("1.2.3", ""), ("1.10.0", ""), ("1.2.2", "older than 1.2.3"),
        ("1.10.1", "newer than 1.10.0"), ("2.0.0-beta.1", "newer than 1.10.0"), ("", ""),
    ],
)  # fmt: skip
def test_a_version_is_told_apart_from_what_was_tested_by_number(version, words):
    assert outside(version, ("1.2.3", "1.10.0")) == words


# --- trying ----------------------------------------------------------------------------------

SAY = "import os, sys; sys.stdin.read(); print('ready', os.environ['API_KEY'])"


def command(code, **more):
    return {"argv": [sys.executable, "-c", code], **more}


def test_a_try_makes_one_real_call_and_keeps_what_it_said_without_its_secrets():
    secrets.keep("planted", "sk-planted-secret")
    services.save_agent("mine", command(SAY, secret_env={"API_KEY": "planted"}))
    agent_services.ask_to_try("mine")
    assert Agent.objects.get().trial["state"] == "waiting"
    tasks.try_agent("mine")
    done = Agent.objects.get().trial
    assert done["state"] == "answered"
    assert done["lines"] == ["ready [secret removed]"]
    assert "sk-planted" not in json.dumps(done)


def test_a_try_leaves_no_folder_behind_and_runs_in_an_empty_repository(settings):
    seen = trial(AgentConfig(**command("import os; print(os.listdir('.'), os.environ['HOME'])")))
    assert seen.lines[0].startswith("['.git']")
    assert not list((settings.DATA / "trials").iterdir())


def test_the_fault_of_a_try_is_told_with_its_exit_code():
    done = trial(AgentConfig(**command("print('no login'); raise SystemExit(41)")))
    assert (done.state, done.exit_code, done.fault) == ("failed", 41, "crash")
    assert done.lines == ["no login"]


def test_a_cli_that_is_not_there_and_a_secret_that_is_gone_are_sentences():
    gone = trial(AgentConfig(adapter="claude", program="/nowhere/claude"))
    assert gone.fault == "cannot_start"
    assert "/nowhere/claude" in gone.sentence
    assert "no secret named nosuch" in trial(AgentConfig(adapter="claude", key="nosuch")).sentence


def test_a_try_that_was_asked_for_twice_is_carried_out_once(sent):
    services.save_agent("mine", command("print('ready')"))
    agent_services.ask_to_try("mine")
    with pytest.raises(Conflict, match="being tried already"):
        agent_services.ask_to_try("mine")
    assert sent == [("loops.tasks.try_agent", "mine")]
    tasks.try_agent("mine")
    first = Agent.objects.get()
    tasks.try_agent("mine")
    assert Agent.objects.get().tried_at == first.tried_at


def test_a_try_of_settings_that_changed_meanwhile_says_nothing(monkeypatch):
    services.save_agent("mine", command("print('ready')"))
    agent_services.ask_to_try("mine")

    def change(agent):
        services.save_agent("mine", command("print('other')"))
        return trial(agent)

    monkeypatch.setattr(trying, "trial", change)
    tasks.try_agent("mine")
    assert Agent.objects.get().trial is None


def test_a_try_whose_worker_is_gone_can_be_asked_for_again():
    services.save_agent("mine", command("print('ready')"))
    agent = agent_services.ask_to_try("mine")
    late = agent.tried_at - timedelta(seconds=LATE_SECONDS + 1)
    Agent.objects.update(tried_at=late)
    assert not trying.is_under_way(Agent.objects.get())
    agent_services.ask_to_try("mine")


def test_without_a_broker_the_try_says_so(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError

    services.save_agent("mine", command("print('ready')"))
    monkeypatch.setattr(agent_services.current_app, "send_task", refuse)
    agent_services.ask_to_try("mine")
    assert "broker does not answer" in Agent.objects.get().trial["sentence"]


# --- the same verbs by command ---------------------------------------------------------------


def test_agents_are_added_tried_proposed_and_removed_by_command():
    run("agent", "add", "cc", "--adapter", "claude", "--model", "opus", "--lend-login")
    assert Agent.objects.get().settings["logins"] == list(KINDS["claude"].logins)
    assert "cc  claude opus" in run("agent", "list")
    run("agent", "add", "mine", f"{sys.executable} -c 'print(1)'")
    assert "It answered in" in run("agent", "try", "mine")
    assert "worker  mine" in run("agent", "propose", "worker=mine")
    run("agent", "propose", "worker=")
    assert agent_services.proposals() == {}
    run("agent", "remove", "cc")
    with pytest.raises((CommandError, SystemExit, NotFound)):
        run("agent", "remove", "cc")


def test_prices_and_secrets_by_command():
    run("agent", "add", "cc", "--adapter", "claude", "--model", "claude-opus-4-5")
    assert "claude-opus-4-5  set from genai-prices" in run("price", "import")
    assert "by genai-prices" in run("price", "list")
    assert "as before" in run("price", "import")
    secrets.keep("a-key", "value")
    assert "a-key  not used" in run("secret", "list")
    run("secret", "remove", "a-key")
    assert run("secret", "list").strip() == "There are no secrets."


# --- independence ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("claude-opus-4-8", "claude"), ("anthropic/claude-sonnet-4-5", "claude"),
        ("us.anthropic.claude-haiku-4-5-v1:0", "claude"), ("gpt-5.5", "gpt"), ("o3-mini", "gpt"),
        ("openai/gpt-oss-120b", "gpt"), ("Qwen3-Coder-480B", "qwen"), ("gemini-2.5-pro", "gemini"),
        ("devstral-small", "mistral"), ("my-own-model", ""), ("", ""), ("phidget", ""),
    ],
)  # fmt: skip
def test_a_model_s_family_is_read_from_its_name(model, known):
    assert family(model) == known


@pytest.mark.parametrize(
    ("maker", "judge", "expected"),
    [
        (("claude", "opus-4-8"), ("codex", "gpt-5.5"), Grade.OTHER_FAMILY),
        (("claude", "claude-opus-4-8"), ("claude", "claude-haiku-4-5"), Grade.SAME_FAMILY),
        (("claude", "x/claude-opus"), ("opencode", "claude-opus"), Grade.SAME_MODEL),
        (("claude", ""), ("claude", ""), Grade.SAME_MODEL),
        (("claude", ""), ("codex", ""), Grade.OTHER_FAMILY),
        (("claude", ""), ("claude", "claude-haiku"), Grade.SAME_FAMILY),
        (("pi", ""), ("codex", ""), Grade.UNKNOWN),
        (("claude", "stub-model"), ("codex", "stub-model"), Grade.SAME_MODEL),
    ],
)
def test_how_far_a_judge_stands_from_the_maker(maker, judge, expected):
    one, other = (AgentConfig(adapter=adapter, model=model) for adapter, model in (maker, judge))
    assert grade(mind(one), mind(other)) is expected


def judged(**more):
    agent = {"argv": ["true"], "model": "sonnet"}
    config = v.maker_config()
    config["agents"]["maker"] = agent
    config["verifiers"] = [{"name": "judge", "agent": agent}]
    return {**config, **more}


def test_a_verifier_that_runs_the_maker_s_model_is_refused_unless_a_person_knows_it(project, me):
    with pytest.raises(Invalid, match="it would judge itself"):
        services.create_session(project, by=me, config=judged())
    made = services.create_session(project, by=me, config=judged(judges_itself=True))
    assert made.config["judges_itself"] is True


def test_what_measures_may_run_anything(project, me):
    config = judged()
    config["verifiers"][0]["mechanical"] = True
    services.create_session(project, by=me, config=config)
    assert pairs(configuration.parse(config))[0].grade is Grade.MECHANICAL
