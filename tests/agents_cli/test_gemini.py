"""Gemini CLI: how it is launched, and what is heard of it (recorded from the real one)."""

import json
from pathlib import Path

import pytest

from loops.agents.cli.adapter import Wish
from loops.agents.cli.gemini import GEMINI, SETTINGS
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
REQUEST = Usage(
    model="gemini-2.5-pro", input=2000, output=100, cached=200, reasoning=10
)  # two requests; the CLI's own output, 90, leaves the thoughts out


def launch(**wish):
    return GEMINI.launch(
        Wish(**{"program": Path("/bin/gemini"), "key": "OUR_KEY", **PLACES, **wish})
    )


def settings(**wish):
    return json.loads(launch(**wish).files[SETTINGS])


def test_a_run_that_writes_a_file_is_heard_from_begin_to_end():
    reader = GEMINI.reader()
    events = hear(reader, recorded("gemini", "ok"))
    assert kinds(events) == ["init", "tool_call", "tool_result", "text", "done"]
    init = only(events, Kind.INIT)
    assert init.conversation == recorded("gemini", "ok")[0]["session_id"]
    assert init.model == "gemini-2.5-pro"
    assert only(events, Kind.TOOL_CALL).text.startswith(
        'write_file {"file_path": "/clone/hello.txt"'
    )
    assert only(events, Kind.TOOL_RESULT).ok
    assert only(events, Kind.TEXT).text == "STUB-DONE: wrote hello.txt"
    assert only(events, Kind.DONE).ok
    assert reader.usages() == (REQUEST,)


def test_a_hiccup_that_it_got_over_is_no_error():
    reader = GEMINI.reader()
    events = hear(reader, recorded("gemini", "hiccup"))
    assert Kind.ERROR not in {event.kind for event in events}
    assert reader.usages() == (REQUEST,)


@pytest.mark.parametrize(
    ("case", "status", "fault"),
    [
        ("limit", 0, Fault.AGENT_LIMIT),
        ("auth", 401, Fault.AUTH),
        ("context", 400, Fault.CONTEXT_FULL),
    ],
)
def test_an_error_names_its_status_where_the_cli_hands_it_on_and_becomes_the_right_fault(
    case, status, fault
):
    reader = GEMINI.reader()
    events = hear(reader, recorded("gemini", case))
    error, done = only(events, Kind.ERROR), only(events, Kind.DONE)
    assert error.status == status
    assert not done.ok
    assert classify(error.status, error.text) is fault
    assert reader.usages() == ()


def test_a_killed_run_is_never_done_though_it_ends_with_exit_code_0():
    events = hear(GEMINI.reader(), recorded("gemini", "killed"))
    assert kinds(events) == ["init", "tool_call"]
    assert only(events, Kind.TOOL_CALL).text.startswith("run_shell_command python3 -c")


def test_speech_in_pieces_becomes_whole_lines():
    reader = GEMINI.reader()
    pieces = ["I ", "begin.\nThen ", "I stop", "."]
    lines = [
        {"type": "message", "role": "assistant", "content": piece, "delta": True}
        for piece in pieces
    ]
    lines.append({"type": "tool_use", "tool_name": "ls", "parameters": {}})
    assert [event.text for event in hear(reader, lines)] == ["I begin.", "Then I stop.", "ls"]


def test_a_failed_tool_says_why():
    line = {"type": "tool_result", "status": "error", "error": {"message": "no such file"}}
    (event,) = hear(GEMINI.reader(), [line])
    assert (event.kind, event.ok, event.text) == (Kind.TOOL_RESULT, False, "no such file")


@pytest.mark.parametrize("line", [{}, {"type": "news", "x": [1]}, {"type": None}, {"type": {}}])
def test_what_is_unknown_is_kept_as_it_is(line):
    (event,) = hear(GEMINI.reader(), [line])
    assert (event.kind, json.loads(event.text)) == (Kind.RAW, line)


@pytest.mark.parametrize("case", every_case("gemini"))
def test_wrong_types_in_any_field_never_break_the_reader(case):
    for line in recorded("gemini", case):
        for wrong in spoilt(line):
            reader = GEMINI.reader()
            check(hear(reader, [wrong, wrong]))
            for usage in reader.usages():
                check_usage(usage)


def test_the_key_is_in_the_environment_and_nowhere_else():
    made = launch()
    assert made.secret_env == {"GEMINI_API_KEY": "OUR_KEY"}
    assert "OUR_KEY" not in f"{made.argv} {made.env} {made.files}"
    assert settings()["security"]["auth"]["selectedType"] == "gemini-api-key"


def test_without_a_key_it_signs_in_by_its_files():
    assert launch(key="").secret_env == {}
    assert settings(key="")["security"]["auth"]["selectedType"] == "oauth-personal"


def test_model_and_address_are_its_own_unless_they_are_named():
    plain, named = launch(), launch(model="m", base_url="http://127.0.0.1:1/x", extra=("--debug",))
    assert "-m" not in plain.argv
    assert "GOOGLE_GEMINI_BASE_URL" not in plain.env
    assert named.argv[named.argv.index("-m") + 1] == "m"
    assert named.env["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:1/x"
    assert named.argv[-1] == "--debug"


def test_the_tracker_stands_in_its_settings_without_its_token():
    server = settings(mcp=("/bin/loopwatch", "mcp"))["mcpServers"]["tracker"]
    assert (server["command"], server["args"]) == ("/bin/loopwatch", ["mcp"])
    assert server["env"]["LOOPWATCH_TOKEN"] == "${LOOPWATCH_TOKEN}"


def test_a_reviewer_takes_no_servers_hooks_and_skills_from_the_repository():
    asked = settings(loads_instructions=False)
    assert asked["hooksConfig"] == asked["skills"] == {"enabled": False}
    assert "--allowed-mcp-server-names" in launch(loads_instructions=False).argv
    assert "--allowed-mcp-server-names" not in launch().argv


def test_an_interrupted_conversation_goes_on():
    argv = launch(resume="abc").argv
    assert argv[argv.index("--resume") + 1] == "abc"


def test_its_own_retries_are_few():
    assert settings()["general"]["maxAttempts"] == 2
