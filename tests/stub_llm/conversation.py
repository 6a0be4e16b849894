"""What an agent's request says, in any of the four protocols."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

Body = dict[str, Any]
_FOLDER = re.compile(
    r"(?:directory|directories|workspace|cwd|folders?|root)\b[^/]{0,60}?(/[^\s`\"'<>,)]+)", re.I
)


class Tool(NamedTuple):
    """One tool that the agent offers. namespace: codex groups MCP tools by server. is_freeform: it
    takes text instead of arguments."""

    name: str
    schema: Body
    namespace: str = ""
    is_freeform: bool = False


def protocol_of(path: str) -> str | None:
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    if re.search(r"/messages(/count_tokens)?$", path):
        return "anthropic"
    return "gemini" if re.search(r":\w+$", path) else None


def flat(value: Any) -> str:
    """All text in a JSON value."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    return " ".join(flat(part) for part in value) if isinstance(value, list) else ""


def tools_of(protocol: str, body: Body) -> list[Tool]:
    found: list[Tool] = []
    for tool in body.get("tools") or []:
        if protocol == "gemini":
            for one in tool.get("functionDeclarations") or []:
                schema = one.get("parametersJsonSchema") or one.get("parameters") or {}
                found.append(Tool(one["name"], schema))
        elif protocol == "chat":
            function = tool.get("function") or tool
            found.append(Tool(function.get("name", ""), function.get("parameters") or {}))
        elif protocol == "responses":
            found += _responses_tools(tool)
        elif tool.get("input_schema") is not None:
            found.append(Tool(tool["name"], tool["input_schema"]))
    return found


def _responses_tools(tool: Body) -> list[Tool]:
    if tool.get("type") == "function":
        return [Tool(tool["name"], tool.get("parameters") or {})]
    if tool.get("type") == "custom":
        return [Tool(tool["name"], {}, is_freeform=True)]
    if tool.get("type") == "namespace":
        return [
            Tool(one["name"], one.get("parameters") or {}, tool["name"])
            for one in tool.get("tools") or []
        ]
    return []


def results_of(protocol: str, body: Body) -> list[Any]:
    """Tool results since the last human message, oldest first."""
    results: list[Any] = []
    for turn in _turns(protocol, body):
        new = _results(protocol, turn)
        if new:
            results += new
        elif turn.get("role") == "user":
            results = []
    return results


def _turns(protocol: str, body: Body) -> list[Body]:
    turns = body.get({"responses": "input", "gemini": "contents"}.get(protocol, "messages"))
    return [turn for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []


def _results(protocol: str, turn: Body) -> list[Any]:
    if protocol == "responses":
        return [turn.get("output")] if str(turn.get("type", "")).endswith("_call_output") else []
    if protocol == "gemini":
        parts = turn.get("parts") or []
        return [part["functionResponse"] for part in parts if "functionResponse" in part]
    if turn.get("role") == "tool":
        return [turn.get("content")]
    content = turn.get("content")
    blocks = content if isinstance(content, list) else []
    return [
        block.get("content")
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]


def folder_of(body: Body) -> str | None:
    """The workspace that the agent names in its prompt (on this machine, so it can be checked): a
    git tree wins."""
    named = [match[1].rstrip(".:;/") for match in _FOLDER.finditer(flat(body))]
    paths = [path for path in named if path.count("/") > 1 and os.path.isdir(path)]
    trees = [path for path in paths if os.path.exists(f"{path}/.git")]
    return next(iter(trees + paths), None)
