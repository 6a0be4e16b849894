"""`loopwatch mcp`: the verbs of the agents' interface as tools, over standard input and output.

Started by a coding CLI, inside the sandbox: it must not import Django, so it is run as a file and
takes the client from the file beside it. It knows no verb: which there are, the running iteration
says, and a call goes to its socket as the words of the command, so that both do the same.

The iteration is named by LOOPWATCH_SOCKET and LOOPWATCH_TOKEN, or, for CLIs that give their tools
another environment, by --socket PATH and --token-file PATH.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

MOST_OUTPUT = 60_000
"""Characters of one result: some CLIs refuse a longer one whole."""
GONE_SECONDS = 3.0
"""How long the socket may be missing before the iteration counts as over."""
LOOK_SECONDS = 0.25

TOOLS_REQUEST = "--tools"
OVER = (
    "The iteration is over or its supervisor is gone: nobody answers at its socket. "
    "It is not known whether the request was carried out."
)
BROKEN = "This failed inside Loopwatch, not through your fault; go on without it."
CUT = "\n[cut after {most} characters: ask for less]"


def _load_client() -> Any:
    """`loops.interface.client` without its package, which would bring Django."""
    path = Path(__file__).with_name("client.py")
    spec = importlib.util.spec_from_file_location("loopwatch_client", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


client = _load_client()


class Refused(Exception):
    """The sentence for the agent."""


@dataclass(slots=True)
class Desk:
    """The running iteration, as one MCP server sees it."""

    socket: str
    token: str
    role: str = ""
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    over: anyio.Event = field(default_factory=anyio.Event)
    calls: int = 0

    async def ask(self, words: list[str], stdin: str = "") -> str:
        """What the command prints. Raises Refused with what it refused, or when nobody answers."""
        body = client.pack([self.token, os.urandom(16).hex(), stdin, *words])
        answer = None
        self.calls += 1
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._give_up, group.cancel_scope)
                answer = await anyio.to_thread.run_sync(
                    partial(client.ask, self.socket, body, client.PATIENCE), abandon_on_cancel=True
                )
                group.cancel_scope.cancel()
        finally:
            self.calls -= 1
        if answer is None:
            raise Refused(OVER)
        code, out, err = answer
        if code:
            raise Refused(err.strip())
        return str(out)

    async def _give_up(self, scope: anyio.CancelScope) -> None:
        await self.over.wait()
        scope.cancel()

    async def known(self) -> dict[str, dict[str, Any]]:
        """The role's tools by name; asked once, for they are the same all through an iteration."""
        if not self.tools:
            said = json.loads(await self.ask([TOOLS_REQUEST]))
            self.role = said["role"]
            self.tools = {tool["name"]: tool for tool in said["tools"]}
        return self.tools

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        tool = (await self.known()).get(name)
        if tool is None:
            names = ", ".join(self.tools)
            raise Refused(f"There is no tool `{name[:60]}` for the {self.role}; yours: {names}.")
        words, stdin = command(tool, arguments)
        return await self.ask(words, stdin)

    async def watch(self) -> None:
        """Until the socket is gone for GONE_SECONDS; another one in its place is another
        iteration's. Then calls still waiting get their sentence."""
        first, missed = self._identity(), 0.0
        while missed < GONE_SECONDS:
            await anyio.sleep(LOOK_SECONDS)
            now = self._identity()
            first = first or now
            missed = 0.0 if now and now == first else missed + LOOK_SECONDS
        self.over.set()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.socket)
        except OSError:
            return None
        return found.st_dev, found.st_ino


def command(tool: dict[str, Any], arguments: Mapping[str, Any]) -> tuple[list[str], str]:
    """The words of the command and its standard input. Raises Refused for what fits no argument.

    null and false count as left out: models fill in every field that a schema names."""
    name, schema = tool["name"], tool["schema"]
    known = schema["properties"]
    if unknown := [each for each in arguments if each not in known]:
        has = f"it has: {', '.join(known)}" if known else "it has none"
        raise Refused(f"`{name}` has no argument `{unknown[0][:60]}`; {has}.")
    given = {
        each: value for each, value in arguments.items() if value is not None and value is not False
    }
    if missing := [each for each in schema.get("required", ()) if each not in given]:
        raise Refused(f"`{name}` needs `{'`, `'.join(missing)}`.")
    options, places, stdin = [], [], ""
    for each in known:
        if each not in given:
            continue
        how, value = tool["arguments"][each], given[each]
        if how == "-":
            places.append("-")
            stdin = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            continue
        text = _text(each, value, known[each]["type"])
        if not how:
            places.append(text)
        elif known[each]["type"] == "boolean":
            options.append(how)
        else:
            options.append(f"{how}={text}")
    # A text that begins with a dash is no option behind the two dashes.
    return [*tool["words"], *options, *(["--", *places] if places else [])], stdin


_NAMES = {"string": (str, "text"), "integer": (int, "a number"), "boolean": (bool, "true or false")}


def _text(name: str, value: Any, wanted: str) -> str:
    kind, called = _NAMES[wanted]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Refused(f"`{name}` must be {called}.")
    return str(value)


def server(desk: Desk) -> Server[Any]:
    async def on_list_tools(context: Any, params: Any) -> types.ListToolsResult:
        try:
            known = await desk.known()
        except Refused as refused:
            raise MCPError(code=types.INTERNAL_ERROR, message=str(refused)) from None
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool["name"], description=tool["description"], input_schema=tool["schema"]
                )
                for tool in known.values()
            ]
        )

    async def on_call_tool(
        context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            return _result(await desk.call(params.name, params.arguments or {}), is_error=False)
        except Refused as refused:
            return _result(str(refused), is_error=True)
        except Exception:
            return _result(BROKEN, is_error=True)

    return Server("loopwatch", on_list_tools=on_list_tools, on_call_tool=on_call_tool)


def _result(text: str, *, is_error: bool) -> types.CallToolResult:
    if len(text) > MOST_OUTPUT:
        text = text[:MOST_OUTPUT] + CUT.format(most=MOST_OUTPUT)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=is_error
    )


async def serve(desk: Desk) -> None:
    """Until standard input ends or the iteration is over."""
    made = server(desk)
    async with anyio.create_task_group() as group:
        group.start_soon(_leave_when_over, desk)
        async with stdio_server() as (incoming, outgoing):
            await made.run(incoming, outgoing, made.create_initialization_options())
        group.cancel_scope.cancel()


async def _leave_when_over(desk: Desk) -> None:
    await desk.watch()
    await anyio.sleep(1)  # for the last sentences, and for a call that comes just now
    while desk.calls:
        await anyio.sleep(LOOK_SECONDS)
    os._exit(0)  # the reader of standard input cannot be called back


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(prog="loopwatch mcp", description=__doc__)
    parser.add_argument("--socket", default=environ.get("LOOPWATCH_SOCKET", ""))
    parser.add_argument("--token-file", default="")
    options = parser.parse_args(argv)
    token = environ.get("LOOPWATCH_TOKEN", "")
    if options.token_file:
        with suppress(OSError, UnicodeDecodeError):
            token = Path(options.token_file).read_text(encoding="utf-8").strip()
    if not options.socket or not token:
        print(client.OUTSIDE, file=sys.stderr)
        return 2
    logging.disable()  # what goes wrong is said in the answers; a CLI may show the error output

    async def run() -> None:
        await serve(Desk(options.socket, token))

    anyio.run(run)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:], os.environ)
    sys.stdout.flush()
    os._exit(code)  # a request that nobody waits for any more may still hang in its thread
