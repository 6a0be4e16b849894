"""Gemini CLI (@google/gemini-cli), driven as AGENTS.md says; each claim here was seen with 0.61.0.

Its settings stand in HOME. A repository's own .gemini/settings.json is read too and wins over them,
always: the file that would win over that one must belong to root, and a folder that is not trusted
gets neither yolo nor our MCP server. For the same reason GEMINI.md is read whatever is wished:
contextFileName only adds names. What else a repository can bring is switched off where its
instructions are not wanted: its MCP servers and extensions by arguments, hooks and skills by
settings, which its own file could switch on again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from loops.agents.cli.adapter import Launch, Wish
from loops.agents.cli.lenient import as_json, call, mapping, status, text, tokens
from loops.agents.events import Event, Kind, Usage

SETTINGS = ".gemini/settings.json"
SERVER = "tracker"
_STATUS = re.compile(r'"code": ?(\d{3})\b')


class Gemini:
    """`retries` holds for a named model; where the CLI chooses by itself (model ""), its fall-back
    model is asked up to 10 times. Shell commands of the agent see the key."""

    name = "gemini"
    tested = ("0.61.0", "0.61.0")
    logins = (".gemini/oauth_creds.json", ".gemini/google_accounts.json")
    instructions = ("GEMINI.md",)
    state = (".gemini",)
    obeyed = (".gemini",)
    own_sandbox = ""

    def launch(self, wish: Wish) -> Launch:
        argv = ["-o", "stream-json", "--approval-mode", "yolo"]
        if wish.model:
            argv += ["-m", wish.model]
        if wish.resume:
            argv += ["--resume", wish.resume]
        if not wish.loads_instructions:
            argv += ["--allowed-mcp-server-names", SERVER, "--extensions", "none"]
        env = {
            "GEMINI_CLI_TRUST_WORKSPACE": "true",  # an untrusted one is refused without a terminal
            "GEMINI_CLI_NO_RELAUNCH": "true",  # its launcher ignores SIGTERM
        }
        if wish.base_url:
            env["GOOGLE_GEMINI_BASE_URL"] = wish.base_url
        return Launch(
            argv=(*argv, *wish.extra),
            env=env,
            secret_env={"GEMINI_API_KEY": wish.key} if wish.key else {},
            files={SETTINGS: json.dumps(_settings(wish), indent=1)},
        )

    def reader(self) -> GeminiReader:
        return GeminiReader()


def _settings(wish: Wish) -> dict[str, Any]:
    login = "gemini-api-key" if wish.key else "oauth-personal"
    settings: dict[str, Any] = {
        "security": {"auth": {"selectedType": login}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            "maxAttempts": wish.retries + 1,
        },
        # The repository's .env could name another endpoint, which would get the key.
        "advanced": {"ignoreLocalEnv": True},
    }
    if wish.mcp:
        settings["mcpServers"] = {SERVER: _server(wish.mcp)}
    if not wish.loads_instructions:
        settings["hooksConfig"] = {"enabled": False}
        settings["skills"] = {"enabled": False}
    return settings


def _server(argv: tuple[str, ...]) -> dict[str, Any]:
    """Its environment is cleaned by the CLI, but for what is named: ${NAME} is read at the start,
    so the file holds no token."""
    names = ("LOOPWATCH_SOCKET", "LOOPWATCH_TOKEN", "RUN_MARK")
    return {
        "command": argv[0],
        "args": list(argv[1:]),
        "env": {name: f"${{{name}}}" for name in names},
        "trust": True,
    }


class GeminiReader:
    """Speech comes in pieces: it is handed on in whole lines."""

    def __init__(self) -> None:
        self._speech = ""
        self._usages: tuple[Usage, ...] = ()
        self._error = ""

    def read(self, line: dict[str, Any]) -> Iterable[Event]:
        if line.get("type") == "message":
            return tuple(self._message(line))
        return (*self._spoken(), *self._other(line))

    def usages(self) -> tuple[Usage, ...]:
        return self._usages

    def _message(self, line: dict[str, Any]) -> Iterator[Event]:
        if line.get("role") == "user":  # our own prompt
            return
        said = text(line.get("content"))
        if line.get("delta") is not True:
            yield from self._spoken()
            yield from _speech(said)
            return
        whole, _, self._speech = (self._speech + said).rpartition("\n")
        yield from _speech(whole)

    def _spoken(self) -> Iterator[Event]:
        said, self._speech = self._speech, ""
        yield from _speech(said)

    def _other(self, line: dict[str, Any]) -> Iterator[Event]:
        match line.get("type"):
            case "init":
                yield Event(
                    kind=Kind.INIT,
                    conversation=text(line.get("session_id")),
                    model=text(line.get("model")),
                )
            case "tool_use":
                said = call(line.get("tool_name"), line.get("parameters"))
                yield Event(kind=Kind.TOOL_CALL, text=said)
            case "tool_result":
                yield _result(line)
            case "error":
                yield _error(text(line.get("message")))
            case "result":
                yield from self._end(line)
            case _:
                yield Event(kind=Kind.RAW, text=as_json(line))

    def _end(self, line: dict[str, Any]) -> Iterator[Event]:
        is_ok = line.get("status") == "success"
        self._usages = _usages(mapping(line.get("stats"))) or self._usages
        for usage in self._usages:
            yield Event(kind=Kind.USAGE, model=usage.model, usage=usage)
        error = mapping(line.get("error"))
        said = text(error.get("message"))
        if is_ok:
            yield Event(kind=Kind.DONE)
            return
        failed = _error(said)
        yield failed
        yield replace(failed, kind=Kind.DONE, ok=False)


def _speech(said: str) -> Iterator[Event]:
    if said.strip():
        yield Event(kind=Kind.TEXT, text=said)


def _error(said: str) -> Event:
    """The status stands in the vendor's JSON, where that is handed on at all."""
    code = _STATUS.search(said)
    words = said or "The CLI named no reason."
    return Event(kind=Kind.ERROR, text=words, status=status(code[1]) if code else 0)


def _result(line: dict[str, Any]) -> Event:
    is_ok = line.get("status") == "success"
    said = text(line.get("output")) or text(mapping(line.get("error")).get("message"))
    return Event(kind=Kind.TOOL_RESULT, ok=is_ok, text=said)


def _usages(stats: dict[str, Any]) -> tuple[Usage, ...]:
    """The CLI's own output leaves thoughts out; total minus input holds them."""
    models = mapping(stats.get("models")) or {"": stats}
    usages = (_usage(str(model), mapping(used)) for model, used in models.items())
    return tuple(usage for usage in usages if usage.input or usage.output)


def _usage(model: str, used: dict[str, Any]) -> Usage:
    asked, said = tokens(used.get("input_tokens")), tokens(used.get("output_tokens"))
    output = max(tokens(used.get("total_tokens")) - asked, said)
    return Usage(
        model=model,
        input=asked,
        output=output,
        cached=min(tokens(used.get("cached")), asked),
        reasoning=output - said,
    )


GEMINI = Gemini()
