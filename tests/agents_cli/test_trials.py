""" "Try it" makes one real call: what the CLI did, what it used, or why it failed."""

import json

import pytest

from loops import secrets
from loops.agent_settings import AgentConfig
from loops.trials import trial
from tests.agents_cli.clis import NAMES, path, program
from tests.stub_llm import StubServer

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
def tried(stub, monkeypatch):
    monkeypatch.setenv("PATH", path())
    secrets.keep("stub-key", KEY)

    def run(name, steps):
        stub.script("tried", steps)
        where = str(program(name))
        return trial(
            AgentConfig(
                adapter=name,
                program=where,
                model="tried",
                base_url=stub.url("ok", "tried"),
                key="stub-key",
            )
        )

    return run


@pytest.mark.parametrize("name", NAMES)
def test_a_cli_that_answers_is_told_with_its_words_version_and_tokens(tried, name):
    done = tried(name, [{"text": "ready"}])
    assert (done.state, done.sentence) == ("answered", "")
    assert any("ready" in line for line in done.lines)
    assert done.tokens
    assert done.version
    assert done.money is None, "its model has no price: never $0"


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_a_refused_key_is_told_as_that_and_never_shown(tried, name):
    done = tried(name, [{"fail": [401, f"invalid key {KEY}"]}])
    assert (done.state, done.fault) == ("failed", "auth")
    assert done.sentence
    assert KEY not in json.dumps(done.to_json())


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_an_endpoint_that_answers_is_told_too(stub, kind):
    secrets.keep("stub-key", KEY)
    report = {"status": "OK", "score": 10, "feedback": "ready", "evidence": []}
    stub.script("tried", [{"text": json.dumps(report)}])
    url = stub.url("ok", "tried") + ("/v1" if kind == "openai" else "")
    done = trial(AgentConfig(adapter=kind, model="tried", base_url=url, key="stub-key"))
    assert (done.state, done.sentence) == ("answered", "")
    assert done.tokens
