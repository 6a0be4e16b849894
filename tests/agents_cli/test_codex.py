"""Codex: how it is launched, and what is heard of it (recorded from the real one)."""

import tomllib
from pathlib import Path

import pytest

from loops.agents.cli.adapter import Wish
from loops.agents.cli.codex import CODEX, KEY
from loops.agents.events import Kind, Usage
from loops.agents.failures import classify
from loops.engine.values import Fault
from tests.agents_cli.hearing import hear, kinds, only, recorded

PLACES = {name: Path("/somewhere") / name for name in ("home", "tmp", "workdir", "clone")}
TWO_REQUESTS = Usage(model="", input=2000, output=100, cached=200, reasoning=10)


def launch(**wish):
    return CODEX.launch(Wish(**{"program": Path("/bin/codex"), "key": "OUR_KEY", **PLACES, **wish}))


def settings(**wish):
    return tomllib.loads(launch(**wish).files[".codex/config.toml"])


def test_a_run_that_writes_a_file_is_heard_from_begin_to_end():
    reader = CODEX.reader()
    events = hear(reader, recorded("codex", "ok"))
    # It warns of a model that it does not know: no failure.
    assert kinds(events) == ["init", "raw", "tool_call", "tool_result", "text", "done"]
    assert only(events, Kind.INIT).conversation == recorded("codex", "ok")[0]["thread_id"]
    assert only(events, Kind.TOOL_CALL).text == "printf %s 'hello from stub ' > hello.txt"
    assert only(events, Kind.TOOL_RESULT).ok
    assert only(events, Kind.TEXT).text == "STUB-DONE: wrote hello.txt"
    assert only(events, Kind.DONE).ok
    assert reader.usages() == (TWO_REQUESTS,)


def test_a_hiccup_that_it_got_over_is_no_error():
    reader = CODEX.reader()
    events = hear(reader, recorded("codex", "hiccup"))
    assert kinds(events) == ["init", "raw", "tool_call", "tool_result", "text", "done"]
    assert reader.usages() == (TWO_REQUESTS,)


@pytest.mark.parametrize(
    ("case", "status", "fault"),
    [
        ("limit", 429, Fault.AGENT_LIMIT),
        ("auth", 401, Fault.AUTH),
        ("context", 0, Fault.CONTEXT_FULL),
    ],
)
def test_an_error_names_its_status_and_becomes_the_right_fault(case, status, fault):
    reader = CODEX.reader()
    events = hear(reader, recorded("codex", case))
    error, done = only(events, Kind.ERROR), only(events, Kind.DONE)
    assert error.status == status
    assert not done.ok
    assert classify(error.status, error.text) is fault
    assert reader.usages() == ()


def test_reconnecting_is_a_retry_though_its_line_says_error():
    retry = only(hear(CODEX.reader(), recorded("codex", "auth")), Kind.RETRY)
    assert (retry.status, retry.text[:20]) == (401, "Reconnecting... 1/1 ")
    said = "Reconnecting... waiting for network (Connection failed: error sending request)"
    (event,) = CODEX.reader().read({"type": "error", "message": said})
    assert event.kind is Kind.RETRY


def test_a_killed_run_is_never_done():
    events = hear(CODEX.reader(), recorded("codex", "killed"))
    assert kinds(events) == ["init", "raw", "tool_call"]


def item(**fields):
    return {"type": "item.completed", "item": {"id": "item_9", **fields}}


def test_a_command_that_failed_is_a_failed_result():
    failed = item(type="command_execution", command="false", exit_code=1, status="failed")
    call, result = hear(CODEX.reader(), [failed])
    assert (call.kind, call.text) == (Kind.TOOL_CALL, "false")
    assert (result.kind, result.ok) == (Kind.TOOL_RESULT, False)


def test_calls_of_the_tracker_and_changed_files_are_told():
    used = item(
        type="mcp_tool_call",
        server="tracker",
        tool="file_bug",
        arguments={"title": "t"},
        result={"content": [{"type": "text", "text": "B-1"}]},
        status="completed",
    )
    changed = item(type="file_change", changes=[{"path": "/clone/a.py", "kind": "add"}])
    events = hear(CODEX.reader(), [used, changed])
    assert [event.text for event in events][:3] == [
        'tracker.file_bug {"title": "t"}',
        "B-1",
        "file_change add a.py",
    ]
    refused = item(type="mcp_tool_call", tool="x", error={"message": "no"}, status="failed")
    result = hear(CODEX.reader(), [refused])[1]
    assert (result.ok, result.text) == (False, "no")


def test_the_key_is_in_the_environment_and_nowhere_else():
    made = launch()
    assert made.secret_env == {KEY: "OUR_KEY"}
    assert "OUR_KEY" not in f"{made.argv} {made.env} {made.files}"
    provider = settings()["model_providers"]["loopwatch"]
    assert provider["env_key"] == KEY
    assert settings()["shell_environment_policy"]["exclude"] == [KEY]


def test_without_a_key_it_signs_in_by_its_files_or_asks_an_endpoint_without_one():
    assert launch(key="").secret_env == {}
    provider = settings(key="")["model_providers"]["loopwatch"]
    assert provider["requires_openai_auth"] is True
    assert "base_url" not in provider
    provider = settings(key="", base_url="http://127.0.0.1:1")["model_providers"]["loopwatch"]
    assert provider["base_url"] == "http://127.0.0.1:1/v1"
    assert not {"requires_openai_auth", "env_key"} & set(provider)


def test_its_own_sandbox_goes_only_inside_ours_and_lets_commit():
    assert "--dangerously-bypass-approvals-and-sandbox" in launch().argv
    assert "sandbox_mode" not in settings()
    assert "--dangerously-bypass-approvals-and-sandbox" not in launch(is_confined=False).argv
    asked = settings(is_confined=False)
    assert asked["sandbox_mode"] == "workspace-write"
    assert "/somewhere/clone/.git" in asked["sandbox_workspace_write"]["writable_roots"]


def test_instructions_and_skills_are_read_as_wished():
    assert settings(loads_instructions=False)["project_doc_max_bytes"] == 0
    assert settings(loads_instructions=False)["skills"] == {"include_instructions": False}
    assert not {"project_doc_max_bytes", "skills"} & set(settings())


def test_the_tracker_gets_the_calls_token_by_name_and_asks_nobody():
    server = settings(mcp=("/bin/loopwatch", "mcp"))["mcp_servers"]["tracker"]
    assert (server["command"], server["args"]) == ("/bin/loopwatch", ["mcp"])
    assert {"LOOPWATCH_SOCKET", "LOOPWATCH_TOKEN"} <= set(server["env_vars"])
    assert server["default_tools_approval_mode"] == "approve"


def test_nothing_of_a_persons_account_is_lent_to_it():
    assert settings()["features"] == {"apps": False, "plugins": False}


def test_its_retries_are_few_and_an_interrupted_conversation_goes_on():
    provider = settings(retries=1)["model_providers"]["loopwatch"]
    assert (provider["request_max_retries"], provider["stream_max_retries"]) == (1, 1)
    assert launch(resume="abc").argv[-3:] == ("resume", "abc", "-")
    assert launch().argv[-1] == "-"


@pytest.mark.parametrize("model", ['quo"te', "back\\slash", "a\nb", "ünï \U0001f600", "a\x7fb"])
def test_any_text_survives_its_settings(model):
    assert settings(model=model)["model"] == model
