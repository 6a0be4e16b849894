"""The HTTP side: which scenario a request belongs to, and how its answer goes out."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.stub_llm.conversation import Body, flat, protocol_of, results_of, tools_of
from tests.stub_llm.dialects import DIALECTS, INPUT, error_body
from tests.stub_llm.replies import Failure, Step, answer, calls_tool, failure_of, steps_of


@dataclass(frozen=True)
class Asked:
    """One POST request. tools: names. results: texts of the tool results since the last human
    message. key: the API key it carried. text: everything said in it."""

    path: str
    run: str
    scenario: str
    model: str
    tools: list[str]
    results: list[str]
    key: str
    body: Body = field(repr=False)

    @property
    def text(self) -> str:
        return flat(self.body)


# What a script may be instead: all steps of the conversation, from what was said so far.
Mind = Callable[[Asked], list[Step]]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StubServer

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send({})

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/__log":
            run = urllib.parse.parse_qs(url.query).get("run", [""])[0]
            fields = ("path", "run", "scenario", "model", "tools", "results")
            return self._send(
                [{name: getattr(one, name) for name in fields} for one in self.server.asked(run)]
            )
        if not re.search(r"/models(/[^/]+)?$", url.path):
            return self._send({"error": {"message": "stub: unknown path"}}, 404)
        model = {"id": "stub-model", "object": "model", "name": "models/stub-model", "created": 0}
        self._send({"object": "list", "data": [model], "models": [model], "has_more": False})

    def do_POST(self) -> None:
        body = self._body()
        path = urllib.parse.urlsplit(self.path).path
        if path == "/__script":
            self.server.script(body["run"], body["steps"], body.get("per_request", False))
            return self._send({})
        place = re.match(r"/s/([^/]+)/([^/]+)(/.*)", path)
        scenario = urllib.parse.unquote(place[1]) if place else self.server.default
        run, path = (place[2], place[3]) if place else ("", path)
        protocol = protocol_of(path)
        if protocol is None:
            return self._send({"error": {"message": f"stub: unknown path {path}"}}, 404)
        model = re.search(r"models/([^:/]+):", path)
        self._answer(
            protocol,
            Asked(
                path=path,
                run=run,
                scenario=scenario,
                model=str(body.get("model") or (model[1] if model else "stub-model")),
                tools=[tool.namespace + tool.name for tool in tools_of(protocol, body)],
                results=[flat(result) for result in results_of(protocol, body)],
                key=self._key(),
                body=body,
            ),
        )

    def _key(self) -> str:
        names = ("x-api-key", "x-goog-api-key", "authorization")
        said = next((self.headers[name] for name in names if self.headers[name]), "")
        return str(said).removeprefix("Bearer ")

    def _body(self) -> Body:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
        with contextlib.suppress(ValueError):
            body = json.loads(raw or b"{}")
            return body if isinstance(body, dict) else {"batch": body}
        return {}

    def _answer(self, protocol: str, asked: Asked) -> None:
        if asked.path.endswith(("count_tokens", ":countTokens")):
            return self._send({"input_tokens": INPUT, "totalTokens": INPUT})
        is_first = self.server.note(asked) == 1
        name, _, argument = asked.scenario.partition(":")
        if name.endswith("once"):
            name = name.removesuffix("once") if is_first else "ok"
        failure = failure_of(name, argument)
        if failure is None and name == "drop":
            self.close_connection = True
            return self.connection.close()
        if name == "slow":
            self.server.stopped.wait(float(argument or 5))
        steps, turn = self.server.steps(name, argument, asked)
        said = failure or answer(steps, protocol, asked.body, turn)
        if isinstance(said, Failure):
            return self._send(error_body(protocol, said), said.status, said.headers)
        whole, events = DIALECTS[protocol](asked.model, said)
        if asked.body.get("stream") or "streamGenerateContent" in asked.path:
            return self._stream(events, name)
        return self._send(b'{"id": "broken", "choi' if name == "badjson" else whole)

    def _stream(self, events: list[tuple[str | None, Any]], name: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            if name == "badjson":
                text = text[: len(text) // 2]
            self.wfile.write((f"event: {event}\n" if event else "").encode())
            self.wfile.write(f"data: {text}\n\n".encode())
            self.wfile.flush()
            if name == "badjson":
                return
            if name == "stall":
                self.server.stopped.wait(3600)
                return

    def _send(self, said: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        sizes = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        self.send_response(status)
        for name, value in (sizes | dict(headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class StubServer(ThreadingHTTPServer):
    """Serves from the moment it is entered; see the package. default: scenario of requests whose
    address names none."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, port: int = 0, default: str = "ok") -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.default = default
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._asked: list[Asked] = []
        self._scripts: dict[str, tuple[list[Step] | Mind, bool]] = {}
        self._turns: Counter[str] = Counter()

    def url(self, scenario: str = "ok", run: str = "run") -> str:
        quoted = urllib.parse.quote(scenario, safe="")
        return f"http://127.0.0.1:{self.server_port}/s/{quoted}/{run}"

    def script(self, run: str, steps: list[Step] | Mind, per_request: bool = False) -> None:
        with self._lock:
            self._scripts[run] = (steps, per_request)
            del self._turns[run]

    def asked(self, run: str = "") -> list[Asked]:
        with self._lock:
            return [one for one in self._asked if run in ("", one.run)]

    def note(self, asked: Asked) -> int:
        """How many requests of its run there were, with it. Those without tools (titles) are
        counted apart, so that they do not use up the error of "once"."""
        kind = (asked.run, bool(asked.tools))
        with self._lock:
            self._asked.append(asked)
            return sum((one.run, bool(one.tools)) == kind for one in self._asked)

    def steps(self, name: str, argument: str, asked: Asked) -> tuple[list[Step], int | None]:
        with self._lock:
            steps, per_request = self._scripts.get(asked.run, ([], False))
            if not steps:
                return steps_of(name, argument), None
            if callable(steps):
                return steps(asked), None
            if not per_request:
                return steps, None
            if any(map(calls_tool, steps)) and not asked.tools:
                return [{"text": "Stub title"}], 0
            self._turns[asked.run] += 1
            return steps, self._turns[asked.run] - 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # agents are killed on purpose, in the middle of a reply

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.shutdown()
        self.server_close()


@contextlib.contextmanager
def nobody() -> Iterator[str]:
    """An address where nobody listens, kept so while in use: each connection is refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/s/ok/run"
