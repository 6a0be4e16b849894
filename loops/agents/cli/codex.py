"""Codex CLI (@openai/codex), driven as AGENTS.md says; each claim here was seen with 0.171.0.

Its settings are one file in HOME, so that a resumed call, which takes fewer options, is set the
same way. It speaks the Responses API only. The repository's .codex/config.toml and hooks are not
read, as nobody trusts it by name.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from loops.agents.cli.adapter import Launch, Wish
from loops.agents.cli.lenient import as_json, call, content, items, mapping, openai_url, text
from loops.agents.cli.lenient import status as http_status
from loops.agents.cli.lenient import tokens as count
from loops.agents.events import Event, Kind, Usage

SERVER = "tracker"
KEY = "LOOPWATCH_CODEX_KEY"
# Its MCP servers get no environment but what is named.
_OF_THE_CALL = ("LOOPWATCH_SOCKET", "LOOPWATCH_TOKEN", "RUN_MARK")
_STATUS = re.compile(r"\b(?:status:? |HTTP |error:? )([45]\d\d)\b", re.I)
_RETRY = "Reconnecting..."  # "1/5 (why)", or "waiting for network (why)"


class Codex:
    """The OpenAI API, or what speaks Responses at base_url. Without a key it signs in by the files
    of `logins`."""

    name = "codex"
    tested = ("0.171.0", "0.171.0")
    logins = (".codex/auth.json",)
    instructions = ("AGENTS.md", "AGENTS.override.md")
    state = (".codex",)
    obeyed = ()
    own_sandbox = (
        "Codex's own sandbox: its commands write only in the clone and its temporary folder, and"
        " reach no network."
    )

    def launch(self, wish: Wish) -> Launch:
        argv = ["exec", "--json", "--skip-git-repo-check"]
        argv += ["--dangerously-bypass-approvals-and-sandbox"] if wish.is_confined else []
        tail = ["resume", *wish.extra, wish.resume] if wish.resume else [*wish.extra]
        return Launch(
            argv=(*argv, *tail, "-"),
            secret_env={KEY: wish.key} if wish.key else {},
            files={".codex/config.toml": _toml(_settings(wish))},
        )

    def reader(self) -> CodexReader:
        return CodexReader()


def _settings(wish: Wish) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "model_provider": "loopwatch",
        "model_providers": {"loopwatch": _provider(wish)},
        "approval_policy": "never",
        "analytics": {"enabled": False},
        "check_for_update_on_startup": False,
        # They call on GitHub at the start, and lend the agent what a person's account may do.
        "features": {"apps": False, "plugins": False},
        # The key is for the model, not for the commands that the model runs.
        "shell_environment_policy": {"inherit": "all", "exclude": [KEY]},
    }
    if wish.model:
        settings["model"] = wish.model
    if not wish.loads_instructions:
        settings["project_doc_max_bytes"] = 0
        settings["skills"] = {"include_instructions": False}
    if not wish.is_confined:
        settings["sandbox_mode"] = "workspace-write"
        settings["sandbox_workspace_write"] = {
            # It keeps .git read-only otherwise (openai/codex#7071), and nobody could commit.
            "writable_roots": [str(wish.clone), str(wish.clone / ".git")],
            "exclude_slash_tmp": True,
        }
    if wish.mcp:
        settings["mcp_servers"] = {SERVER: _server(wish.mcp)}
    return settings


def _provider(wish: Wish) -> dict[str, Any]:
    """One of our own, for the built-in one takes no number of retries."""
    provider: dict[str, Any] = {
        "name": "OpenAI",
        "wire_api": "responses",
        "request_max_retries": wish.retries,
        "stream_max_retries": wish.retries,
    }
    if wish.base_url:
        provider["base_url"] = openai_url(wish.base_url)
    if wish.key:
        provider["env_key"] = KEY
    elif not wish.base_url:
        provider["requires_openai_auth"] = True
    return provider


def _server(argv: tuple[str, ...]) -> dict[str, Any]:
    return {
        "command": argv[0],
        "args": list(argv[1:]),
        "env_vars": list(_OF_THE_CALL),
        "default_tools_approval_mode": "approve",
        "startup_timeout_sec": 60,  # a busy machine takes longer than its usual 10
        "required": True,  # otherwise the first requests go out before its tools are known
    }


def _toml(value: Any) -> str:
    """A table of JSON values as lines `key = value`, nested ones inline."""
    return "".join(f"{_text(name)} = {_inline(one)}\n" for name, one in value.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(value: str) -> str:
    """TOML's basic strings are JSON's but for DEL and for pairs of surrogates."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


