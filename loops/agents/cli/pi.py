"""pi (@mariozechner/pi-coding-agent), driven as AGENTS.md says; each claim was seen with 0.73.1.

It knows no MCP: agents reach the tracker by the `loopwatch` command on their PATH, and Wish.mcp is
left alone. It has no permissions and no sandbox. The repository's extensions (code in the process
that holds the API key) never load; its .pi/settings.json always counts, no switch leaves it out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from loops.agents.cli.adapter import Launch, Wish
from loops.agents.cli.lenient import (
    as_json,
    call,
    content,
    items,
    mapping,
    number,
    openai_url,
    text,
)
from loops.agents.cli.lenient import status as http_status
from loops.agents.cli.lenient import tokens as count
from loops.agents.events import Event, Kind, Usage

PROVIDER = "loopwatch"
KEY = "LOOPWATCH_PI_KEY"
FOLDER = ".pi/agent"
DEFAULT_PROVIDER = "anthropic"
_STATUS = re.compile(r"(?:^|\bstatus:? |\bcode:? |\bHTTP |\berror:? )([45]\d\d)\b", re.I)
# Parts of what comes whole, and how far things have come.
_SILENT = (
    "agent_start",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "tool_execution_update",
    "queue_update",
    "compaction_start",
    "compaction_end",
)


class Pi:
    """An OpenAI-compatible endpoint at base_url; without one the vendor that the model names
    ("openai/gpt-5"; Anthropic, where it names none). Without a key it signs in by the files of
    `logins`."""

    name = "pi"
    tested = ("0.73.1", "0.73.1")
    logins = (".pi/agent/auth.json",)
    instructions = ("AGENTS.md", "CLAUDE.md")
    state = (".pi",)
    obeyed = (".pi",)
    own_sandbox = ""

    def launch(self, wish: Wish) -> Launch:
        argv = ["-p", "--mode", "json", "--no-extensions", *_model(wish)]
        if not wish.loads_instructions:
            argv += ["--no-context-files", "--no-skills", "--no-prompt-templates"]
            # Empty, they stand in for the repository's .pi/SYSTEM.md and .pi/APPEND_SYSTEM.md.
            argv += ["--system-prompt", "", "--append-system-prompt", ""]
        argv += ["--session", wish.resume] if wish.resume else []
        return Launch(
            argv=(*argv, *wish.extra),
            env={"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
            secret_env={KEY: wish.key} if wish.key else {},
            files={
                f"{FOLDER}/models.json": json.dumps({"providers": _providers(wish)}, indent=1),
                f"{FOLDER}/settings.json": json.dumps(_settings(wish), indent=1),
            },
        )

    def reader(self) -> PiReader:
        return PiReader()


def _model(wish: Wish) -> list[str]:
    if wish.base_url:
        return ["--provider", PROVIDER, "--model", wish.model or "default"]
    provider, slash, model = wish.model.partition("/")
    if slash:
        return ["--provider", provider, "--model", model]
    return ["--provider", DEFAULT_PROVIDER, *(["--model", wish.model] if wish.model else [])]


def _providers(wish: Wish) -> dict[str, Any]:
    """`apiKey` is the name of an environment variable there."""
    if wish.base_url:
        return {PROVIDER: _endpoint(wish)}
    if not wish.key:
        return {}
    provider, slash, _ = wish.model.partition("/")
    return {provider if slash else DEFAULT_PROVIDER: {"apiKey": KEY}}


def _endpoint(wish: Wish) -> dict[str, Any]:
    free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    return {
        "baseUrl": openai_url(wish.base_url),
        "api": "openai-completions",
        "apiKey": KEY,
        "models": [
            {
                "id": wish.model or "default",
                "contextWindow": wish.context,
                "maxTokens": min(16_384, wish.context // 4),
                "cost": free,
            }
        ],
    }


def _settings(wish: Wish) -> dict[str, Any]:
    return {
        "retry": {
            "enabled": wish.retries > 0,
            "maxRetries": wish.retries,
            "provider": {"maxRetries": 0},
        }
    }


class PiReader:
    """Every message of the model names its usage. The exit code says nothing: the call is done when
    the last message of the agent has stopped by itself."""

    def __init__(self) -> None:
        self._usages: list[Usage] = []
        self._stopped = ""

    def read(self, line: dict[str, Any]) -> Iterable[Event]:
        kind = line.get("type")
        match kind:
            case "session":
                return (Event(kind=Kind.INIT, conversation=text(line.get("id"))),)
            case "message_end":
                return tuple(self._message(mapping(line.get("message"))))
            case "tool_execution_start":
                asked = call(line.get("toolName"), line.get("args"))
                return (Event(kind=Kind.TOOL_CALL, text=asked),)
            case "tool_execution_end":
                said = content(mapping(line.get("result")).get("content"))
                is_ok = line.get("isError") is not True
                return (Event(kind=Kind.TOOL_RESULT, ok=is_ok, text=said),)
            case "auto_retry_start":
                return (_retry(line),)
            case "auto_retry_end":
                return _retries_ended(line)
            case "agent_end":
                return (Event(kind=Kind.DONE),) if self._stopped == "stop" else ()
        return () if kind in _SILENT else (Event(kind=Kind.RAW, text=as_json(line)),)

    def usages(self) -> tuple[Usage, ...]:
        sums: dict[str, Usage] = {}
        for one in self._usages:
            before = sums.get(one.model)
            sums[one.model] = _sum(before, one) if before else one
        return tuple(sums.values())

    def _message(self, message: dict[str, Any]) -> Iterator[Event]:
        if message.get("role") != "assistant":
            return
        self._stopped = text(message.get("stopReason"))
        model = text(message.get("model"))
        for block in items(message.get("content")):
            if block.get("type") == "text" and text(block.get("text")).strip():
                yield Event(kind=Kind.TEXT, text=text(block.get("text")), model=model)
        usage = _usage(model, mapping(message.get("usage")))
        if usage.input or usage.output:
            self._usages.append(usage)
            yield Event(kind=Kind.USAGE, model=model, usage=usage)
        if self._stopped in ("error", "aborted", "length"):
            said = text(message.get("errorMessage")) or f"The model stopped: {self._stopped}."
            yield Event(kind=Kind.ERROR, text=said, status=_status(said))


def _retry(line: dict[str, Any]) -> Event:
    said, delay = text(line.get("errorMessage")), number(line.get("delayMs"))
    return Event(
        kind=Kind.RETRY,
        text=f"{said}; retry {count(line.get('attempt'))} of {count(line.get('maxAttempts'))}.",
        status=_status(said),
        wait_seconds=None if delay is None else delay / 1000,
    )


def _retries_ended(line: dict[str, Any]) -> Iterable[Event]:
    if line.get("success") is not False:
        return ()
    said = text(line.get("finalError")) or "The request failed again."
    # The message that failed was an ERROR already.
    return (Event(kind=Kind.DONE, ok=False, text=said, status=_status(said)),)


def _usage(model: str, used: dict[str, Any]) -> Usage:
    cached, written = count(used.get("cacheRead")), count(used.get("cacheWrite"))
    return Usage(
        model=model,
        input=count(used.get("input")) + cached + written,
        output=count(used.get("output")),
        cached=cached,
        # It multiplies by the prices of its models, and ours are written as free.
        reported=number(mapping(used.get("cost")).get("total")) or None,
    )


def _sum(one: Usage, other: Usage) -> Usage:
    prices = [usage.reported for usage in (one, other) if usage.reported is not None]
    return replace(
        one,
        input=one.input + other.input,
        output=one.output + other.output,
        cached=one.cached + other.cached,
        reported=sum(prices) if prices else None,
    )


def _status(said: str) -> int:
    found = _STATUS.search(said)
    return http_status(found[1]) if found else 0


PI = Pi()
