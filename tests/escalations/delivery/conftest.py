"""Sessions on a real repository with a real clone and store; only the agents are Python."""

from __future__ import annotations

import pytest

from escalations.models import Escalation
from loops import runner, stage
from loops.engine.values import Role
from loops.models import Session
from tests.loops.workspace_kit import git, make_source
from tests.loops.world import Tools, World
from tracker import commands
from tracker import services as tracker

FILES = {"a.txt": "one\n", "crlf.txt": "a\r\nb\r\n", "src/b.txt": "two\n"}
ODD = "caf\N{LATIN SMALL LETTER E WITH ACUTE} <b>.txt"


def clone_of(tools: Tools):
    return tools.workspace._clone


def worker(tools: Tools) -> None:
    """A commit, then things that nobody committed."""
    clone = clone_of(tools)
    (clone / "a.txt").write_text("agent\n")
    git(clone, "commit", "-q", "-a", "-m", "Agent's work")
    (clone / ODD).write_text("odd\n")
    (clone / "data.bin").write_bytes(b"\0\xff")
    (clone / "crlf.txt").write_bytes(b"a\r\nb\r\nc\r\n")


def tidy_worker(tools: Tools) -> None:
    worker(tools)
    git(clone_of(tools), "add", "-A")
    git(clone_of(tools), "commit", "-q", "-m", "The rest")


@pytest.fixture(autouse=True)
def as_a_person(monkeypatch):
    """These tests may run inside an agent's process tree."""
    monkeypatch.setattr(commands, "refuse_agents", lambda: None)


@pytest.fixture
def source(tmp_path):
    return make_source(tmp_path / "source", FILES)


@pytest.fixture
def project(me, source, tmp_path, settings):
    settings.DATA = tmp_path / "data"
    settings.DATA.mkdir()
    made = tracker.create_project(name="demo", repo_path=str(source), by=me)
    tracker.edit_requirement(made, None, text="The file a.txt is there.", by=me)
    tracker.edit_requirement(made, None, text="No file holds the word bad.", by=me)
    return made


def _is_untouched(workspace) -> int:
    """A done script: fails (1) while a.txt is as it was."""
    return int((workspace._clone / "a.txt").read_text() == FILES["a.txt"])


def drive(session: Session, work, most: int = 5) -> Session:
    """Run it until it ends or waits. In done mode script it is done with its first commits."""
    workspace = stage.workspace_of(Session.objects.select_related("project").get(pk=session.pk))
    world = World({Role.WORKER: work}, workspace, script=_is_untouched)
    for _ in range(most):
        more = runner.advance(session.pk, world, iterations=1)
        session.refresh_from_db()
        if not more and session.state not in ("queued", "running"):
            return session
    pytest.fail("the session still runs")


@pytest.fixture
def done(new_session):
    """A session that proved what it did."""
    session = drive(new_session(done_mode="script", script="check.sh"), tidy_worker)
    assert session.end_reason == "done", session.end_sentence
    return session


@pytest.fixture
def asked(new_session):
    """A session at its limit, with work that is not committed."""
    session = drive(new_session(limits={"iterations": 1}), worker)
    return Escalation.objects.get(session=session)


@pytest.fixture
def remote(tmp_path, source):
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "remote.git"))
    git(source, "remote", "add", "origin", str(tmp_path / "remote.git"))
    return tmp_path / "remote.git"
