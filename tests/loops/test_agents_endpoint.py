"""A model behind an endpoint: real client libraries and a server that says what a test wants."""

import json
import socket
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anthropic
import openai
import pytest

from loops.agents.base import Call, Places
from loops.agents.endpoint import Contract, EndpointAgent
from loops.agents.endpoint.extract import json_object
from loops.agents.endpoint.failing import resets_in
from loops.agents.endpoint.services import Form
from loops.agents.events import Usage
from loops.engine.values import Fault, Role
from tests.conftest import eventually
from tests.loops.endpoint_kit import (
    Endpoint,
    Says,
    anthropic_says,
    event,
    fails,
    openai_chunk,
    openai_says,
)

KEY = "sk-planted-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
OK = '{"status": "OK"}'
KINDS = {"openai": openai_says, "anthropic": anthropic_says}

# Loaded at the first request, which would count as silence where a test allows little of it.
LIBRARIES = (anthropic, openai)


class Desk:
    """Takes replies; refuses what has no status."""

    def __init__(self):
        self.taken = []

    def submit(self, text):
        if "status" not in json.loads(text):
            return "The report cannot be used. status: Field required."
        self.taken.append(json.loads(text))
        return ""


@dataclass
class Runner:
    """The runner's side of a call."""

    written: bytes = b""
    stop: bool = False
    polls: list = field(default_factory=list)
    full_for: int = 0
    threads: set = field(default_factory=set)

    def started(self, process):
        raise AssertionError("no process is started")

    def output(self, data):
        self.threads.add(threading.get_ident())
        if self.full_for:
            self.full_for -= 1
            return False
        self.written += data
        return None

    def must_stop(self):
        self.polls.append(time.monotonic())
        return self.stop


def call(**changes):
    place = Path("/nowhere")
    places = Places(clone=place, workdir=place, home=place, tmp=place, socket_dir=place)
    given = {"wall_seconds": 60, "silence_seconds": 60, **changes}
    return Call(
        session=3,
        iteration=7,
        role=Role.VERIFIER,
        prompt="Judge it.",
        places=places,
        socket=place / "s",
        token="t0ken-of-the-call",
        mark="m",
        **given,
    )


def agent(url, desk, kind="openai", **changes):
    base = f"{url}/v1" if kind == "openai" else url
    given = {"model": "m", "base_url": base, "key": KEY, **changes}
    return EndpointAgent(kind=kind, contract=Contract(SCHEMA, desk.submit), **given)


def ask(*says, kind="openai", runner=None, limits=None, **changes):
    """(reply, what was handed in, the endpoint, what was written)."""
    desk, runner = Desk(), runner or Runner()
    with Endpoint(*says) as endpoint:
        reply = agent(endpoint.url, desk, kind, **changes).run(call(**(limits or {})), runner)
    return reply, desk.taken, endpoint, runner.written.decode()


# --- a reply --------------------------------------------------------------------------------------


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


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_names_when_it_resets_and_is_not_slept_through(kind):
    limited = fails(429, "Rate limit reached", type="rate_limit_error", Retry_After="90")
    began = time.monotonic()
    reply, _, endpoint, _ = ask(limited, kind=kind)
    assert (reply.fault, reply.resets_in) == (Fault.AGENT_LIMIT, 90)
    assert len(endpoint.requests) == 1
    assert time.monotonic() - began < 30
    assert "429" in reply.detail
    assert "Rate limit reached" in reply.detail


def test_one_passing_error_is_repeated_and_not_seen():
    for passing in (fails(429, "slow down", Retry_After="0"), fails(500, "oops")):
        reply, taken, endpoint, _ = ask(passing, openai_says(OK))
        assert (reply.fault, taken, len(endpoint.requests)) == (None, [{"status": "OK"}], 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "message", "fault"),
    [
        (401, "Incorrect API key provided", Fault.AUTH),
        (403, "not yours", Fault.AUTH),
        (500, "internal error", Fault.API_ERROR),
        (400, "This model's maximum context length is 8 tokens", Fault.CONTEXT_FULL),
        (307, "elsewhere", Fault.API_ERROR),
    ],
)
def test_errors_of_a_service_are_told_apart(kind, status, message, fault):
    reply, taken, endpoint, _ = ask(fails(status, message), kind=kind)
    assert (reply.fault, taken, reply.resets_in) == (fault, [], None)
    assert len(endpoint.requests) <= 2
    assert str(status) in reply.detail


@pytest.mark.parametrize(
    ("says", "kind"),
    [
        (Says(pieces=(openai_chunk('{"status"'),), drop=True), "openai"),
        (Says(pieces=(openai_chunk('{"status": "OK"}'),)), "openai"),  # ends without an end
        (Says(pieces=(openai_chunk("{"), b"data: {broken\n\n")), "openai"),
        (Says(pieces=(b"data: [DONE]\n\n",)), "openai"),
        (Says(headers={"Content-Type": "text/html"}, pieces=(b"<html>hello</html>",)), "openai"),
        (
            Says(pieces=(openai_chunk("{"), event({"error": {"message": "overloaded"}}))),
            "openai",
        ),
        (Says(pieces=anthropic_says(OK).pieces[:3], drop=True), "anthropic"),
        (Says(pieces=anthropic_says(OK).pieces[:4]), "anthropic"),
        (
            Says(
                pieces=(
                    anthropic_says(OK).pieces[0],
                    event({"type": "error", "error": {"type": "overloaded_error"}}, "error"),
                )
            ),
            "anthropic",
        ),
    ],
)
def test_a_stream_that_breaks_is_an_error_of_the_service_and_hands_in_nothing(says, kind):
    reply, taken, _, _ = ask(says, kind=kind)
    assert (reply.fault, taken) == (Fault.API_ERROR, []), reply


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_connection_is_an_error_of_the_service(kind):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    desk = Desk()
    reply = agent(url, desk, kind).run(call(), Runner())
    assert (reply.fault, desk.taken) == (Fault.API_ERROR, [])
    assert "did not answer" in reply.detail


