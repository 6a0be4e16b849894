"""Settings: who may work is found, tried, priced and trusted with secrets on one page; whatever is
typed wrong is said where it was typed, and nothing of it is lost."""

from __future__ import annotations

import pytest
from django.utils import timezone

from loops import agent_services, secrets, services
from loops.agents.confine import Confinement
from loops.models import Agent, Program, RoleDefault, Secret
from loops.reading import confined as confined_reading
from loops.trials import Trial
from tests.loops.pages_kit import said, sign_in, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """What workers were asked for."""
    asked = []
    monkeypatch.setattr(
        agent_services.current_app, "send_task", lambda task, args: asked.append((task, *args))
    )
    return asked


@pytest.fixture
def admin(client):
    return sign_in(client)


def found(name, version, path="/usr/bin/it"):
    Program.objects.create(
        host="here", name=name, path=path, version=version, seen_at=timezone.now()
    )


def page(client):
    return text_of(client.get("/settings/agents/"))


# --- agents ----------------------------------------------------------------------------------


def test_only_who_may_set_up_everything_sees_and_changes_settings(client, project):
    sign_in(client, "op", "operator")
    services.save_agent("mine", {"argv": ["true"]})
    secrets.keep("a-key", "value")
    for path in ("agents/", "agents/mine/", "prices/", "secrets/", "secrets/a-key/"):
        assert client.get(f"/settings/{path}").status_code == 403, path
    for path in (
        *("look/", "roles/", "prices/", "prices/take/", "agents/mine/", "agents/mine/try/"),
        *("agents/mine/remove/", "secrets/", "secrets/a-key/", "secrets/a-key/remove/"),
    ):
        assert client.post(f"/settings/{path}", {"sure": "1"}).status_code == 403, path
    assert client.get("/welcome/").status_code == 403
    assert "Settings" not in text_of(client.get("/"))
    assert Agent.objects.filter(name="mine").exists()


def test_the_rail_leads_admins_to_the_settings(admin, project):
    html = admin.get("/").content.decode()
    assert 'href="/settings/agents/"' in html
    assert admin.get("/settings/").headers["Location"] == "/settings/agents/"


def test_each_agent_is_shown_with_version_use_last_try_and_what_confines_it(admin, new_session):
    services.save_agent("cc", {"adapter": "claude", "model": "claude-opus-4-8"})
    services.save_agent("worker", {"argv": ["true"]})
    found("claude", "2.1.332")
    new_session()
    shown = page(admin)
    assert "Claude Code 2.1.332, in range · claude-opus-4-8 · not used" in shown
    assert "Any command · Worker and Reviewer in S-" in shown
    assert shown.count("Not tried") == 2
    assert "0 of 2 answered when tried" in shown


def test_a_version_outside_the_tested_range_is_warned_about(admin):
    services.save_agent("cc", {"adapter": "claude"})
    found("claude", "9.0.1")
    shown = page(admin)
    assert "Claude Code 9.0.1, out of range" in shown
    assert "This version is newer than" in shown


def test_what_was_found_and_no_agent_uses_is_offered(admin):
    found("gemini", "0.61.0")
    found("codex", "", path="")
    shown = page(admin)
    assert "Found here, not used yet" in shown
    assert "Gemini CLI 0.61.0, in range" in shown
    assert "Codex" not in shown


def test_before_anybody_looked_a_worker_is_asked_to_look_once(admin, sent):
    from django.core.cache import cache

    cache.clear()
    page(admin)
    page(admin)
    assert sent == [("loops.tasks.look_for_programs",)]


@pytest.mark.parametrize(
    ("mode", "adapter", "word"),
    [
        (Confinement.BUBBLEWRAP, "claude", "Confined by the system"),
        (Confinement.SHIM, "claude", "Not confined"),
        (Confinement.SHIM, "command", "Not confined"),
        (Confinement.SHIM, "openai", "Runs nothing here"),
    ],
)
def test_the_statement_says_what_confines_an_agent_here(monkeypatch, mode, adapter, word):
    monkeypatch.setattr(confined_reading, "confinement", lambda: mode)
    told = confined_reading.confined(adapter)
    assert told.chip.word == word
    assert ("could act as you" in told.sentence) == (word == "Not confined")


def test_try_it_asks_a_worker_and_says_so_until_the_answer_is_there(admin, sent):
    services.save_agent("mine", {"argv": ["true"]})
    found("claude", "1.0")
    admin.post("/settings/agents/mine/try/")
    assert sent == [("loops.tasks.try_agent", "mine")]
    assert "Waits for a slot" in page(admin)
    again = admin.post("/settings/agents/mine/try/", follow=True)
    assert "is being tried already" in said(again)[0]
    part = admin.get("/settings/parts/agents/").content.decode()
    assert 'data-part="agents"' in part
    assert "disabled" in part


def test_a_failed_try_shows_the_agent_s_words_and_the_way_on(admin):
    agent = services.save_agent("mine", {"adapter": "gemini"})
    bad = Trial(state="failed", fault="auth", sentence="No auth.", exit_code=41, lines=["! no"])
    Agent.objects.filter(pk=agent.pk).update(trial=bad.to_json(), tried_at=timezone.now())
    shown = page(admin)
    assert "No login exit 41 ·" in shown
    assert "No auth. Change its settings" in shown


def test_an_answer_shows_seconds_tokens_and_cost_and_a_subscription_none(admin):
    good = Trial(state="answered", seconds=1.4, tokens=212, money=0.0125, lines=["ready"])
    for name, more in (("one", {}), ("two", {"subscription": True})):
        agent = services.save_agent(name, {"adapter": "claude", **more})
        Agent.objects.filter(pk=agent.pk).update(trial=good.to_json(), tried_at=timezone.now())
    shown = page(admin)
    assert "Answers 1.4 s" in shown
    assert "212 tokens, $0.01" in shown
    assert "212 tokens, by subscription, not priced" in shown
    assert "2 of 2 answered" in shown


