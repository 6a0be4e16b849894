"""opencode (opencode-ai), driven as AGENTS.md says; each claim here was seen with 1.18.33."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from loops.agents.cli.adapter import Launch, Wish
from loops.agents.cli.lenient import (
    as_json,
    call,
    mapping,
    number,
    openai_url,
    status,
    text,
    tokens,
)
from loops.agents.events import Event, Kind, Usage
from tracker.errors import Invalid

KEY = "OPENCODE_ENDPOINT_KEY"
ENDPOINT = "endpoint"
SERVER = "tracker"
MOST_OUTPUT = 32_000


class Opencode:
    """model: "provider/model" for a vendor that opencode knows; with a base_url, the name as that
    OpenAI-compatible endpoint knows it. Its own five retries cannot be set. Where instructions are
    not wanted, the repository's AGENTS.md, CLAUDE.md and opencode.json are left out
    (.opencode and its plugins never: it must be hidden); an AGENTS.md in a folder below is still
    read when a file beside it is."""

    name = "opencode"
    tested = ("1.18.33", "1.18.33")
    logins = (".local/share/opencode/auth.json",)
    instructions = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
    state = (".config/opencode", ".local/share/opencode", ".local/state/opencode", ".opencode")
    obeyed = (".opencode",)
    own_sandbox = ""

    def launch(self, wish: Wish) -> Launch:
        model = _model(wish)
        argv = ["run", "--format", "json", "--title", "Loopwatch"]  # else it asks for one
        if wish.is_confined:
            argv.append("--auto")  # else what lies outside the workspace is refused
        if model:
            argv += ["-m", model]
        if wish.resume:
            argv += ["-s", wish.resume]
        env = {
            "OPENCODE_CONFIG_CONTENT": json.dumps(_config(wish, model)),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }
        if wish.base_url:
            env["OPENCODE_DISABLE_MODELS_FETCH"] = "1"
        if not wish.loads_instructions:
            env["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
            env["OPENCODE_DISABLE_CLAUDE_CODE"] = "1"
            argv.append("--pure")
        return Launch(
            argv=(*argv, *wish.extra),
            env=env,
            secret_env={KEY: wish.key} if wish.key else {},
        )

    def reader(self) -> OpencodeReader:
        return OpencodeReader()


def _model(wish: Wish) -> str:
    if wish.base_url and not wish.model:
        raise Invalid("opencode needs the name of a model for its endpoint; write one.")
    return f"{ENDPOINT}/{wish.model}" if wish.base_url else wish.model


def _config(wish: Wish, model: str) -> dict[str, Any]:
    """The one variable wins over every file. {env:NAME} keeps the key out of it."""
    config: dict[str, Any] = {"autoupdate": False, "share": "disabled"}
    options = {"apiKey": f"{{env:{KEY}}}"} if wish.key else {}
    if wish.base_url:
        limit = {"context": wish.context, "output": min(MOST_OUTPUT, wish.context // 4)}
        config["provider"] = {
            ENDPOINT: {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": openai_url(wish.base_url), **options},
                "models": {wish.model: {"limit": limit}},
            }
        }
    elif "/" in model and options:
        config["provider"] = {model.partition("/")[0]: {"options": options}}
    if wish.mcp:
        config["mcp"] = {SERVER: {"type": "local", "command": list(wish.mcp), "enabled": True}}
    return config


class OpencodeReader:
    """Every line names its conversation; usage comes with each step, so steps are added up."""

    def __init__(self) -> None:
        self._conversation = ""
        self._steps: dict[str, Usage] = {}

    def read(self, line: dict[str, Any]) -> Iterable[Event]:
        return (*self._begin(text(line.get("sessionID"))), *self._event(line))

    def usages(self) -> tuple[Usage, ...]:
        steps = self._steps.values()
        if not steps:
            return ()
        reported = [step.reported for step in steps if step.reported is not None]
        return (
            Usage(
                model="",
                input=sum(step.input for step in steps),
                output=sum(step.output for step in steps),
                cached=sum(step.cached for step in steps),
                reasoning=sum(step.reasoning for step in steps),
                reported=sum(reported) if any(reported) else None,
            ),
        )

    def _begin(self, conversation: str) -> Iterator[Event]:
        if conversation and conversation != self._conversation:
            self._conversation = conversation
            yield Event(kind=Kind.INIT, conversation=conversation)

    def _event(self, line: dict[str, Any]) -> Iterator[Event]:
        part = mapping(line.get("part"))
        match line.get("type"):
            case "step_start" | "reasoning":
                return
            case "text":
                if text(part.get("text")).strip():
                    yield Event(kind=Kind.TEXT, text=text(part.get("text")))
            case "tool_use":
                yield from _tool(part)
            case "step_finish":
                yield from self._step(part)
            case "error":
                yield _error(mapping(line.get("error")))
            case _:
                yield Event(kind=Kind.RAW, text=as_json(line))

    def _step(self, part: dict[str, Any]) -> Iterator[Event]:
        usage = _usage(part)
        self._steps[text(part.get("id")) or str(len(self._steps))] = usage
        yield Event(kind=Kind.USAGE, usage=usage)
        if part.get("reason") == "stop":
            yield Event(kind=Kind.DONE)


def _tool(part: dict[str, Any]) -> Iterator[Event]:
    """A call and its result come together, when it has ended."""
    state = mapping(part.get("state"))
    yield Event(kind=Kind.TOOL_CALL, text=call(part.get("tool"), state.get("input")))
    is_ok = state.get("status") == "completed"
    said = text(state.get("output")) or text(state.get("error"))
    yield Event(kind=Kind.TOOL_RESULT, ok=is_ok, text=said)


def _error(error: dict[str, Any]) -> Event:
    data = mapping(error.get("data"))
    said = text(data.get("message")) or text(error.get("message")) or text(error.get("name"))
    name = text(error.get("name"))
    words = f"{name}: {said}" if name not in ("", "APIError", "UnknownError", said) else said
    headers = mapping(data.get("responseHeaders"))
    return Event(
        kind=Kind.ERROR,
        text=words or "The CLI named no reason.",
        status=status(data.get("statusCode")),
        wait_seconds=_seconds(headers.get("retry-after")),
    )


def _seconds(header: Any) -> float | None:
    try:
        return number(float(header))
    except (TypeError, ValueError, OverflowError):
        return None


def _usage(part: dict[str, Any]) -> Usage:
    """Its input leaves cached tokens out, its output leaves reasoning out; both are added."""
    used = mapping(part.get("tokens"))
    cache = mapping(used.get("cache"))
    cached, reasoning = tokens(cache.get("read")), tokens(used.get("reasoning"))
    return Usage(
        model="",
        input=tokens(used.get("input")) + cached + tokens(cache.get("write")),
        output=tokens(used.get("output")) + reasoning,
        cached=cached,
        reasoning=reasoning,
        reported=number(part.get("cost")),
    )


OPENCODE = Opencode()
