"""Claude Code (@anthropic-ai/claude-code), driven as AGENTS.md says; each claim here was seen with
2.1.332.

The repository's .claude/settings.json is never read: its `env` sends the API key to any address,
its hooks run as the agent. --setting-sources "" leaves it out, and CLAUDE.md with it; --add-dir
with a variable reads CLAUDE.md, .claude/CLAUDE.md and .claude/rules again, and nothing else. Tools
see the API key in their environment; CLAUDE_CODE_SUBPROCESS_ENV_SCRUB would hide it, but takes the
shell away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from loops.agents.cli.adapter import Launch, Wish
from loops.agents.cli.lenient import as_json, call, content, items, mapping, number, status, text
from loops.agents.cli.lenient import tokens as count
from loops.agents.events import Event, Kind, Usage

SERVER = "tracker"
_ENV = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    # It hides the tracker's tools behind a search.
    "ENABLE_TOOL_SEARCH": "false",
    # Notes in HOME that the next iteration would read.
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
}
# The first moves its work to another tree and branch of the clone; the others outlive the call.
_ASTRAY = ("EnterWorktree", "ScheduleWakeup", "CronCreate")


class Claude:
    """The Anthropic API, or what speaks like it at base_url. Without a key and an address it signs
    in by the files of `logins`."""

    name = "claude"
    tested = ("2.1.332", "2.1.332")
    logins = (".claude/.credentials.json",)
    instructions = ("CLAUDE.md", ".claude/CLAUDE.md")
    state = (".claude", ".claude.json")
    obeyed = ()
    own_sandbox = ""

    def launch(self, wish: Wish) -> Launch:
        argv = ["-p", "--output-format", "stream-json", "--verbose"]
        argv += ["--setting-sources", ""]
        if wish.loads_instructions:
            argv += ["--add-dir", *dict.fromkeys((str(wish.clone), str(wish.workdir)))]
        argv += ["--model", wish.model] if wish.model else []
        argv += ["--resume", wish.resume] if wish.resume else []
        if wish.is_confined:
            argv += ["--dangerously-skip-permissions"]
        else:
            tools = ["Bash", *([f"mcp__{SERVER}"] if wish.mcp else [])]
            argv += ["--permission-mode", "acceptEdits", "--allowedTools", ",".join(tools)]
        argv += ["--disallowedTools", ",".join(_ASTRAY), "--strict-mcp-config"]
        if wish.mcp:
            argv += ["--mcp-config", json.dumps({"mcpServers": {SERVER: _server(wish.mcp)}})]
        env = {**_ENV, "CLAUDE_CODE_MAX_RETRIES": str(wish.retries)}
        if wish.is_confined:
            env["IS_SANDBOX"] = "1"  # as root it refuses to skip its permissions otherwise
        if wish.loads_instructions:
            env["CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD"] = "1"
        if wish.base_url:
            env["ANTHROPIC_BASE_URL"] = wish.base_url.rstrip("/").removesuffix("/v1")
        if wish.base_url and not wish.key:
            env["ANTHROPIC_API_KEY"] = "none"  # without any it does not ask at all
        secret_env = {"ANTHROPIC_API_KEY": wish.key} if wish.key else {}
        return Launch(argv=(*argv, *wish.extra), env=env, secret_env=secret_env)

    def reader(self) -> ClaudeReader:
        return ClaudeReader()


def _server(argv: tuple[str, ...]) -> dict[str, Any]:
    return {"command": argv[0], "args": list(argv[1:])}


class ClaudeReader:
    """Each message names the usage of its request as far as it had come, so the end counts; the
    messages do where a call has none. At the end, `usage` leaves out sub-agents, and `modelUsage`
    counts those of an earlier call once more after a resume: so that stands only for calls with
    sub-agents or several models."""

    def __init__(self) -> None:
        self._requests: dict[str, Usage] = {}
        self._whole: tuple[Usage, ...] = ()
        self._has_helpers = False
        self._limit: Event | None = None

    def read(self, line: dict[str, Any]) -> Iterable[Event]:
        message = mapping(line.get("message"))
        match line.get("type"), line.get("subtype"):
            case "system", "init":
                conversation, model = text(line.get("session_id")), text(line.get("model"))
                return (Event(kind=Kind.INIT, conversation=conversation, model=model),)
            case "system", "api_retry":
                return (_retry(line),)
            case "system", "task_started":
                self._has_helpers = True
                return ()
            case "system" | "stream_event", _:  # how far a request or a task has come
                return ()
            case "rate_limit_event", _:
                self._limit = _limit(mapping(line.get("rate_limit_info"))) or self._limit
                return ()
            case "assistant", _:
                return tuple(self._assistant(message))
            case "user", _:
                return tuple(_results(message))
            case "result", _:
                return tuple(self._end(line))
        return (Event(kind=Kind.RAW, text=as_json(line)),)

    def usages(self) -> tuple[Usage, ...]:
        return self._whole or tuple(_by_model(self._requests.values()))

    def _assistant(self, message: dict[str, Any]) -> Iterator[Event]:
        model = text(message.get("model"))
        if model == "<synthetic>":  # its own words about a failed request; the end says them too
            return
        used = mapping(message.get("usage"))
        if used:
            self._requests[text(message.get("id"))] = _usage(model, used)
        for block in items(message.get("content")):
            if block.get("type") == "text" and text(block.get("text")).strip():
                yield Event(kind=Kind.TEXT, text=text(block.get("text")), model=model)
            elif block.get("type") == "tool_use":
                yield Event(kind=Kind.TOOL_CALL, text=call(block.get("name"), block.get("input")))

    def _end(self, line: dict[str, Any]) -> Iterator[Event]:
        self._whole = self._used(mapping(line.get("modelUsage")), mapping(line.get("usage")))
        for usage in self.usages():
            yield Event(kind=Kind.USAGE, model=usage.model, usage=usage)
        if line.get("is_error") is False and line.get("subtype") == "success":
            yield Event(kind=Kind.DONE)
            return
        # "success" stands there for errors of the service too.
        reason = line.get("terminal_reason") or line.get("subtype")
        said = line.get("result") or content(line.get("errors")) or reason
        limit = self._limit
        failed = Event(
            kind=Kind.ERROR,
            text=text(said) or "The CLI named no reason.",
            status=status(line.get("api_error_status")) or (limit.status if limit else 0),
            resets_at=limit.resets_at if limit else None,
        )
        yield failed
        yield replace(failed, kind=Kind.DONE, ok=False)

    def _used(self, models: dict[str, Any], used: dict[str, Any]) -> tuple[Usage, ...]:
        whole = tuple(_of_model(name, mapping(models[name])) for name in models)
        if self._has_helpers or len(whole) != 1:
            return whole
        ours = _usage(whole[0].model, used)
        return whole if ours.input == whole[0].input else (ours,)


def _results(message: dict[str, Any]) -> Iterator[Event]:
    for block in items(message.get("content")):
        if block.get("type") == "tool_result":
            is_ok = block.get("is_error") is not True
            yield Event(kind=Kind.TOOL_RESULT, ok=is_ok, text=content(block.get("content")))


def _retry(line: dict[str, Any]) -> Event:
    delay = number(line.get("retry_delay_ms"))
    attempt, most = count(line.get("attempt")), count(line.get("max_retries"))
    return Event(
        kind=Kind.RETRY,
        text=f"{text(line.get('error')) or 'The request failed'}; retry {attempt} of {most}.",
        status=status(line.get("error_status")),
        wait_seconds=None if delay is None else delay / 1000,
    )


def _limit(info: dict[str, Any]) -> Event | None:
    """A subscription's limit that was reached, told before the end; whether the work goes on all
    the same (paid apart) only the end says. Not seen: it takes a subscription."""
    if info.get("status") != "rejected":
        return None
    resets = number(info.get("resetsAt"))
    return Event(kind=Kind.ERROR, status=429, resets_at=resets)


def _usage(model: str, used: dict[str, Any]) -> Usage:
    cached = count(used.get("cache_read_input_tokens"))
    written = count(used.get("cache_creation_input_tokens"))
    asked = count(used.get("input_tokens")) + cached + written
    output, thought = count(used.get("output_tokens")), mapping(used.get("output_tokens_details"))
    return Usage(
        model=model,
        input=asked,
        output=output,
        cached=cached,
        reasoning=min(count(thought.get("thinking_tokens")), output),
    )


def _of_model(model: str, used: dict[str, Any]) -> Usage:
    is_invented = used.get("costBasis") == "unknown"  # a price for a model that it does not know
    cached = count(used.get("cacheReadInputTokens"))
    written, output = count(used.get("cacheCreationInputTokens")), count(used.get("outputTokens"))
    return Usage(
        model=model,
        input=count(used.get("inputTokens")) + cached + written,
        output=output,
        cached=cached,
        reasoning=min(count(used.get("thinkingTokens")), output),
        reported=None if is_invented else number(used.get("costUSD")),
    )


def _by_model(usages: Iterable[Usage]) -> Iterator[Usage]:
    sums: dict[str, Usage] = {}
    for one in usages:
        before = sums.get(one.model, Usage(model=one.model, input=0, output=0))
        sums[one.model] = replace(
            before,
            input=before.input + one.input,
            output=before.output + one.output,
            cached=before.cached + one.cached,
            reasoning=before.reasoning + one.reasoning,
        )
    yield from sums.values()


CLAUDE = Claude()
