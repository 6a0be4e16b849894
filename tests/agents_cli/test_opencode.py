"""opencode: how it is launched, and what is heard of it (recorded from the real one)."""

import json
from pathlib import Path

import pytest

from loops.agents.cli.adapter import Wish
from loops.agents.cli.opencode import OPENCODE
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
from tracker.errors import Invalid

PLACES = {name: Path("/somewhere") / name for name in ("home", "tmp", "workdir", "clone")}
ENDPOINT = {"base_url": "http://127.0.0.1:1", "model": "org/model"}
# Its own figures: input 900 beside 100 cached, output 45 beside 5 of reasoning, for each step.
TWO_STEPS = Usage(model="", input=2000, output=100, cached=200, reasoning=10)


def launch(**wish):
    wish = {"program": Path("/bin/opencode"), "key": "OUR_KEY", **PLACES, **wish}
    return OPENCODE.launch(Wish(**wish))


def config(**wish):
    return json.loads(launch(**wish).env["OPENCODE_CONFIG_CONTENT"])


def test_a_run_that_writes_a_file_is_heard_from_begin_to_end():
    reader = OPENCODE.reader()
    events = hear(reader, recorded("opencode", "ok"))
    assert kinds(events) == ["init", "tool_call", "tool_result", "text", "done"]
    assert only(events, Kind.INIT).conversation == recorded("opencode", "ok")[0]["sessionID"]
    assert "/clone/hello.txt" in only(events, Kind.TOOL_CALL).text
    assert only(events, Kind.TOOL_RESULT).text == "Wrote file successfully."
    assert only(events, Kind.TEXT).text == "STUB-DONE: wrote hello.txt"
    assert only(events, Kind.DONE).ok
    assert reader.usages() == (TWO_STEPS,)


def test_a_hiccup_that_it_got_over_is_no_error():
    reader = OPENCODE.reader()
    events = hear(reader, recorded("opencode", "hiccup"))
    assert Kind.ERROR not in {event.kind for event in events}
    assert reader.usages() == (TWO_STEPS,)


@pytest.mark.parametrize(
    ("case", "status", "fault"),
    [
        ("limit", 429, Fault.AGENT_LIMIT),
        ("auth", 401, Fault.AUTH),
        ("context", 0, Fault.CONTEXT_FULL),
    ],
)
def test_an_error_names_its_status_and_becomes_the_right_fault(case, status, fault):
    events = hear(OPENCODE.reader(), recorded("opencode", case))
    errors = [event for event in events if event.kind is Kind.ERROR]
    assert errors
    assert {error.status for error in errors} == {status}
    assert {classify(error.status, error.text) for error in errors} == {fault}
    assert Kind.DONE not in {event.kind for event in events}


def test_a_limit_says_when_the_service_wants_to_be_asked_again():
    error = only(hear(OPENCODE.reader(), recorded("opencode", "limit")), Kind.ERROR)
    assert error.wait_seconds == 1


def test_a_killed_run_is_never_done():
    assert kinds(hear(OPENCODE.reader(), recorded("opencode", "killed"))) == ["init"]


def test_each_step_counts_once_and_its_price_with_it():
    tokens = {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}
    steps = [{"id": name, "tokens": tokens, "cost": 0.5} for name in ("a", "a", "b")]
    reader = OPENCODE.reader()
    hear(reader, [{"type": "step_finish", "part": part} for part in steps])
    assert reader.usages() == (
        Usage(model="", input=20, output=10, cached=8, reasoning=6, reported=1.0),
    )


def test_a_failed_tool_says_why():
    state = {"status": "error", "input": {"command": "false"}, "error": "exit 1"}
    events = hear(
        OPENCODE.reader(), [{"type": "tool_use", "part": {"tool": "bash", "state": state}}]
    )
    assert [(event.ok, event.text) for event in events] == [(True, "bash false"), (False, "exit 1")]


@pytest.mark.parametrize("line", [{}, {"type": "news", "x": [1]}, {"type": None}, {"type": {}}])
def test_what_is_unknown_is_kept_as_it_is(line):
    (event,) = hear(OPENCODE.reader(), [line])
    assert (event.kind, json.loads(event.text)) == (Kind.RAW, line)


@pytest.mark.parametrize("case", every_case("opencode"))
def test_wrong_types_in_any_field_never_break_the_reader(case):
    for line in recorded("opencode", case):
        for wrong in spoilt(line):
            reader = OPENCODE.reader()
            check(hear(reader, [wrong, wrong]))
            for usage in reader.usages():
                check_usage(usage)


@pytest.mark.parametrize("wish", [ENDPOINT, {"model": "anthropic/claude"}, {}])
def test_the_key_is_in_the_environment_and_nowhere_else(wish):
    made = launch(**wish)
    assert made.secret_env == {"OPENCODE_ENDPOINT_KEY": "OUR_KEY"}
    assert "OUR_KEY" not in f"{made.argv} {made.env} {made.files}"


def test_an_endpoint_is_a_provider_of_its_own_whatever_its_model_is_called():
    made, provider = launch(**ENDPOINT), config(**ENDPOINT)["provider"]["endpoint"]
    assert made.argv[made.argv.index("-m") + 1] == "endpoint/org/model"
    assert provider["options"]["baseURL"] == "http://127.0.0.1:1/v1"
    assert provider["options"]["apiKey"] == "{env:OPENCODE_ENDPOINT_KEY}"
    assert list(provider["models"]) == ["org/model"]


def test_a_vendor_that_it_knows_gets_the_key_and_keeps_its_address():
    options = config(model="anthropic/claude")["provider"]["anthropic"]["options"]
    assert options == {"apiKey": "{env:OPENCODE_ENDPOINT_KEY}"}


def test_an_endpoint_without_a_model_is_refused_with_a_sentence():
    with pytest.raises(Invalid, match="name of a model"):
        launch(base_url="http://127.0.0.1:1")


def test_the_tracker_is_attached():
    server = config(mcp=("/bin/loopwatch", "mcp"))["mcp"]["tracker"]
    assert server["command"] == ["/bin/loopwatch", "mcp"]
    assert "mcp" not in config()


def test_a_reviewer_takes_nothing_from_the_repository():
    made = launch(loads_instructions=False)
    assert made.env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    assert "--pure" in made.argv
    assert "OPENCODE_DISABLE_PROJECT_CONFIG" not in launch().env


def test_it_refuses_what_lies_outside_the_workspace_unless_a_sandbox_does():
    assert "--auto" in launch(is_confined=True).argv
    assert "--auto" not in launch(is_confined=False).argv


def test_an_interrupted_conversation_goes_on():
    argv = launch(resume="abc").argv
    assert argv[argv.index("-s") + 1] == "abc"
