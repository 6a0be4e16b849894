"""The first run: from the login link to a running session, each step kept when it is done."""

from __future__ import annotations

import subprocess

import pytest
from django.utils import timezone

from loops import agent_services, first_run, services, sign_in
from loops.models import Agent, Program, Session
from loops.trials import Trial
from tests.loops.pages_kit import sign_in as as_person
from tests.loops.pages_kit import text_of
from tracker import services as tracker
from tracker.models import Project

pytestmark = pytest.mark.django_db(transaction=True)

REQUIREMENTS = """# What it must do

1. It reads files
   with quoted fields.
2. It is fast.

- not numbered

R-7: It says why it fails.
"""


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    asked = []
    monkeypatch.setattr(
        agent_services.current_app, "send_task", lambda task, args: asked.append((task, *args))
    )
    return asked


@pytest.fixture
def admin(client):
    return as_person(client)


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "csv lane"
    folder.mkdir()
    (folder / "REQUIREMENTS.md").write_text(REQUIREMENTS)
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@localhost"]
    for argv in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *argv], cwd=folder, check=True)
    (folder / "new.txt").write_text("not committed")
    return folder


def found(name, version="2.1.332"):
    Program.objects.create(
        host="here", name=name, path=f"/usr/bin/{name}", version=version, seen_at=timezone.now()
    )


def answers(name, **settings):
    agent = services.save_agent(name, settings)
    done = Trial(state="answered", seconds=1.4, tokens=212, lines=["ready"])
    Agent.objects.filter(pk=agent.pk).update(trial=done.to_json(), tried_at=timezone.now())
    return agent


def test_the_first_sign_in_leads_to_the_first_run_and_later_ones_do_not(client, me):
    first = client.post(sign_in.link_for_owner("me").path)
    assert first.headers["Location"] == "/welcome/"
    tracker.create_project(name="ours", repo_path="/nowhere", by=me)
    assert client.post(sign_in.link_for_owner("me").path).headers["Location"] == "/"


def test_a_way_back_wins_over_the_first_run(client, db):
    link = sign_in.link_for_owner("me").path
    assert client.post(f"{link}?next=/account/").headers["Location"] == "/account/"


def test_what_is_found_is_tried_with_one_press_which_makes_it_an_agent(admin, sent):
    found("claude")
    found("qwen", "0.15.10")
    shown = text_of(admin.get("/welcome/"))
    assert "Claude Code 2.1.332 Not tried" in shown
    assert "Older than 0.24.4" in shown
    assert "Try an agent first" in shown
    assert admin.post("/welcome/try/claude/").headers["Location"] == "/welcome/"
    agent = Agent.objects.get()
    assert (agent.name, agent.adapter) == ("claude", "claude")
    assert sent[-1] == ("loops.tasks.try_agent", "claude")
    assert 'data-part="agents"' in admin.get("/welcome/parts/agents/").content.decode()
    assert admin.post("/welcome/try/nosuch/").status_code == 404


def test_a_sign_in_is_lent_only_when_the_person_ticks_it(admin, monkeypatch, tmp_path):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/.credentials.json").write_text("{}")
    monkeypatch.setenv("HOME", str(tmp_path))
    found("claude")
    assert "~/.claude/.credentials.json" in text_of(admin.get("/welcome/"))
    admin.post("/welcome/try/claude/", {"asks_logins": "1"})
    assert Agent.objects.get().settings["logins"] == []
    Agent.objects.update(trial=None)
    admin.post("/welcome/try/claude/", {"asks_logins": "1", "lend_login": "1"})
    assert Agent.objects.get().settings["logins"] == [".claude/.credentials.json"]


def test_a_look_shows_what_is_in_the_repository_and_makes_nothing(admin, repository):
    answer = admin.post("/welcome/repository/", {"path": str(repository), "look": "1"})
    shown = text_of(answer)
    assert "Git, branch main" in shown
    assert "Tests found python -m pytest -q" in shown
    assert "REQUIREMENTS.md 3 numbered" in shown
    assert "Your uncommitted changes are not in the session: new.txt" in shown
    assert "Take the 3 statements of REQUIREMENTS.md over" in shown
    assert answer.context["page"].repository.form["name"].value() == "csv-lane"
    assert not Project.objects.exists()


