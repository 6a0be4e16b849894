"""`up --demo`: one repository that is the same everywhere, one project, one session."""

import subprocess

import pytest

from loops import demo, demo_source
from loops.agents.ruff_demo import findings
from loops.agents.scripted.tools import Tools
from loops.models import Agent, Session
from tracker import services as tracker
from tracker.errors import Conflict
from tracker.models import Project


def git(folder, *args):
    return subprocess.run(
        ["git", *args], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_repository_is_the_same_commit_each_time_and_is_made_once(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    demo_source.build(first)
    demo_source.build(second)
    assert git(first, "rev-parse", "HEAD") == git(second, "rev-parse", "HEAD")
    assert git(first, "status", "--porcelain") == ""
    assert {"LICENSE", "README.md"} <= set(git(first, "ls-files").splitlines())
    (first / "README.md").write_text("a person was here")
    demo_source.build(first)
    assert (first / "README.md").read_text() == "a person was here"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


def test_the_requirements_hold_something_to_fix_and_something_that_ruff_cannot_fix(tmp_path):
    demo_source.build(tmp_path / "repo")
    tools = Tools(folder=tmp_path / "repo")
    codes = findings.codes_in("\n".join(demo.REQUIREMENTS))
    found = {each.code for each in findings.find(tools, codes)}
    for code in codes:
        findings.fix(tools, code)
    assert {each.code for each in findings.find(tools, codes)} == {"B904"}
    assert len(found) >= 4


@pytest.fixture
def by(db, settings, tmp_path):
    settings.DATA = tmp_path
    return tracker.person("ada")


def test_a_second_start_with_the_demo_changes_nothing(by):
    session = demo.ensure_demo(by)
    assert session.state == "queued"
    assert set(session.config["agents"]) == {"worker", "reviewer", "coach"}
    repository, seq = session.project.repo_path, session.project.tracker_seq
    head = git(repository, "rev-parse", "HEAD")
    assert demo.ensure_demo(by) == session
    assert (Session.objects.count(), Project.objects.get().tracker_seq) == (1, seq)
    assert Agent.objects.count() == 3
    assert git(repository, "rev-parse", "HEAD") == head


def test_a_start_that_was_cut_off_before_the_session_started_is_finished(by, monkeypatch):
    monkeypatch.setattr(demo.services, "start", lambda session, by: None)
    draft = demo.ensure_demo(by)
    assert draft.state == "draft"
    monkeypatch.undo()
    assert demo.ensure_demo(by).state == "queued"
    assert Session.objects.get() == draft


def test_another_project_of_that_name_is_left_alone(by, tmp_path):
    tracker.create_project(name="demo", repo_path=str(tmp_path / "mine"), by=by)
    with pytest.raises(Conflict, match="not the demo"):
        demo.ensure_demo(by)
    assert not Session.objects.exists()