# --- the form of an agent --------------------------------------------------------------------

CLAUDE = {"adapter": "claude", "name": "cc", "model": "opus", "key": "", "new_key": ""}


def test_an_agent_of_a_cli_is_added_with_a_key_that_is_never_shown_again(admin):
    answer = admin.post("/agents/new/", {**CLAUDE, "new_key": "sk-very-secret", "save": "1"})
    assert answer.headers["Location"] == "/settings/agents/"
    agent = Agent.objects.get()
    assert (agent.name, agent.adapter, agent.settings["key"]) == ("cc", "claude", "cc-key")
    assert secrets.reveal("cc-key") == "sk-very-secret"
    for path in ("agents/", "agents/cc/", "secrets/cc-key/"):
        assert "sk-very-secret" not in admin.get(f"/settings/{path}").content.decode()
    assert (Secret.objects.get().by, Secret.objects.get().at is None) == ("ana", False)


def test_save_and_try_asks_a_worker_at_once(admin, sent):
    admin.post("/agents/new/", {**CLAUDE, "and_try": "1", "back": "/welcome/"})
    assert sent == [("loops.tasks.try_agent", "cc")]


@pytest.mark.parametrize("adapter", ["claude", "codex", "gemini", "opencode", "qwen", "pi"])
def test_every_cli_can_be_added_by_its_link(admin, adapter):
    form = admin.get(f"/agents/new/?adapter={adapter}").context["page"].form
    assert (form["adapter"].value(), form["name"].value()) == (adapter, adapter)
    admin.post("/agents/new/", {"adapter": adapter, "name": adapter, "lend_login": "on"})
    agent = Agent.objects.get()
    assert agent.adapter == adapter
    assert agent.settings["logins"]


@pytest.mark.parametrize(
    ("typed", "where", "sentence"),
    [
        ({"adapter": "command", "command": ""}, "command", "Give the program"),
        ({"adapter": "command", "command": "a 'b"}, "command", "quotation mark"),
        ({"adapter": "openai", "model": ""}, "model", "needs a model"),
        ({"adapter": "openai", "model": "m"}, "base_url", "needs its address"),
        ({"adapter": "claude", "base_url": "nonsense"}, "base_url", "starts with http"),
        ({"adapter": "claude", "env": "X"}, "env", "does not read NAME=value"),
        ({"adapter": "claude", "env": "PATH=/x"}, "env", "set by Loopwatch"),
        ({"adapter": "claude", "secret_env": "X=nosuch"}, "secret_env", "no secret nosuch"),
        ({"adapter": "claude", "wall_minutes": "0"}, "wall_minutes", "whole number"),
        ({"adapter": "nonsense"}, "adapter", "valid choice"),
        ({"adapter": "claude", "name": "Not A Name"}, "name", "small letters"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_typed_is_lost(
    admin, typed, where, sentence
):
    answer = admin.post("/agents/new/", {"name": "cc", "program": "/opt/x", **typed})
    form = answer.context["page"].form
    assert answer.status_code == 422
    assert sentence in " ".join(form.errors[where])
    assert not Agent.objects.exists()
    for name, value in typed.items():
        assert form[name].value() == value


def test_a_taken_name_is_refused_and_changing_an_agent_keeps_its_name(admin):
    services.save_agent("cc", {"adapter": "claude", "model": "opus", "env": {"A": "b"}})
    assert admin.post("/agents/new/", CLAUDE).status_code == 422
    Agent.objects.update(trial=Trial(state="answered").to_json())
    form = admin.get("/settings/agents/cc/").context["page"].form
    typed = {field.name: field.value() for field in form if field.value() not in (None, False)}
    admin.post("/settings/agents/cc/", typed)
    assert Agent.objects.get().trial is not None, "nothing changed, so the try still counts"
    admin.post("/settings/agents/cc/", {**typed, "model": "sonnet"})
    agent = Agent.objects.get()
    assert (agent.settings["model"], agent.settings["env"]) == ("sonnet", {"A": "b"})
    assert agent.trial is None


def test_removing_an_agent_asks_first_and_sessions_keep_their_copy(admin, new_session):
    services.save_agent("worker", {"argv": ["true"]})
    session = new_session()
    asked = admin.post("/settings/agents/worker/remove/")
    assert "Remove the agent worker now?" in text_of(asked)
    assert Agent.objects.exists()
    admin.post("/settings/agents/worker/remove/", {"sure": "1"})
    assert not Agent.objects.exists()
    session.refresh_from_db()
    assert session.config["agents"]["worker"]["argv"] == ["true"]


# --- roles -----------------------------------------------------------------------------------


def test_role_defaults_are_what_a_new_session_s_form_proposes(admin, project):
    for name in ("a-worker", "zed"):
        services.save_agent(name, {"argv": ["true"]})
    admin.post("/settings/roles/", {"worker": "zed", "reviewer": "a-worker"})
    form = admin.get("/sessions/new/").context["page"].form
    assert (form["worker"].value(), form["reviewer"].value()) == ("zed", "a-worker")
    assert form.pool[0].value("agent") == "zed"
    admin.post("/settings/agents/zed/remove/", {"sure": "1"})
    assert [one.role for one in RoleDefault.objects.all()] == ["reviewer"]
    refused = admin.post("/settings/roles/", {"worker": "gone"})
    assert refused.status_code == 422