@pytest.mark.parametrize("path", ["", "/nowhere/at/all", "relative/path", "\0"])
def test_a_folder_that_cannot_be_used_is_refused_at_its_field(admin, path):
    answer = admin.post("/welcome/repository/", {"path": path, "look": "1"})
    assert answer.status_code == 422
    assert answer.context["page"].repository.form.errors["path"]


def made(admin, repository, **more):
    typed = {"path": str(repository), "name": "csvlane", "check": "true", "make": "1", **more}
    return admin.post("/welcome/repository/", typed)


def test_the_project_takes_the_numbered_statements_over(admin, repository):
    made(admin, repository, takes_over="on")
    project = Project.objects.get()
    texts = [(one.key, one.current.text) for one in tracker.requirements(project)]
    assert texts == [
        ("R-1", "It reads files\nwith quoted fields."),
        ("R-2", "It is fast."),
        ("R-3", "It says why it fails."),
    ]
    assert "3 requirements · checked by true" in text_of(admin.get("/welcome/"))


def test_statements_stay_where_they_are_unless_they_are_wanted_and_a_taken_name_is_said(
    admin, repository
):
    made(admin, repository)
    assert not tracker.requirements(Project.objects.get())
    again = made(admin, repository, check="make it")
    assert again.status_code == 422
    form = again.context["page"].repository.form
    assert form.errors["name"]
    assert form["check"].value() == "make it"


def test_the_first_session_runs_with_agents_that_answered_the_reviewer_of_another_family(
    admin, repository
):
    made(admin, repository)
    answers("opus", adapter="claude", model="claude-opus-4-8")
    answers("haiku", adapter="claude", model="claude-haiku-4-5")
    answers("codex", adapter="codex", model="gpt-5.5")
    services.save_agent("silent", {"adapter": "gemini"})
    shown = text_of(admin.get("/welcome/"))
    assert "Worker opus · claude-opus-4-8 Reviewer codex · gpt-5.5" in shown
    assert "Independence: Other family" in shown
    assert "Start S-1 on csvlane" in shown
    answer = admin.post("/welcome/start/", {"goal": "Make it so."})
    session = Session.objects.get()
    assert answer.headers["Location"] == f"/sessions/{session.pk}/"
    assert session.config["agents"]["reviewer"]["adapter"] == "codex"
    assert session.config["limits"]["iterations"] == first_run.ITERATIONS


def test_one_agent_that_answers_is_enough_and_the_page_says_what_it_is_worth(admin, repository):
    made(admin, repository)
    answers("claude", adapter="claude")
    assert "Independence: Same model" in text_of(admin.get("/welcome/"))
    admin.post("/welcome/start/", {"goal": "Make it so."})
    assert Session.objects.exists()


def test_nothing_starts_before_the_steps_are_done_and_the_goal_stays(admin, repository):
    early = admin.post("/welcome/start/", {"goal": "Make it so."})
    assert early.status_code == 422
    assert "No agent has answered yet" in text_of(early)
    assert early.context["page"].form["goal"].value() == "Make it so."
    answers("claude", adapter="claude")
    assert "There is no project yet" in text_of(admin.post("/welcome/start/", {"goal": "x"}))
    made(admin, repository)
    empty = admin.post("/welcome/start/", {"goal": ""})
    assert "nothing to prove" in text_of(empty)
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("prose\n\n1) one\n2. two\n   goes on\n\nprose", ("one", "two\ngoes on")),
        ("- R-1: first\n* R2. second", ("first", "second")),
        ("1.5 is a number", ()),
        ("- a list without numbers", ()),
    ],
)
def test_numbered_statements_are_read_with_the_lines_that_go_on_with_them(text, expected):
    assert first_run.statements_in(text) == expected
