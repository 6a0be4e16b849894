"""A model behind an endpoint: real client libraries and a server that says what a test wants."""

import json
import threading
import time

import pytest

from loops.agents.endpoint.extract import json_object
from loops.agents.endpoint.services import Form
from loops.agents.events import Usage
from loops.engine.values import Fault
from tests.conftest import eventually
from tests.loops.endpoint_kit import (
    KEY,
    KINDS,
    OK,
    SCHEMA,
    Desk,
    Endpoint,
    Runner,
    Says,
    agent,
    anthropic_says,
    ask,
    call,
    fails,
    openai_chunk,
    openai_says,
)
from tests.stub_llm import StubServer


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_is_streamed_counted_and_handed_in(kind):
    reply, taken, endpoint, written = ask(KINDS[kind](OK), kind=kind)
    assert (reply.fault, reply.detail, taken) == (None, "", [{"status": "OK"}])
    assert written == OK + "\n"
    (request,) = endpoint.requests
    assert request["stream"] is True
    assert request["messages"][0]["content"].startswith("Judge it.\n\nReply with one JSON object")
    assert json.dumps(SCHEMA) in request["messages"][0]["content"]
    assert request["_headers"]["authorization"] == f"Bearer {KEY}"
    (usage,) = reply.usages
    if kind == "openai":
        assert request["_path"] == "/v1/chat/completions"
        assert request["response_format"]["json_schema"]["schema"] == SCHEMA
        assert usage == Usage(model="m", input=1000, output=50, cached=100, reasoning=5)
    else:
        assert request["_path"] == "/v1/messages"
        assert request["output_config"]["format"]["type"] == "json_schema"
        assert usage == Usage(model="m", input=1020, output=50, cached=100)


def test_an_endpoint_that_counts_nothing_leaves_the_usage_empty():
    reply, taken, _, _ = ask(openai_says(OK, usage=None))
    assert (reply.fault, reply.usages, taken) == (None, (), [{"status": "OK"}])


def test_text_comes_in_pieces_and_a_character_cut_in_two_stays_whole():
    whole = b"".join(
        [openai_chunk('{"status"'), openai_chunk(': "Übel 🙂"}'), openai_chunk(finish="stop")]
    )
    cut = whole.index("🙂".encode()) + 2
    pieces = (whole[:40], 0.1, whole[40:cut], 0.3, whole[cut:], b"data: [DONE]\n\n")
    reply, taken, _, written = ask(Says(pieces=pieces))
    assert (reply.fault, taken) == (None, [{"status": "Übel 🙂"}])
    assert written == '{"status": "Übel 🙂"}\n'


def test_pieces_are_written_while_the_reply_is_on_its_way():
    runner, desk = Runner(), Desk()
    pieces = (openai_chunk('{"status":'), 3.0, openai_chunk('"OK"}'), openai_chunk(finish="stop"))
    with Endpoint(Says(pieces=pieces)) as endpoint:
        thread = threading.Thread(
            target=agent(endpoint.url, desk).run, args=(call(), runner), daemon=True
        )
        thread.start()
        eventually(lambda: runner.written, what="the first piece")
        assert desk.taken == []
        thread.join(20)
    assert desk.taken == [{"status": "OK"}]
    assert runner.threads == {thread.ident}  # the store is used by the caller's thread alone


