"""What the form of a new session promises: bound and preflight beside it, and no lost words."""

from __future__ import annotations

import re
import subprocess

import pytest
from django.test import Client

from loops import services
from loops.models import Agent, Session
from tracker import services as tracker
from tracker.services import members

pytestmark = pytest.mark.django_db(transaction=True)


def text_of(answer) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def browser(role: str, project=None) -> Client:
    client = Client()
    members.grant(role, role, project)
    client.force_login(members.known_user(role))
    return client


@pytest.fixture
def repository(tmp_path):
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@localhost"]
    (tmp_path / "AGENTS.md").write_text("Be brief.")
    for argv in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *argv], cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture
def ours(me, repository):
    made = tracker.create_project(
        name="ours", repo_path=str(repository), by=me, check_command="echo broken-check; exit 3"
    )
    tracker.edit_requirement(made, None, text="It works.", document="reader", by=me)
    tracker.edit_requirement(made, None, text="It is fast.", by=me)
    for name in ("some-worker", "some-reviewer"):
        services.save_agent(name, {"argv": ["true"]})
    return made


@pytest.fixture
def operator(ours):
    return browser("operator", ours)


GOOD = {
    "project": "ours", "goal": "Make it so.", "scope": "all", "pattern": "single_thread",
    "worker": "some-worker",
    "reviewer": "some-reviewer", "coach": "", "review_every": "3", "coach_every": "8",
    "done_mode": "agent", "iterations": "12", "hours": "2", "no_progress": "4",
    "no_tokens": "on", "no_money": "on",
}  # fmt: skip


def look_of(answer) -> str:
    return re.search(r'name="look" value="([^"]*)"', answer.content.decode())[1]


def test_the_form_proposes_agents_by_their_role_and_shows_the_bound(operator):
    page = operator.get("/sessions/new/")
    html = page.content.decode()
    assert '<option value="some-worker" selected>' in html
    assert '<option value="some-reviewer" selected>' in html
    assert '<output class="bound">40</output>' in html
    assert "Not looked at yet" in text_of(page)
    assert "reader, 1 requirement" in text_of(page)


def test_a_look_at_the_repository_is_shown_and_stays_with_the_form(operator):
    page = operator.post("/sessions/new/preview/", {**GOOD, "preview": "1"})
    words = text_of(page)
    assert "The repository can be read" in words
    assert "check fails at the base already" in words
    assert "broken-check" in words
    assert "The worker loads AGENTS.md" in words
    assert '<output class="bound">12</output>' in page.content.decode()
    kept = {**GOOD, "iterations": "7", "look": look_of(page)}
    part = operator.post("/sessions/new/preview/", kept, headers={"HX-Request": "true"})
    assert "broken-check" in text_of(part)
    assert "<html" not in part.content.decode()
    assert '<output class="bound">7</output>' in part.content.decode()


def test_start_makes_the_session_and_queues_it(operator, ours):
    answer = operator.post("/sessions/new/", {**GOOD, "scope": "chosen", "requirements": ["R-2"]})
    session = Session.objects.get()
    assert answer.headers["Location"] == f"/sessions/{session.pk}/"
    assert (session.state, session.goal, session.created_by) == (
        "queued",
        "Make it so.",
        "operator",
    )
    assert session.config["limits"]["wall_seconds"] == 7200
    assert session.scope["requirements"] == ["R-2"]
    assert not session.scope["everything"]
    assert session.preflight["head"]


def test_start_refuses_what_the_look_refuses_and_keeps_the_words(operator, ours):
    ours.repo_path = "/nowhere/at/all"
    ours.save()
    answer = operator.post("/sessions/new/", GOOD)
    assert answer.status_code == 422
    assert "Make it so." in answer.content.decode()
    assert "Not ready to start" in text_of(answer)
    assert "/nowhere/at/all" in text_of(answer)
    assert not Session.objects.exists()


