"""Claude Code: how it is launched, and what is heard of it (recorded from the real one)."""

import json
from pathlib import Path

import pytest

from loops.agents.cli.adapter import Wish
from loops.agents.cli.claude import CLAUDE
from loops.agents.events import Kind, Usage
from loops.agents.failures import classify
from loops.engine.values import Fault
from tests.agents_cli.hearing import hear, kinds, only, recorded

PLACES = {name: Path("/somewhere") / name for name in ("home", "tmp", "workdir", "clone")}
TWO_REQUESTS = Usage(model="claude-stub-1", input=2000, output=100, cached=200)


def launch(**wish):
    return CLAUDE.launch(
        Wish(**{"program": Path("/bin/claude"), "key": "OUR_KEY", **PLACES, **wish})
    )


def after(made, option):
    return made.argv[made.argv.index(option) + 1]


def test_a_run_that_writes_a_file_is_heard_from_begin_to_end():
    reader = CLAUDE.reader()
    events = hear(reader, recorded("claude", "ok"))
    assert kinds(events) == ["init", "tool_call", "tool_result", "text", "done"]
    init = only(events, Kind.INIT)
    assert init.conversation == recorded("claude", "ok")[0]["session_id"]
    assert init.model == "claude-stub-1"
    asked = 'Write {"file_path": "/clone/hello.txt", "content": "hello from stub\\n"}'
    assert only(events, Kind.TOOL_CALL).text == asked
    assert only(events, Kind.TOOL_RESULT).text.startswith("File created successfully")
    assert only(events, Kind.TEXT).text == "STUB-DONE: wrote hello.txt"
    assert only(events, Kind.DONE).ok
    # Its price is of a model that it does not know: invented, so not reported.
    assert reader.usages() == (TWO_REQUESTS,)
    assert only(events, Kind.USAGE).usage == TWO_REQUESTS


def test_a_hiccup_is_a_retry_with_its_wait_and_no_error():
    reader = CLAUDE.reader()
    events = hear(reader, recorded("claude", "hiccup"))
    assert kinds(events)[:3] == ["init", "retry", "tool_call"]
    retry = only(events, Kind.RETRY)
    assert (retry.status, retry.text) == (500, "server_error; retry 1 of 1.")
    assert 0.3 < retry.wait_seconds < 3
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
    reader = CLAUDE.reader()
    events = hear(reader, recorded("claude", case))
    error, done = only(events, Kind.ERROR), only(events, Kind.DONE)
    assert error.status == status
    assert not done.ok  # though the line says "subtype": "success"
    assert classify(error.status, error.text) is fault
    assert Kind.TEXT not in {event.kind for event in events}
    assert reader.usages() == ()


def test_a_killed_run_is_never_done_and_its_input_is_known():
    reader = CLAUDE.reader()
    events = hear(reader, recorded("claude", "killed"))
    assert kinds(events) == ["init", "tool_call", "tool_result"]
    assert not only(events, Kind.TOOL_RESULT).ok
    assert reader.usages() == (Usage(model="claude-stub-1", input=1000, output=1, cached=100),)


def test_a_limits_reset_time_stands_on_the_error_that_ends_the_call():
    info = {"status": "rejected", "resetsAt": 1796092800, "rateLimitType": "five_hour"}
    news = {"type": "rate_limit_event", "rate_limit_info": info}
    events = hear(CLAUDE.reader(), [news, *recorded("claude", "limit")])
    assert only(events, Kind.ERROR).resets_at == 1796092800


def test_a_limit_that_is_only_near_is_no_error():
    info = {"status": "allowed_warning", "resetsAt": 1796092800}
    news = {"type": "rate_limit_event", "rate_limit_info": info}
    events = hear(CLAUDE.reader(), [news, *recorded("claude", "ok")])
    assert kinds(events)[-1] == "done"
    assert Kind.ERROR not in {event.kind for event in events}


def whole(**fields):
    *before, end = recorded("claude", "ok")
    return [*before, {**end, **fields}]


