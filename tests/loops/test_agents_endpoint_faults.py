"""Faults, limits and the key of a model behind an endpoint."""

import json
import socket
import threading
import time
from datetime import UTC, datetime

import pytest

from loops.agents.endpoint.failing import resets_in
from loops.engine.values import Fault
from tests.conftest import eventually
from tests.loops.endpoint_kit import (
    KEY,
    KINDS,
    OK,
    Desk,
    Endpoint,
    Runner,
    Says,
    agent,
    anthropic_says,
    ask,
    call,
    event,
    fails,
    openai_chunk,
    openai_says,
)


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


def test_a_limit_that_names_its_reset_in_words_is_understood():
    reply, _, _, _ = ask(fails(429, "You have hit your limit. Try again in 2 minutes."))
    assert (reply.fault, reply.resets_in) == (Fault.AGENT_LIMIT, 120)


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
