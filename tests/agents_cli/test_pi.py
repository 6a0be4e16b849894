"""pi: how it is launched, and what is heard of it (recorded from the real one)."""

import json
from pathlib import Path

import pytest

from loops.agents.cli.adapter import Wish
from loops.agents.cli.pi import KEY, PI
from loops.agents.events import Kind, Usage
from loops.agents.failures import classify
from loops.engine.values import Fault
from tests.agents_cli.hearing import hear, kinds, only, recorded

PLACES = {name: Path("/somewhere") / name for name in ("home", "tmp", "workdir", "clone")}
REQUEST = Usage(model="stub-model", input=1000, output=50, cached=100)
TWO_REQUESTS = Usage(model="stub-model", input=2000, output=100, cached=200)


def launch(**wish):
    return PI.launch(Wish(**{"program": Path("/bin/pi"), "key": "OUR_KEY", **PLACES, **wish}))


def written(name, **wish):
    return json.loads(launch(**wish).files[f".pi/agent/{name}.json"])


def test_a_run_that_writes_a_file_is_heard_from_begin_to_end():
    reader = PI.reader()
    events = hear(reader, recorded("pi", "ok"))
    assert kinds(events) == ["init", "tool_call", "tool_result", "text", "done"]
    assert only(events, Kind.INIT).conversation == recorded("pi", "ok")[0]["id"]
    asked = 'write {"path": "/clone/hello.txt", "content": "hello from stub\\n"}'
    assert only(events, Kind.TOOL_CALL).text == asked
    assert only(events, Kind.TOOL_RESULT).text.startswith("Successfully wrote 16 bytes")
    assert only(events, Kind.TEXT).text == "STUB-DONE: wrote hello.txt"
    assert only(events, Kind.DONE).ok
    assert [event.usage for event in events if event.usage] == [REQUEST, REQUEST]
    assert reader.usages() == (TWO_REQUESTS,)


def test_a_hiccup_is_a_retry_with_its_wait_and_done_comes_after_it():
    reader = PI.reader()
    events = hear(reader, recorded("pi", "hiccup"))
    assert kinds(events) == ["init", "error", "retry", "tool_call", "tool_result", "text", "done"]
    retry = only(events, Kind.RETRY)
    assert (retry.status, retry.wait_seconds) == (500, 2.0)
    assert retry.text == "500 Internal error (stub); retry 1 of 1."
    assert events[-1].ok
    assert reader.usages() == (TWO_REQUESTS,)


@pytest.mark.parametrize(
    ("case", "status", "fault"),
    [
        ("limit", 429, Fault.AGENT_LIMIT),
        ("auth", 401, Fault.AUTH),
        ("context", 400, Fault.CONTEXT_FULL),
    ],
)
def test_a_failed_run_is_never_done_though_its_exit_code_is_0(case, status, fault):
    reader = PI.reader()
    events = hear(reader, recorded("pi", case))
    assert not [event for event in events if event.kind is Kind.DONE and event.ok]
    errors = [event for event in events if event.kind is Kind.ERROR]
    assert {error.status for error in errors} == {status}
    assert classify(errors[-1].status, errors[-1].text) is fault
    assert reader.usages() == ()


def test_a_killed_run_is_never_done_and_what_it_used_is_known():
    reader = PI.reader()
    events = hear(reader, recorded("pi", "killed"))
    assert kinds(events) == ["init", "tool_call"]
    assert reader.usages() == (REQUEST,)


def test_a_message_that_was_cut_off_is_an_error():
    cut = {"role": "assistant", "stopReason": "length", "content": []}
    events = hear(PI.reader(), [{"type": "message_end", "message": cut}, {"type": "agent_end"}])
    assert kinds(events) == ["error"]


def test_parts_of_a_message_are_told_once():
    lines = [line for line in recorded("pi", "ok") if line["type"] == "message_update"]
    assert lines
    assert hear(PI.reader(), lines) == []


def test_each_model_is_counted_apart_with_its_price():
    reader = PI.reader()
    used = {"input": 10, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.25}}
    message = {"role": "assistant", "model": "a", "usage": used}
    for one in (message, message, {**message, "model": "b"}):
        hear(reader, [{"type": "message_end", "message": one}])
    assert reader.usages() == (
        Usage(model="a", input=34, output=4, cached=6, reported=0.5),
        Usage(model="b", input=17, output=2, cached=3, reported=0.25),
    )


def test_the_key_is_in_the_environment_and_nowhere_else():
    made = launch()
    assert made.secret_env == {KEY: "OUR_KEY"}
    assert "OUR_KEY" not in f"{made.argv} {made.env} {made.files}"
    assert written("models")["providers"] == {"anthropic": {"apiKey": KEY}}
    assert launch(key="").secret_env == {}
    assert written("models", key="")["providers"] == {}


def test_an_endpoint_of_ones_own_is_a_provider_of_its_own():
    made = launch(base_url="http://127.0.0.1:1", model="m", context=64_000)
    provider = json.loads(made.files[".pi/agent/models.json"])["providers"]["loopwatch"]
    assert (provider["baseUrl"], provider["apiKey"]) == ("http://127.0.0.1:1/v1", KEY)
    assert provider["models"][0]["id"] == "m"
    assert provider["models"][0]["contextWindow"] == 64_000
    assert made.argv[made.argv.index("--provider") + 1] == "loopwatch"


def test_a_vendors_model_names_its_vendor():
    argv = launch(model="openai/gpt-5").argv
    assert argv[argv.index("--provider") :][:4] == ("--provider", "openai", "--model", "gpt-5")
    assert written("models", model="openai/gpt-5")["providers"] == {"openai": {"apiKey": KEY}}


def test_a_reviewer_takes_nothing_from_the_repository():
    argv = launch(loads_instructions=False).argv
    assert {"--no-context-files", "--no-skills", "--no-prompt-templates"} <= set(argv)
    assert argv[argv.index("--system-prompt") + 1] == ""
    assert argv[argv.index("--append-system-prompt") + 1] == ""
    assert "--no-context-files" not in launch().argv


def test_code_of_the_repository_never_runs_beside_the_key():
    assert "--no-extensions" in launch().argv


def test_its_retries_are_few_and_an_interrupted_conversation_goes_on():
    assert written("settings", retries=1)["retry"]["maxRetries"] == 1
    assert written("settings", retries=0)["retry"]["enabled"] is False
    argv = launch(resume="abc").argv
    assert argv[argv.index("--session") + 1] == "abc"
