"""The stub does what its scenarios say, for those that no recording shows."""

import json
import urllib.error
import urllib.request

import pytest

from tests.stub_llm import StubServer, nobody

TOOLS = [
    {"function": {"name": "bash", "parameters": {"properties": {"command": {"type": "string"}}}}},
    {"function": {"name": "tracker__file_bug", "parameters": {"required": ["kind"]}}},
]


def ask(address, messages=(), tools=(), **body):
    """(status, headers, what was said)"""
    body = {
        "messages": [{"role": "user", "content": "Go"}, *messages],
        "tools": list(tools),
        **body,
    }
    request = urllib.request.Request(f"{address}/v1/chat/completions", json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            message = json.load(answer)["choices"][0]["message"]
            return answer.status, answer.headers, message
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)["error"]["message"]


def called(message):
    function = message["tool_calls"][0]["function"]
    return function["name"], json.loads(function["arguments"])


def result(text):
    return {"role": "tool", "content": text}


@pytest.fixture
def stub():
    with StubServer() as server:
        yield server


def test_a_limit_says_when_and_why(stub):
    status, headers, said = ask(stub.url("429:30:resets 8pm (Asia/Tokyo)"))
    assert (status, headers["Retry-After"], said) == (429, "30", "resets 8pm (Asia/Tokyo)")
    assert ask(stub.url("429"))[1]["Retry-After"] is None


def test_once_is_once_per_run_and_titles_do_not_use_it_up(stub):
    address = stub.url("500once", "a")
    assert ask(address)[0] == 500
    assert [ask(address, tools=TOOLS)[0] for _ in range(2)] == [500, 200]
    assert ask(stub.url("500once", "b"), tools=TOOLS)[0] == 500


def test_a_script_follows_the_results_of_a_conversation(stub):
    call = {"tool": ["file_bug", {"title": "t"}]}
    stub.script("a", [call, {"shell": "ls"}, {"text": "done"}])
    address = stub.url(run="a")
    for _ in range(2):  # each conversation from its beginning
        said = ask(address, tools=TOOLS)[2]
        assert called(said) == ("tracker__file_bug", {"title": "t"})
    said = ask(address, [result("filed")], TOOLS)[2]
    assert called(said) == ("bash", {"command": "ls"})
    assert ask(address, [result("filed"), result("")], TOOLS)[2]["content"] == "done"
    assert stub.asked("a")[-1].results == ["filed", ""]


def test_a_script_by_request_counts_all_but_titles(stub):
    steps = [{"shell": "ls"}, {"fail": [503, "busy", {"Retry-After": "7"}]}, {"text": "done"}]
    stub.script("a", steps, per_request=True)
    address = stub.url(run="a")
    assert called(ask(address, tools=TOOLS)[2])[0] == "bash"
    assert ask(address)[2]["content"] == "Stub title"
    status, headers, said = ask(address, tools=TOOLS)
    assert (status, headers["Retry-After"], said) == (503, "7", "busy")
    assert [ask(address, tools=TOOLS)[2]["content"] for _ in range(2)] == ["done", "done"]


def test_an_endpoints_script_counts_every_request(stub):
    stub.script("a", [{"fail": [400, "no json_schema"]}, {"text": "{}"}], per_request=True)
    assert [ask(stub.url(run="a"))[0] for _ in range(2)] == [400, 200]


def test_a_script_may_come_by_http(stub):
    sent = json.dumps({"run": "a", "steps": [{"text": "hello"}]}).encode()
    here = f"http://127.0.0.1:{stub.server_port}"
    urllib.request.urlopen(urllib.request.Request(f"{here}/__script", sent), timeout=10).close()
    assert ask(stub.url(run="a"))[2]["content"] == "hello"
    with urllib.request.urlopen(f"{here}/__log?run=a", timeout=10) as log:
        assert [one["run"] for one in json.load(log)] == ["a"]


def test_a_planted_text_and_an_orphan_are_the_shells(stub):
    name, arguments = called(ask(stub.url("print:it's a secret"), tools=TOOLS)[2])
    assert name == "bash"
    assert "secret" in arguments["command"]
    assert called(ask(stub.url("orphan"), tools=TOOLS)[2])[1]["command"].startswith("setsid ")


def test_a_stream_goes_silent_breaks_or_never_begins(stub):
    def stream(scenario):
        body = json.dumps({"messages": [], "stream": True}).encode()
        address = f"{stub.url(scenario)}/v1/chat/completions"
        return urllib.request.urlopen(urllib.request.Request(address, body), timeout=1)

    with stream("badjson") as answer, pytest.raises(json.JSONDecodeError):
        json.loads(answer.read().removeprefix(b"data: "))
    with stream("stall") as answer, pytest.raises(TimeoutError):
        answer.read()
    with pytest.raises(ConnectionError):
        stream("drop")


def test_nobody_refuses():
    with nobody() as address, pytest.raises(urllib.error.URLError, match="refused"):
        ask(address)
