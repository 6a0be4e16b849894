"""Serves until interrupted: python -m tests.stub_llm --port 8399"""

import argparse
import contextlib
import threading

from tests.stub_llm.server import StubServer

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--port", type=int, default=8399)
parser.add_argument("--default", default="ok", help="scenario where the address names none")
options = parser.parse_args()
with (
    StubServer(options.port, options.default) as server,
    contextlib.suppress(KeyboardInterrupt),
):
    print(f"stub LLM on http://127.0.0.1:{server.server_port}", flush=True)
    threading.Event().wait()