# --- limits and stop ------------------------------------------------------------------------------


def test_silence_ends_the_call():
    quiet = Says(pieces=(openai_chunk("{"), 30))
    reply, taken, _, _ = ask(quiet, limits={"silence_seconds": 0.6})
    assert (reply.fault, taken) == (Fault.SILENCE, [])
    reply, taken, _, _ = ask(Says(pieces=(30,)), limits={"silence_seconds": 0.6})
    assert (reply.fault, taken) == (Fault.SILENCE, [])


def test_talk_without_end_is_ended_by_the_wall_clock():
    babble = Says(pieces=(openai_chunk("bla "), 0.1) * 400)
    reply, taken, _, written = ask(babble, limits={"wall_seconds": 1.0})
    assert (reply.fault, taken) == (Fault.WALL_CLOCK, [])
    assert written.startswith("bla bla")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("talks", [True, False])
def test_a_stop_in_the_middle_is_obeyed_and_the_connection_is_let_go(kind, talks):
    pieces = KINDS[kind](OK).pieces[:1] + ((0.1, b": life\n\n") * 100 if talks else (15.0,))
    runner, desk = Runner(), Desk()
    with Endpoint(Says(pieces=pieces)) as endpoint:
        done = []
        one = agent(endpoint.url, desk, kind)
        thread = threading.Thread(target=lambda: done.append(one.run(call(), runner)))
        thread.start()
        eventually(lambda: endpoint.requests, what="the request")
        eventually(lambda: len(runner.polls) > 5, what="polling")
        runner.stop = True
        stopped = time.monotonic()
        thread.join(20)
        assert time.monotonic() - stopped < 8
        if talks:
            assert endpoint.gone.wait(10)
    assert (done[0].fault, desk.taken) == (Fault.WORKER_LOST, [])


def test_it_is_asked_whether_to_stop_often_while_the_endpoint_is_silent():
    runner = Runner()
    ask(Says(pieces=(20,)), runner=runner, limits={"silence_seconds": 4})
    assert len(runner.polls) >= 4 / 0.3


def test_nothing_is_handed_in_once_the_right_to_run_is_gone():
    class Late(Runner):
        def must_stop(self):
            return OK.encode() in self.written

    reply, taken, _, _ = ask(openai_says(OK), runner=Late())
    assert (reply.fault, taken) == (Fault.WORKER_LOST, [])


# --- the key --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_key_is_in_no_detail_and_in_no_output(kind):
    said = KINDS[kind](f"your key is {KEY}, " + OK)
    reply, _, _, written = ask(fails(401, f"Incorrect API key provided: {KEY}"), kind=kind)
    assert reply.fault is Fault.AUTH
    assert KEY not in repr(reply)
    reply, taken, _, written = ask(said, kind=kind)
    assert taken == [{"status": "OK"}]
    assert KEY not in repr(reply) + written
    assert "[secret removed]" in written


def test_a_key_cut_into_pieces_is_removed_from_the_output_all_the_same():
    pieces = [openai_chunk(letter) for letter in f"key {KEY} t0ken-of-the-call end {OK}"]
    _, taken, _, written = ask(Says(pieces=(*pieces, openai_chunk(finish="stop"))))
    assert taken == [{"status": "OK"}]
    assert written == f"key [secret removed] [secret removed] end {OK}\n"


def test_the_key_is_not_shown_by_the_agent_nor_sent_to_another_address():
    assert KEY not in repr(agent("http://127.0.0.1:1", Desk()))
    with Endpoint(openai_says(OK)) as other:
        away = fails(307, "elsewhere", Location=f"{other.url}/v1/chat/completions")
        reply, taken, _, _ = ask(away)
    assert (reply.fault, taken, other.requests) == (Fault.API_ERROR, [], [])


@pytest.mark.parametrize("kind", KINDS)
def test_keys_of_our_own_environment_go_nowhere(kind, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "of-the-supervisor")
    _, taken, endpoint, _ = ask(KINDS[kind](OK), kind=kind, key="")
    assert taken == [{"status": "OK"}]
    assert "of-the-supervisor" not in json.dumps(endpoint.requests)


# --- when a limit resets -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Tue, 01 Dec 2026 07:01:00 GMT"}, 60),
        ({"retry-after": "soon"}, None),
        ({"anthropic-ratelimit-requests-reset": "2026-12-01T07:10:00Z"}, 600),
        (
            {
                "anthropic-ratelimit-requests-reset": "2026-12-01T07:10:00Z",
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-12-01T09:00:00Z",
                "anthropic-ratelimit-tokens-remaining": "500",
            },
            600,
        ),
        ({"anthropic-ratelimit-unified-reset": str(1796108400 + 30)}, 30),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0"}, 360),
        ({"x-ratelimit-reset-tokens": "250ms"}, 0.25),
        ({"anthropic-ratelimit-requests-reset": "2026-12-01T06:00:00Z"}, 0),
    ],
)
def test_headers_say_when_a_limit_resets(headers, seconds):
    now = datetime(2026, 12, 1, 7, 0, tzinfo=UTC)
    assert resets_in(headers, now) == seconds
