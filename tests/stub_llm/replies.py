"""What the stub answers: a text, a call of one of the agent's own tools, or an error."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from typing import Any

from tests.stub_llm.conversation import Body, Tool, folder_of, results_of, tools_of

Step = dict[str, Any]


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class ToolCall:
    """arguments: text for a freeform tool."""

    tool: Tool
    arguments: Body | str


@dataclass(frozen=True)
class Failure:
    status: int
    text: str
    headers: dict[str, str] = field(default_factory=dict)


_WRITE = re.compile(r"(write|write_file|create_file|file_write|create)", re.I)
_SHELL = re.compile(
    r"(bash|shell|exec_command|shell_command|run_shell_command|execute_bash|terminal)", re.I
)
_WAIT = "python3 -c 'import time; time.sleep(97)'"
STEPS: dict[str, list[Step]] = {
    "ok": [{"write": ["hello.txt", "hello from stub\n"]}, {"text": "STUB-DONE: wrote hello.txt"}],
    "text": [{"text": "STUB-DONE: nothing to do"}],
    "mcp": [{"tool": ["tracker", {}]}, {"text": "STUB-DONE: called the tracker"}],
    "verdict": [{"text": '{"verdict": "pass", "reason": "stub verdict", "score": 0.9}'}],
    "loop": [{"shell": "echo tick"}],
    "orphan": [{"shell": f"setsid {_WAIT} & {_WAIT}"}, {"text": "STUB-DONE: waited"}],
}
ERRORS = {
    "429": Failure(429, "Rate limit reached (stub)"),
    "500": Failure(500, "Internal error (stub)"),
    "503": Failure(503, "Service unavailable (stub)"),
    "529": Failure(529, "Overloaded (stub)"),
    "401": Failure(401, "Invalid API key (stub)"),
    "400ctx": Failure(400, "prompt is too long: 999999 tokens > 200000 maximum (stub)"),
}


def failure_of(name: str, argument: str) -> Failure | None:
    """argument: RETRY_AFTER:TEXT, each may be empty."""
    if name not in ERRORS:
        return None
    retry_after, _, text = argument.partition(":")
    headers = {"Retry-After": retry_after} if retry_after else {}
    return Failure(ERRORS[name].status, text or ERRORS[name].text, headers)


def steps_of(name: str, argument: str) -> list[Step]:
    if name == "shell":
        return [{"shell": argument}, {"text": "STUB-DONE: ran it"}]
    if name == "print":
        command = f"printf '%s\\n' {shlex.quote(argument)}"
        return [{"shell": command}, {"text": "STUB-DONE: printed it"}]
    return STEPS.get(name, STEPS["ok"])


def calls_tool(step: Step) -> bool:
    return not step.keys() & {"text", "fail"}


def answer(
    steps: list[Step], protocol: str, body: Body, turn: int | None = None
) -> Text | ToolCall | Failure:
    """turn: number of the step, by default that of the conversation."""
    if turn is None:
        turn = len(results_of(protocol, body))
    step = steps[min(turn, len(steps) - 1)]
    if "fail" in step:
        return Failure(*step["fail"])
    if "text" in step:
        return Text(step["text"])
    tools = tools_of(protocol, body)
    if not tools:
        return Text("Stub title")
    return _call(step, tools, body) or Text("STUB-DONE: no fitting tool")


def _call(step: Step, tools: list[Tool], body: Body) -> ToolCall | None:
    if "write" in step:
        return _write(*step["write"], tools, body)
    if "shell" in step:
        return _shell(step["shell"], tools)
    pattern, arguments = step["tool"]
    for tool in tools:
        if re.search(pattern, f"{tool.namespace}{tool.name}"):
            return ToolCall(tool, {**_filled(tool.schema, {}), **arguments})
    return None


def _write(path: str, content: str, tools: list[Tool], body: Body) -> ToolCall | None:
    folder = folder_of(body)
    for tool in tools:
        if _WRITE.fullmatch(tool.name) and not tool.is_freeform:
            known = {
                "filepath|path|absolutepath|filename|file": f"{folder}/{path}" if folder else path,
                "content|contents|filetext|text": content,
                "command": "create",
            }
            return ToolCall(tool, _filled(tool.schema, known))
    return _shell(f"printf %s {shlex.quote(content)} > {shlex.quote(path)}", tools)


def _shell(command: str, tools: list[Tool]) -> ToolCall | None:
    for tool in tools:
        if _SHELL.fullmatch(tool.name) and not tool.is_freeform:
            return ToolCall(tool, _filled(tool.schema, {"command|cmd|script": command}))
    for tool in tools:
        if tool.is_freeform and tool.name == "exec":  # codex: one tool that takes JavaScript
            call = f"await tools.exec_command({{cmd: {json.dumps(command)}}})"
            return ToolCall(tool, f"const r = {call}; text(r.output);")
    return None


def _filled(schema: Body, known: dict[str, str]) -> Body:
    """Arguments for every known or required property of a tool's JSON schema."""
    filled: Body = {}
    for name, said in (schema.get("properties") or {}).items():
        kind = _kind(said)
        key = name.lower().replace("_", "")
        value = next((known[words] for words in known if re.fullmatch(words, key)), None)
        if value is not None:
            filled[name] = ["bash", "-lc", value] if kind == "array" else value
        elif name in (schema.get("required") or []):
            empty: Body = {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
            filled[name] = said["enum"][0] if said.get("enum") else empty.get(kind, "stub")
    return filled


def _kind(said: Body) -> str:
    kinds = said.get("type") or [
        one.get("type") for one in said.get("anyOf", []) if one.get("type") != "null"
    ]
    return str(kinds if isinstance(kinds, str) else next(iter(kinds), "string")).lower()
