"""The verbs of one role as tools with JSON arguments, for `loopwatch mcp`.

Nothing is told twice: names, arguments and help are read from the parsers of the commands, and a
tool's call becomes the words of the command again (mcp_server.py).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from loops.engine.values import Role
from loops.interface.grammar import Parser, Verb

REQUEST = "--tools"
"""The one word of the request that asks for them; begins like an option, so it is no verb."""
STDIN = "-"

_ABOUT_STDIN = re.compile(r"(?:[,;] (?:or )?- for|, JSON on) (?:stdin|standard input)")


def tools(verbs: Sequence[Verb], role: Role) -> dict[str, Any]:
    """{"role", "tools": [{"name", "description", "schema", "words", "arguments"}]}: what `role` is
    shown. words: what the command begins with. arguments: name -> how the command takes it: an
    option such as "--why", "" for its place in the line, "-" for JSON on standard input."""
    found: dict[str, dict[str, Any]] = {}
    for verb in verbs:
        if role in verb.roles:
            tool = _tool(verb)
            if twin := found.get(tool["name"]):  # one command that serves two purposes
                twin["description"] += " " + tool["description"]
            else:
                found[tool["name"]] = tool
    return {"role": role.value, "tools": list(found.values())}


def _tool(verb: Verb) -> dict[str, Any]:
    parser = Parser(add_help=False)
    verb.arguments(parser)
    properties: dict[str, Any] = {}
    arguments: dict[str, str] = {}
    required = []
    for action in parser._actions:
        if action.choices == (STDIN,):
            continue
        properties[action.dest] = _property(action)
        arguments[action.dest] = action.option_strings[0] if action.option_strings else ""
        if action.required:
            required.append(action.dest)
    if verb.stdin is not None:
        name = verb.words[0]
        properties[name], arguments[name] = verb.stdin(), STDIN
        required.append(name)
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {
        "name": "_".join(verb.words).replace("-", "_"),
        "description": _ABOUT_STDIN.sub("", verb.help),
        "schema": schema | ({"required": required} if required else {}),
        "words": list(verb.words),
        "arguments": arguments,
    }


def _property(action: argparse.Action) -> dict[str, Any]:
    said: dict[str, Any] = {"type": "string"}
    if action.nargs == 0:
        said = {"type": "boolean"}
    elif action.type is not None:  # the only one that verbs use reads a count
        said = {"type": "integer", "minimum": 0}
    elif isinstance(action.metavar, str) and action.metavar.islower():
        said["enum"] = [action.metavar]  # stands for itself in the usage line
    if action.help:
        said["description"] = _ABOUT_STDIN.sub("", action.help)
    return said
