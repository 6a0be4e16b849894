"""Qwen Code: how it is launched, and what is heard of it (recorded from the real one)."""

import json
from pathlib import Path

import pytest

from loops.agents.cli.adapter import Wish
from loops.agents.cli.qwen import QWEN, SETTINGS
from loops.agents.events import Kind, Usage
from loops.agents.failures import classify
from loops.engine.values import Fault
from tests.agents_cli.hearing import (
    check,
    check_usage,
    every_case,
    hear,
    kinds,
    only,
    recorded,
    spoilt,
)

PLACES = {name: Path("/somewhere") / name for name in ("home", "tmp", "workdir", "clone")}
TWO_REQUESTS = Usage(model="stub-model", input=2000, output=100, cached=200)


def launch(**wish):
    return QWEN.launch(Wish(**{"program": Path("/bin/qwen"), "key": "OUR_KEY", **PLACES, **wish}))


def settings(**wish):
    return json.loads(launch(**wish).files[SETTINGS])


def test_a_run_that_writes_a_file_is_heard_from_begin_to_end():
    reader = QWEN.reader()
    events = hear(reader, recorded("qwen", "ok"))
    assert kinds(events) == ["init", "tool_call", "tool_result", "text", "done"]
    init = only(events, Kind.INIT)
    assert init.conversation == recorded("qwen", "ok")[0]["session_id"]
    assert init.model == "stub-model"
    assert only(events, Kind.TOOL_CALL).text.startswith(
        'write_file {"file_path": "/clone/hello.txt"'
    )
    assert "Successfully created" in only(events, Kind.TOOL_RESULT).text
    assert only(events, Kind.TEXT).text == "STUB-DONE: wrote hello.txt"
    assert only(events, Kind.DONE).ok
    assert reader.usages() == (TWO_REQUESTS,)


def test_a_hiccup_that_it_got_over_is_no_error():
    reader = QWEN.reader()
    events = hear(reader, recorded("qwen", "hiccup"))
    assert Kind.ERROR not in {event.kind for event in events}
    assert reader.usages() == (TWO_REQUESTS,)


@pytest.mark.parametrize(
    ("case", "status", "fault"),
    [
        ("limit", 429, Fault.AGENT_LIMIT),
        ("auth", 401, Fault.AUTH),
        ("context", 400, Fault.CONTEXT_FULL),
    ],
)
def test_an_error_names_its_status_and_becomes_the_right_fault(case, status, fault):
    reader = QWEN.reader()
    events = hear(reader, recorded("qwen", case))
    error, done = only(events, Kind.ERROR), only(events, Kind.DONE)
    assert error.status == status
    assert not done.ok
    assert classify(error.status, error.text) is fault
    # It tells the error as the model's speech too; that would count as progress.
    assert Kind.TEXT not in {event.kind for event in events}
    assert sum(usage.input + usage.output for usage in reader.usages()) == 0


def test_a_retry_says_how_long_it_waits():
    events = hear(QWEN.reader(), recorded("qwen", "limit"))
    retries = [event for event in events if event.kind is Kind.RETRY]
    assert [retry.wait_seconds for retry in retries] == [2.0, None]
    assert all(retry.text for retry in retries)


def test_a_killed_run_is_never_done_and_what_it_used_is_known():
    reader = QWEN.reader()
    events = hear(reader, recorded("qwen", "killed"))
    assert kinds(events) == ["init", "tool_call", "tool_result"]
    assert not only(events, Kind.TOOL_RESULT).ok
    assert reader.usages() == (Usage(model="stub-model", input=1000, output=50, cached=100),)


def test_requests_that_are_not_shown_count_at_the_end():
    lines = recorded("qwen", "ok")
    lines[-1]["usage"]["input_tokens"] = 3000
    reader = QWEN.reader()
    hear(reader, lines)
    assert reader.usages()[0].input == 3000


def test_each_model_is_counted_apart_and_each_message_once():
    message = {"id": "1", "model": "a", "usage": {"input_tokens": 10, "output_tokens": 2}}
    other = {**message, "id": "2", "model": "b"}
    reader = QWEN.reader()
    hear(reader, [{"type": "assistant", "message": one} for one in (message, message, other)])
    assert reader.usages() == tuple(Usage(model=name, input=10, output=2) for name in "ab")


@pytest.mark.parametrize("line", [{}, {"type": "news", "x": [1]}, {"type": None}, {"type": {}}])
def test_what_is_unknown_is_kept_as_it_is(line):
    (event,) = hear(QWEN.reader(), [line])
    assert (event.kind, json.loads(event.text)) == (Kind.RAW, line)


@pytest.mark.parametrize("case", every_case("qwen"))
def test_wrong_types_in_any_field_never_break_the_reader(case):
    for line in recorded("qwen", case):
        for wrong in spoilt(line):
            reader = QWEN.reader()
            check(hear(reader, [wrong, wrong]))
            for usage in reader.usages():
                check_usage(usage)


def test_the_key_is_in_the_environment_and_nowhere_else():
    made = launch()
    assert made.secret_env == {"OPENAI_API_KEY": "OUR_KEY"}
    assert "OUR_KEY" not in f"{made.argv} {made.env} {made.files}"
    assert made.argv[made.argv.index("--auth-type") + 1] == "openai"


def test_without_a_key_and_an_address_it_signs_in_by_its_files():
    made = launch(key="")
    assert made.secret_env == {}
    assert made.argv[made.argv.index("--auth-type") + 1] == "qwen-oauth"


def test_an_endpoint_without_a_key_is_asked_without_one():
    made = launch(key="", base_url="http://127.0.0.1:1")
    assert made.env["OPENAI_API_KEY"] == "none"
    assert made.argv[made.argv.index("--auth-type") + 1] == "openai"


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("http://127.0.0.1:1", "http://127.0.0.1:1/v1"),
        ("http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1"),
        ("https://api.example.org/paas/v4", "https://api.example.org/paas/v4"),
    ],
)
def test_an_address_gets_its_version_unless_it_names_one(address, asked):
    assert launch(base_url=address).env["OPENAI_BASE_URL"] == asked


def test_the_tracker_stands_in_its_settings_without_its_token_and_unhidden():
    asked = settings(mcp=("/bin/loopwatch", "mcp"))
    server = asked["mcpServers"]["tracker"]
    assert (server["command"], server["args"]) == ("/bin/loopwatch", ["mcp"])
    assert server["env"]["LOOPWATCH_TOKEN"] == "${LOOPWATCH_TOKEN}"
    assert asked["tools"]["toolSearch"] == {"enabled": False}


def test_a_reviewer_takes_nothing_from_the_repository():
    asked = settings(loads_instructions=False)
    assert asked["disableAllHooks"] is True
    assert not set(asked["context"]["fileName"]) & set(QWEN.instructions)
    assert "--allowed-mcp-server-names" in launch(loads_instructions=False).argv
    assert "context" not in settings()


def test_its_settings_win_over_the_repositorys():
    made = launch()
    assert made.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"] == f"/somewhere/home/{SETTINGS}"


def test_an_interrupted_conversation_goes_on():
    argv = launch(resume="abc").argv
    assert argv[argv.index("--resume") + 1] == "abc"


def test_its_own_retries_are_few_and_short():
    asked = settings()["model"]["generationConfig"]
    assert asked["maxRetries"] == 1
    assert asked["retryInitialDelayMs"] <= asked["retryMaxDelayMs"] <= 10_000