def test_a_look_that_was_not_ours_counts_as_none(operator, ours):
    forged = {**GOOD, "look": "eyJyZWZ1c2FscyI6W119:abc:def"}
    assert "Not looked at yet" in text_of(operator.post("/sessions/new/preview/", forged))
    ours.repo_path = "/nowhere/at/all"
    ours.save()
    assert operator.post("/sessions/new/", forged).status_code == 422


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"iterations": "0"}, "is a whole number from 1; zero and nothing are refused"),
        ({"iterations": ""}, "“Iterations” is missing."),
        ({"no_tokens": ""}, "Give a number, or tick that there is no limit."),
        ({"money": "5", "no_money": ""}, "a token limit too"),
        ({"goal": " ", "scope": "none"}, "needs a goal"),
        ({"scope": "chosen"}, "Choose at least one"),
        ({"done_mode": "script"}, "Name the script"),
        ({"worker": "nobody"}, "valid choice"),
        ({"project": "demo"}, "valid choice"),
        ({"goal": "<script>alert(1)</script>", "hours": "x"}, "whole number"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(changes, sentence, operator, project):
    answer = operator.post("/sessions/new/", {**GOOD, **changes})
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert "<script>alert" not in answer.content.decode()
    assert not Session.objects.exists()


def test_odd_numbers_do_not_break_the_bound(operator):
    for odd in ("", "-4", "1e9", "²", "9" * 40, "<b>"):
        answer = operator.post("/sessions/new/preview/", {**GOOD, "iterations": odd, "hours": odd})
        assert answer.status_code == 200
        assert '<output class="bound">40</output>' in answer.content.decode()


def test_one_agent_in_both_roles_is_warned_about(operator):
    answer = operator.post("/sessions/new/preview/", {**GOOD, "reviewer": "some-worker"})
    assert "are the same agent" in text_of(answer)


def test_another_project_brings_its_own_requirements_and_keeps_what_was_typed(operator, me):
    other = tracker.create_project(name="other", repo_path="/nowhere", by=me)
    tracker.edit_requirement(other, None, text="Something else.", by=me)
    members.grant("operator", "operator", other)
    page = operator.get("/sessions/new/", {"project": "other", "goal": "Typed before"})
    assert "Something else." in text_of(page)
    assert "It works." not in text_of(page)
    assert "Typed before" in page.content.decode()


def test_who_may_not_operate_cannot_start(ours):
    viewer = browser("viewer", ours)
    assert "not start them" in text_of(viewer.get("/sessions/new/"))
    for path in ("/sessions/new/", "/sessions/new/preview/"):
        assert viewer.post(path, {**GOOD, "preview": "1"}).status_code == 403
    assert not Session.objects.exists()


# --- agents ------------------------------------------------------------------------------------


def test_without_an_agent_the_page_leads_to_making_one(project):
    admin = browser("admin")
    assert "There is no agent yet" in text_of(admin.get("/sessions/new/"))
    data = {"name": "my-cli", "command": "tool --file '{prompt_file}' -q", "prompt": "file",
            "wall_minutes": "20", "silence_minutes": "5", "back": "/sessions/new/"}  # fmt: skip
    answer = admin.post("/agents/new/", data)
    assert answer.headers["Location"] == "/sessions/new/"
    settings = Agent.objects.get(name="my-cli").settings
    assert settings["argv"] == ["tool", "--file", "{prompt_file}", "-q"]
    assert (settings["wall_seconds"], settings["silence_seconds"]) == (1200, 300)
    again = admin.post("/agents/new/", data)
    assert again.status_code == 422
    assert "There is an agent my-cli" in text_of(again)


@pytest.mark.parametrize(
    "changes", [{"command": "a 'b"}, {"command": ""}, {"name": "No Name"}, {"wall_minutes": "0"}]
)
def test_an_agent_that_makes_no_sense_is_refused(changes, project):
    data = {
        "name": "x",
        "command": "true",
        "prompt": "stdin",
        "wall_minutes": "1",
        "silence_minutes": "1",
    }
    answer = browser("admin").post("/agents/new/", {**data, **changes})
    assert answer.status_code == 422
    assert not Agent.objects.exists()


def test_a_way_back_never_leads_to_another_site(project):
    data = {"name": "x", "command": "true", "prompt": "stdin", "wall_minutes": "1",
            "silence_minutes": "1", "back": "https://evil.example/"}  # fmt: skip
    assert browser("admin").post("/agents/new/", data).headers["Location"] == "/settings/agents/"


def test_only_admins_of_everything_add_agents_and_make_the_demo(ours):
    for role, project in (("operator", ours), ("viewer", None)):
        client = browser(role, project)
        assert client.get("/agents/new/").status_code == 403
        assert client.post("/agents/new/", {"name": "x", "command": "true"}).status_code == 403
        assert client.post("/demo/").status_code == 403