def of_model(given, **fields):
    return {"inputTokens": given, "outputTokens": 10, "cacheReadInputTokens": 0, **fields}


def test_a_resumed_call_does_not_count_the_earlier_one_again():
    reader = CLAUDE.reader()
    hear(reader, whole(modelUsage={"claude-stub-1": of_model(9_000)}))
    assert reader.usages() == (TWO_REQUESTS,)


def test_sub_agents_and_other_models_count():
    reader = CLAUDE.reader()
    hear(reader, [{"type": "system", "subtype": "task_started"}])
    hear(reader, whole(modelUsage={"claude-stub-1": of_model(9_000)}))
    assert reader.usages()[0].input == 9_000
    reader = CLAUDE.reader()
    models = {"a": of_model(20, costUSD=0.5), "b": of_model(30, cacheCreationInputTokens=5)}
    hear(reader, whole(modelUsage=models))
    assert reader.usages() == (
        Usage(model="a", input=20, output=10, reported=0.5),
        Usage(model="b", input=35, output=10),
    )


def test_an_end_without_success_is_an_error_whatever_is_error_says():
    events = hear(CLAUDE.reader(), whole(subtype="error_max_turns", result=None))
    assert kinds(events)[-2:] == ["error", "done"]
    assert not only(events, Kind.DONE).ok


def test_the_key_is_in_the_environment_and_nowhere_else():
    made = launch()
    assert made.secret_env == {"ANTHROPIC_API_KEY": "OUR_KEY"}
    assert "OUR_KEY" not in f"{made.argv} {made.env} {made.files}"
    assert launch(key="").secret_env == {}
    assert "ANTHROPIC_API_KEY" not in launch(key="").env


def test_an_endpoint_without_a_key_is_asked_all_the_same():
    assert launch(key="", base_url="http://127.0.0.1:1").env["ANTHROPIC_API_KEY"] == "none"


def test_address_and_model_are_the_vendors_unless_named():
    made = launch()
    assert "ANTHROPIC_BASE_URL" not in made.env
    assert "--model" not in made.argv
    made = launch(base_url="http://127.0.0.1:1/v1", model="opus")
    assert made.env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert after(made, "--model") == "opus"


def test_the_repositorys_settings_are_never_read_its_instructions_as_wished():
    for loads in (True, False):
        assert after(launch(loads_instructions=loads), "--setting-sources") == ""
    made = launch()
    assert made.argv[made.argv.index("--add-dir") + 1 :][:2] == (
        "/somewhere/clone",
        "/somewhere/workdir",
    )
    assert "--add-dir" not in launch(loads_instructions=False).argv


def test_the_tracker_is_its_only_mcp_server_and_is_not_hidden():
    made = launch(mcp=("/bin/loopwatch", "mcp"))
    server = {"command": "/bin/loopwatch", "args": ["mcp"]}
    assert json.loads(after(made, "--mcp-config")) == {"mcpServers": {"tracker": server}}
    assert "--strict-mcp-config" in made.argv
    assert made.env["ENABLE_TOOL_SEARCH"] == "false"


def test_it_skips_its_questions_only_inside_our_sandbox():
    assert "--dangerously-skip-permissions" in launch().argv
    made = launch(is_confined=False, mcp=("/bin/loopwatch",))
    assert "--dangerously-skip-permissions" not in made.argv
    assert after(made, "--allowedTools") == "Bash,mcp__tracker"  # nobody could commit otherwise
    assert "IS_SANDBOX" not in made.env


def test_it_cannot_take_its_work_elsewhere_or_put_it_off():
    assert after(launch(), "--disallowedTools") == "EnterWorktree,ScheduleWakeup,CronCreate"


def test_its_retries_are_few_and_an_interrupted_conversation_goes_on():
    assert launch(retries=1).env["CLAUDE_CODE_MAX_RETRIES"] == "1"
    assert after(launch(resume="abc"), "--resume") == "abc"
