"""An endpoint of a model that says, request by request, exactly the bytes that a test wants, and an
agent that asks it."""

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anthropic
import openai

from loops.agents.base import Call, Places
from loops.agents.endpoint import Contract, EndpointAgent
from loops.engine.values import Role

# Loaded at the first request, which would count as silence where a test allows little of it.
LIBRARIES = (anthropic, openai)
KEY = "sk-planted-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
OK = '{"status": "OK"}'


@dataclass
class Says:
    """One answer. pieces: bytes are sent, numbers are seconds of silence. drop: then the connection
    breaks, in the middle of the body."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    pieces: tuple = ()
    drop: bool = False


class Endpoint:
    """Answers with `says`, one after the other, the last one for ever. requests: bodies that came,
    each with its path and headers (in lower case) under "_path" and "_headers"."""

    def __init__(self, *says):
        self.says, self.requests = list(says), []
        self.gone = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def _handler(endpoint):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append(
                    {**body, "_path": self.path, "_headers": _lower(self.headers)}
                )
                said = endpoint.says[min(len(endpoint.requests), len(endpoint.says)) - 1]
                self.close_connection = True
                self.send_response(said.status)
                if "Content-Type" not in said.headers:
                    kind = "text/event-stream" if said.status == 200 else "application/json"
                    self.send_header("Content-Type", kind)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                if said.drop:
                    self.send_header("Content-Length", "999999")
                self.send_header("Connection", "close")
                self.end_headers()
                try:
                    for piece in said.pieces:
                        if isinstance(piece, bytes):
                            self.wfile.write(piece)
                            self.wfile.flush()
                        else:
                            time.sleep(piece)
                except OSError:
                    endpoint.gone.set()

        return Handler


def _lower(headers):
    return {name.lower(): value for name, value in headers.items()}


def event(data, name=""):
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def openai_chunk(text=None, finish=None, usage=None, **delta):
    choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": finish}
    return event(
        {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [] if usage else [choice],
            "usage": usage,
        }
    )


OPENAI_USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 50,
    "total_tokens": 1050,
    "prompt_tokens_details": {"cached_tokens": 100},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def openai_says(text, *, usage=OPENAI_USAGE, finish="stop"):
    pieces = [openai_chunk(""), openai_chunk(text), openai_chunk(finish=finish)]
    pieces += [openai_chunk(usage=usage)] if usage else []
    return Says(pieces=(*pieces, b"data: [DONE]\n\n"))


def anthropic_says(text, *, stop="end_turn"):
    usage = {
        "input_tokens": 900,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "output_tokens": 1,
    }
    message = {"id": "1", "type": "message", "role": "assistant", "model": "m", "content": []}
    block = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    delta = {"type": "text_delta", "text": text}
    events = [
        {"type": "message_start", "message": {**message, "usage": usage, "stop_reason": None}},
        block,
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 50}},
        {"type": "message_stop"},
    ]
    return Says(pieces=tuple(event(each, each["type"]) for each in events))


def fails(status, message, *, type="invalid_request_error", **headers):
    """An error as both kinds of service write it."""
    body = {"type": "error", "error": {"type": type, "message": message}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Says(status=status, headers=named, pieces=(json.dumps(body).encode(),))


KINDS = {"openai": openai_says, "anthropic": anthropic_says}


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