class CodexReader:
    """The events name no model: usage is of the model that was asked for (model ""). It counts the
    whole conversation: after a resume also the interrupted call's, which itself told none. An item
    of type "error" is a warning, a line of type "error" may be a retry."""

    def __init__(self) -> None:
        self._usages: list[Usage] = []
        self._open: set[str] = set()
        self._failed = ""

    def read(self, line: dict[str, Any]) -> Iterable[Event]:
        match line.get("type"):
            case "thread.started":
                return (Event(kind=Kind.INIT, conversation=text(line.get("thread_id"))),)
            case "turn.started" | "item.updated":
                return ()
            case "item.started":
                return tuple(self._started(mapping(line.get("item"))))
            case "item.completed":
                return tuple(self._completed(mapping(line.get("item"))))
            case "turn.completed":
                return self._done(mapping(line.get("usage")))
            case "error":
                return self._error(text(line.get("message")))
            case "turn.failed":
                return self._turn_failed(text(mapping(line.get("error")).get("message")))
        return (Event(kind=Kind.RAW, text=as_json(line)),)

    def usages(self) -> tuple[Usage, ...]:
        return tuple(self._usages)

    def _started(self, item: dict[str, Any]) -> Iterator[Event]:
        asked = _asked(item)
        if asked:
            self._open.add(text(item.get("id")))
            yield Event(kind=Kind.TOOL_CALL, text=asked)

    def _completed(self, item: dict[str, Any]) -> Iterator[Event]:
        said = text(item.get("text"))
        match item.get("type"):
            case "agent_message":
                if said.strip():
                    yield Event(kind=Kind.TEXT, text=said)
            case "reasoning" | "todo_list":
                return
            case "error":
                yield Event(kind=Kind.RAW, text=text(item.get("message")))
            case _:
                yield from self._tool_ended(item)

    def _tool_ended(self, item: dict[str, Any]) -> Iterator[Event]:
        asked, number = _asked(item), text(item.get("id"))
        if not asked:
            yield Event(kind=Kind.RAW, text=as_json(item))
            return
        if number not in self._open:
            yield Event(kind=Kind.TOOL_CALL, text=asked)
        self._open.discard(number)
        is_ok = item.get("status") in ("completed", None) and item.get("exit_code") in (0, None)
        yield Event(kind=Kind.TOOL_RESULT, ok=is_ok, text=_result(item))

    def _done(self, used: dict[str, Any]) -> Iterable[Event]:
        asked, output = count(used.get("input_tokens")), count(used.get("output_tokens"))
        usage = Usage(
            model="",
            input=asked,
            output=output,
            cached=min(count(used.get("cached_input_tokens")), asked),
            reasoning=min(count(used.get("reasoning_output_tokens")), output),
        )
        self._usages = [usage]
        return (Event(kind=Kind.USAGE, usage=usage), Event(kind=Kind.DONE))

    def _error(self, said: str) -> Iterable[Event]:
        if said.startswith(_RETRY):
            return (Event(kind=Kind.RETRY, text=said, status=_status(said)),)
        self._failed = said
        return (Event(kind=Kind.ERROR, text=said, status=_status(said)),)

    def _turn_failed(self, said: str) -> Iterable[Event]:
        said = said or self._failed or "The CLI named no reason."
        failed = Event(kind=Kind.ERROR, text=said, status=_status(said))
        done = replace(failed, kind=Kind.DONE, ok=False)
        return (done,) if said == self._failed else (failed, done)


def _asked(item: dict[str, Any]) -> str:
    """What a tool was asked, "" for what is no tool."""
    match item.get("type"):
        case "command_execution":
            return " ".join(_command(text(item.get("command"))).split()) or "command"
        case "mcp_tool_call":
            return call(
                f"{text(item.get('server'))}.{text(item.get('tool'))}", item.get("arguments")
            )
        case "file_change":
            changes = items(item.get("changes"))
            named = (
                f"{text(one.get('kind'))} {Path(text(one.get('path'))).name}" for one in changes
            )
            return " ".join(["file_change", *named])
        case "web_search":
            return f"web_search {text(item.get('query'))}".strip()
        case "collab_tool_call":
            return call(item.get("tool"), {"prompt": item.get("prompt")})
    return ""


def _command(said: str) -> str:
    """What stands in `/bin/bash -lc "..."`."""
    try:
        words = shlex.split(said)
    except ValueError:
        return said
    return words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else said


def _result(item: dict[str, Any]) -> str:
    error = item.get("error")
    if error:
        return text(mapping(error).get("message") or error)
    if item.get("type") == "command_execution":
        return text(item.get("aggregated_output"))
    result = mapping(item.get("result"))
    return content(result.get("content")) if result else text(item.get("status"))


def _status(said: str) -> int:
    found = _STATUS.search(said)
    return http_status(found[1]) if found else 0


CODEX = Codex()