def test_a_full_store_gets_the_same_bytes_again():
    runner = Runner(full_for=30)
    reply, taken, _, written = ask(
        openai_says(OK), runner=runner, limits={"silence_seconds": 0.5, "wall_seconds": 60}
    )
    assert (reply.fault, written, taken) == (None, OK + "\n", [{"status": "OK"}])


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{OK}\n```",
        f"Here it is:\n{OK}\nI hope that helps {{a lot}}.",
        f'<think>maybe {{"status": "FAIL", "x": 1, "y": 22222}}</think>\n{OK}',
        f"{{broken {OK}",
    ],
)
def test_an_object_is_found_in_a_fence_and_among_words(text):
    reply, taken, endpoint, _ = ask(openai_says(text))
    assert (reply.fault, taken, len(endpoint.requests)) == (None, [{"status": "OK"}], 1)


def test_brackets_without_end_are_no_object_and_take_no_time():
    began = time.monotonic()
    assert json_object("[" * 100_000 + "{" * 100_000) == ""
    assert json_object('{"a": {"b": 1}} and {"c": 2}') == '{"a": {"b": 1}}'
    assert time.monotonic() - began < 20


# --- forms and repair -----------------------------------------------------------------------------


@pytest.mark.parametrize("refusals", [1, 2, 3])
def test_a_form_that_is_not_taken_gives_way_to_the_next_and_is_remembered(refusals):
    refused = fails(400, "response_format is not supported")
    desk = Desk()
    with Endpoint(*[refused] * refusals, openai_says(OK)) as endpoint:
        one = agent(endpoint.url, desk)
        assert one.run(call(), Runner()).fault is None
        assert one.run(call(), Runner()).fault is None
    forms = [request.get("response_format") for request in endpoint.requests]
    ladder = [
        {"type": "json_schema"},
        {"type": "json_object", "schema": SCHEMA},
        {"type": "json_object"},
        None,
    ]
    assert forms[0].pop("json_schema")["strict"] is False
    assert forms == [*ladder[: refusals + 1], ladder[refusals]]
    assert len(desk.taken) == 2


def test_anthropic_falls_back_to_words_alone():
    refused = fails(400, "output_config: Extra inputs are not permitted")
    reply, taken, endpoint, written = ask(refused, anthropic_says(OK), kind="anthropic")
    assert (reply.fault, taken) == (None, [{"status": "OK"}])
    assert ["output_config" in request for request in endpoint.requests] == [True, False]
    assert written.startswith(f"! The endpoint takes no {Form.JSON_SCHEMA}; trying {Form.PLAIN}.\n")


def test_an_endpoint_that_takes_no_form_at_all_is_an_error_and_nothing_is_remembered():
    desk = Desk()
    with Endpoint(*[fails(400, "unknown model m")] * 4, openai_says(OK)) as endpoint:
        one = agent(endpoint.url, desk)
        reply = one.run(call(), Runner())
        assert (reply.fault, len(endpoint.requests)) == (Fault.API_ERROR, 4)
        assert reply.detail.endswith("unknown model m")
        assert one.run(call(), Runner()).fault is None
    assert endpoint.requests[-1]["response_format"]["type"] == "json_schema"


def test_an_endpoint_that_counts_on_no_demand_is_not_asked_to():
    refused = fails(422, "extra_forbidden: stream_options")
    reply, taken, endpoint, _ = ask(refused, openai_says(OK, usage=None))
    assert (reply.fault, taken) == (None, [{"status": "OK"}])
    assert ["stream_options" in request for request in endpoint.requests] == [True, False]
    assert all(request["response_format"]["type"] == "json_schema" for request in endpoint.requests)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_that_is_refused_is_mended_once(kind):
    says = KINDS[kind]
    reply, taken, endpoint, written = ask(says('{"mood": "good"}'), says(OK), kind=kind)
    assert (reply.fault, taken) == (None, [{"status": "OK"}])
    second = endpoint.requests[1]
    assert [each["role"] for each in second["messages"]] == ["user", "assistant", "user"]
    assert second["messages"][1]["content"] == '{"mood": "good"}'
    assert "status: Field required" in second["messages"][2]["content"]
    assert "! The reply cannot be used: The report cannot be used." in written
    assert reply.usages[0].output == 100  # both requests are counted


@pytest.mark.parametrize("text", ["I would rather not say.", "", "[1, 2]"])
def test_a_reply_without_an_object_is_asked_for_once_more_and_then_unparseable(text):
    reply, taken, endpoint, _ = ask(openai_says(text))
    assert (reply.fault, taken, len(endpoint.requests)) == (Fault.UNPARSEABLE, [], 2)
    assert "no JSON object" in reply.detail
    assert reply.usages[0].input == 2000


def test_a_reply_at_the_models_limit_is_said_to_be_cut_off():
    reply, _, endpoint, _ = ask(openai_says('{"status": "O', finish="length"))
    assert reply.fault is Fault.UNPARSEABLE
    assert "cut off" in reply.detail
    assert "cut off" in endpoint.requests[1]["messages"][2]["content"]


def test_a_model_that_refuses_is_no_unparseable_reply():
    for kind, says in (
        ("openai", openai_says("", finish="content_filter")),
        ("openai", Says(pieces=(openai_chunk(refusal="I cannot"), openai_chunk(finish="stop")))),
        ("anthropic", anthropic_says("", stop="refusal")),
    ):
        reply, taken, endpoint, _ = ask(says, kind=kind)
        assert (reply.fault, taken, len(endpoint.requests)) == (Fault.REFUSED, [], 1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_stub_that_coding_clis_speak_to_serves_as_well(kind):
    desk = Desk()
    with StubServer() as stub:
        stub.script("judge", [{"text": "I think so."}, {"text": f"So: {OK}"}], per_request=True)
        one = agent(stub.url("ok", "judge"), desk, kind)
        reply = one.run(call(), Runner())
        assert [asked.key for asked in stub.asked("judge")] == [KEY, KEY]
        late = agent(stub.url("429:77", "late"), desk, kind).run(call(), Runner())
    assert (reply.fault, desk.taken) == (None, [{"status": "OK"}])
    assert reply.usages[0].input == 2000
    assert reply.usages[0].cached == 200
    assert (late.fault, late.resets_in) == (Fault.AGENT_LIMIT, 77)
