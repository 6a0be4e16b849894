"""Whole sessions with real coding CLIs and endpoints end proved, their tools having really run."""

import subprocess

import pytest

from loops import runner, secrets, services, stage
from loops.models import Iteration, LedgerEntry, Session
from tests.agents_cli import minds
from tests.agents_cli.clis import path, program
from tests.stub_llm import StubServer
from tracker import services as tracker
from tracker.models import Bug

pytestmark = [
    pytest.mark.slow,
    pytest.mark.clis,
    pytest.mark.once,
    pytest.mark.django_db(transaction=True),
]
KEY = "sk-stub-0123456789abcdef0123456789abcdef"


@pytest.fixture
def stub():
    with StubServer() as server:
        yield server


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
def play(repo, stub, monkeypatch):
    """Run one session of such agents to its end; every agent's model is the stub's run `role`."""
    monkeypatch.setenv("PATH", path())
    secrets.keep("stub-key", KEY)

    def run(**config):
        me = tracker.person("me")
        project = tracker.create_project(name="p", repo_path=str(repo), by=me)
        tracker.edit_requirement(project, None, text="app.txt lacks the word bad.", by=me)
        config["limits"] = {"iterations": 16, "tokens": 10**9}
        session = services.create_session(project, by=me, config=config)
        services.start(session, me)
        for _ in range(40):
            Session.objects.filter(pk=session.pk).update(not_before=None)
            runner.advance(session.pk, stage.equip)
            session.refresh_from_db()
            if session.state not in ("queued", "running"):
                break
        return session

    return run


@pytest.fixture
def an_agent(stub):
    def make(adapter, run, mind, **settings):
        stub.script(run, mind)
        if adapter not in ("openai", "anthropic"):
            settings["program"] = str(program(adapter))
        base = stub.url("ok", run) + ("/v1" if adapter == "openai" else "")
        model = "gemini-2.5-pro" if adapter == "gemini" else "stub-model"
        return {"adapter": adapter, "model": model, "base_url": base, "key": "stub-key", **settings}

    return make


def told(session):
    """For a failed test: what every iteration did and said."""
    rows = Iteration.objects.filter(session=session).order_by("number")
    return "\n".join(
        f"{row.number} {row.role} {row.outcome} {row.detail}\n"
        + "".join(row.pieces.order_by("seq").values_list("text", flat=True))
        for row in rows
    )


def test_claude_works_codex_reviews_pi_coaches_and_it_ends_done(play, an_agent):
    session = play(
        review_every=1,
        coach_every=2,
        agents={
            "worker": an_agent("claude", "worker", minds.worker),
            "reviewer": an_agent("codex", "reviewer", minds.reviewer),
            "coach": an_agent("pi", "coach", minds.coach),
        },
    )
    assert session.end_reason == "done", told(session)
    assert Bug.objects.get(kind="code").state == "CLOSED"
    roles = {row.role: row for row in Iteration.objects.filter(session=session)}
    assert set(roles) == {"worker", "reviewer", "coach"}
    assert all(row.version for row in roles.values())
    assert set(LedgerEntry.objects.values_list("role", flat=True)) == set(roles)


def test_endpoints_think_and_verify_what_qwen_works_and_it_ends_done(play, an_agent):
    session = play(
        pattern="thinker_worker_verifier",
        agents={"thinker": an_agent("openai", "thinker", minds.thinker)},
        pool=[{"name": "qwen", "agent": an_agent("qwen", "worker", minds.maker)}],
        verifiers=[{"name": "judge", "agent": an_agent("anthropic", "judge", minds.verifier)}],
    )
    assert session.end_reason == "done", told(session)
    assert set(LedgerEntry.objects.values_list("role", flat=True)) == {
        "thinker", "worker", "verifier",
    }  # fmt: skip
