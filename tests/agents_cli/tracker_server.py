"""A tracker's MCP server in thirty lines (stdio, newline-delimited JSON-RPC), with one tool.

Appends each call to the file argv[1], with what it found in its environment.
"""

import json
import os
import sys
from pathlib import Path

TOOL = {
    "name": "tracker_note",
    "description": "Record a note in the tracker.",
    "inputSchema": {
        "type": "object",
        "properties": {"note": {"type": "string"}},
        "required": ["note"],
    },
}


def answer(method, params):
    if method == "initialize":
        about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "tracker", "version": "0"}}
        return {"protocolVersion": params.get("protocolVersion"), **about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        names = ("LOOPWATCH_SOCKET", "LOOPWATCH_TOKEN", "RUN_MARK")
        found = {name: os.environ.get(name) for name in names}
        with Path(sys.argv[1]).open("a") as log:
            log.write(json.dumps({"arguments": params.get("arguments"), "env": found}) + "\n")
        return {"content": [{"type": "text", "text": "noted"}], "isError": False}
    return {} if method == "ping" else None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = answer(asked.get("method"), asked.get("params") or {})
    said = {"result": result} if result is not None else {"error": {"code": -32601, "message": "?"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
