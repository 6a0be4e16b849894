"""Qwen Code (@qwen-code/qwen-code), driven as AGENTS.md says; each claim was seen with 0.24.4.

The key comes from OPENAI_API_KEY, never by an argument. Settings stand in a file in HOME that the
CLI takes for the system's: it wins over the repository's own .qwen/settings.json.
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
    status,
    text,
    tokens,
)
from loops.agents.events import Event, Kind, Usage

SETTINGS = ".qwen/loopwatch.json"
NO_SUCH_FILE = "LOOPWATCH-NO-INSTRUCTIONS.md"
SERVER = "tracker"
NO_KEY = "none"  # it does not start without one, also where the endpoint wants none
_STATUS = re.compile(r"\b(?:API Error: |status:? |code:? )([45]\d\d)\b")


class Qwen:
    """Any OpenAI-compatible endpoint. `retries` is how often it waits for a rate limit, seconds
    and not its usual minute; before each wait it asks up to seven times at short intervals, which
    nothing sets. Without a key and an address it signs in by the files of `logins`."""

    name = "qwen"
    tested = ("0.24.4", "0.24.4")
    logins = (".qwen/oauth_creds.json",)
    instructions = ("QWEN.md", "AGENTS.md")
    state = (".qwen",)
    obeyed = ()
    own_sandbox = ""

    def launch(self, wish: Wish) -> Launch:
        argv = ["-o", "stream-json", "--approval-mode", "yolo"]
        argv += ["--auth-type", "openai" if wish.key or wish.base_url else "qwen-oauth"]
        if wish.model:
            argv += ["-m", wish.model]
        if wish.resume:
            argv += ["--resume", wish.resume]
        if not wish.loads_instructions:
            argv += ["--allowed-mcp-server-names", SERVER, "--extensions", "none"]
        env = {
            "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
            "QWEN_CODE_NO_RELAUNCH": "true",
            "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(wish.home / SETTINGS),
        }
        if wish.base_url:
            env["OPENAI_BASE_URL"] = openai_url(wish.base_url)
        if wish.base_url and not wish.key:
            env["OPENAI_API_KEY"] = NO_KEY
        return Launch(
            argv=(*argv, *wish.extra),
            env=env,
            secret_env={"OPENAI_API_KEY": wish.key} if wish.key else {},
            files={SETTINGS: json.dumps(_settings(wish), indent=1)},
        )

    def reader(self) -> QwenReader:
        return QwenReader()


def _settings(wish: Wish) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "security": {"folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
        "tools": {"toolSearch": {"enabled": False}},  # it hides the tracker's tools
        "model": {"generationConfig": _patience(wish)},
    }
    if wish.mcp:
        settings["mcpServers"] = {SERVER: _server(wish.mcp)}
    if not wish.loads_instructions:
        settings["context"] = {"fileName": [NO_SUCH_FILE]}
        settings["disableAllHooks"] = True
    return settings


def _patience(wish: Wish) -> dict[str, int]:
    return {
        "maxRetries": wish.retries,
        "retryInitialDelayMs": 2_000,
        "retryMaxDelayMs": 10_000,
        "contextWindowSize": wish.context,
    }


def _server(argv: tuple[str, ...]) -> dict[str, Any]:
    names = ("LOOPWATCH_SOCKET", "LOOPWATCH_TOKEN", "RUN_MARK")
    return {
        "command": argv[0],
        "args": list(argv[1:]),
        "env": {name: f"${{{name}}}" for name in names},
        "trust": True,
    }


class QwenReader:
    """Each message names the usage of its request. The end names them all, also those of requests
    that it does not show; after a resume it counts the earlier call's once more."""

    def __init__(self) -> None:
        self._requests: dict[str, Usage] = {}
        self._whole: Usage | None = None

    def read(self, line: dict[str, Any]) -> Iterable[Event]:
        message = mapping(line.get("message"))
        match line.get("type"), line.get("subtype"):
            case "system", "init":
                return self._begin(line)
            case "system", "retry":
                return (_retry(mapping(line.get("data"))),)
            case "assistant", _:
                return self._assistant(line, message)
            case "user", _:
                return tuple(_results(message))
            case "result", _:
                return self._end(line)
            case "stream_event", _:  # parts of messages that come whole
                return ()
        return (Event(kind=Kind.RAW, text=as_json(line)),)

    def usages(self) -> tuple[Usage, ...]:
        models = {usage.model for usage in self._requests.values()}
        if self._whole is not None and len(models) <= 1:
            return (replace(self._whole, model=next(iter(models), self._whole.model)),)
        return tuple(_sum(model, self._requests.values()) for model in sorted(models))

    def _begin(self, line: dict[str, Any]) -> Iterable[Event]:
        conversation, model = text(line.get("session_id")), text(line.get("model"))
        return (Event(kind=Kind.INIT, conversation=conversation, model=model),)

    def _assistant(self, line: dict[str, Any], message: dict[str, Any]) -> Iterable[Event]:
        events = [event for block in items(message.get("content")) for event in _block(block)]
        used = mapping(message.get("usage"))
        if used:
            usage = _usage(text(message.get("model")), used)
            self._requests[text(message.get("id") or line.get("uuid"))] = usage
            events.append(Event(kind=Kind.USAGE, model=usage.model, usage=usage))
        return events

    def _end(self, line: dict[str, Any]) -> Iterable[Event]:
        used = mapping(line.get("usage"))
        if tokens(used.get("input_tokens")) or tokens(used.get("output_tokens")):
            self._whole = _usage("", used)
        if line.get("is_error") is False:
            return (Event(kind=Kind.DONE),)
        error = line.get("error")
        said = text(mapping(error).get("message") or error or line.get("result"))
        said = said or "The CLI named no reason."
        code = _STATUS.search(said)
        error_event = Event(kind=Kind.ERROR, text=said, status=status(code[1]) if code else 0)
        return (error_event, replace(error_event, kind=Kind.DONE, ok=False))


def _block(block: dict[str, Any]) -> Iterator[Event]:
    if block.get("type") == "tool_use":
        yield Event(kind=Kind.TOOL_CALL, text=call(block.get("name"), block.get("input")))
    elif block.get("type") == "text":
        said = text(block.get("text"))
        # A failed request is told as speech first, then by the end.
        if said.strip() and not said.startswith("[API Error: "):
            yield Event(kind=Kind.TEXT, text=said)


def _results(message: dict[str, Any]) -> Iterator[Event]:
    for block in items(message.get("content")):
        if block.get("type") == "tool_result":
            is_ok = block.get("is_error") is not True
            yield Event(kind=Kind.TOOL_RESULT, ok=is_ok, text=content(block.get("content")))


def _retry(data: dict[str, Any]) -> Event:
    delay = number(data.get("delayMs"))
    return Event(
        kind=Kind.RETRY,
        text=text(data.get("message")) or "The request is tried again.",
        status=status(data.get("status")),
        wait_seconds=None if delay is None else delay / 1000,
    )


def _usage(model: str, used: dict[str, Any]) -> Usage:
    asked = tokens(used.get("input_tokens"))
    return Usage(
        model=model,
        input=asked,
        output=tokens(used.get("output_tokens")),
        cached=min(tokens(used.get("cache_read_input_tokens")), asked),
    )


def _sum(model: str, usages: Iterable[Usage]) -> Usage:
    ours = [usage for usage in usages if usage.model == model]
    return Usage(
        model=model,
        input=sum(usage.input for usage in ours),
        output=sum(usage.output for usage in ours),
        cached=sum(usage.cached for usage in ours),
    )


QWEN = Qwen()
