"""What the tests of the agent layer share: calls, a recording control, locks that prove life."""

import fcntl
import functools
import os
import sys
import textwrap
import time
import uuid
from pathlib import Path

import pytest

from loops.agents.base import Call, Places
from loops.agents.command import CommandAgent
from loops.agents.confine import Confinement, probe_bubblewrap
from loops.engine.values import Role

both_modes = pytest.mark.parametrize("mode", list(Confinement))
PYTHON = (sys.executable, "-I", "-S")

# Takes the lock for as long as the process lives, then says so in a file.
HOLD_LOCK = """
import fcntl, os, time
lock = open("lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
open("locked", "w").close()
"""

# A grandchild that escapes every kill by group, session, parent or environment: forked twice, in
# its own session, with an empty environment; it keeps the lock and the output pipe open.
DAEMON = f"""
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", '''{HOLD_LOCK}
time.sleep(600)'''], {{}})
    os._exit(0)
os.wait()
while not os.path.exists("locked"):
    time.sleep(0.01)
"""


probe = functools.cache(probe_bubblewrap)


def require(mode):
    """Skip where bubblewrap does not work; in CI that is a failure."""
    if mode == Confinement.BUBBLEWRAP and (why := probe()):
        if "bwrap" in os.environ.get("LOOPWATCH_REQUIRE", ""):
            pytest.fail(f"bubblewrap is required but does not work: {why}")
        pytest.skip(f"bubblewrap does not work here: {why}")


def python(code, *arguments):
    return (*PYTHON, "-c", textwrap.dedent(code), *arguments)


def agent(mode, code, *arguments, **options):
    require(mode)
    return CommandAgent(argv=python(code, *arguments), mode=mode, **options)


def make_call(folder, **changes):
    data = Path(folder) / "data"
    places = {name: data / "session" / name for name in ("clone", "home", "tmp", "socket")}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    values = {
        "session": 3,
        "iteration": 7,
        "role": Role.WORKER,
        "prompt": "Do it.",
        "places": Places(
            clone=places["clone"],
            workdir=places["clone"],
            home=places["home"],
            tmp=places["tmp"],
            socket_dir=places["socket"],
            hidden=(data,),
        ),
        "socket": places["socket"] / "s",
        "token": "token-of-this-iteration",
        "mark": uuid.uuid4().hex,
        "wall_seconds": 60,
        "silence_seconds": 60,
    }
    return Call(**{**values, **changes})


class Recorder:
    """A runner's control: keeps everything; stops when told."""

    def __init__(self, stop=lambda: False):
        self.processes = []
        self.data = b""
        self.must_stop = stop

    def started(self, process):
        self.processes.append(process)

    def output(self, data):
        self.data += data

    @property
    def text(self):
        return self.data.decode()


def wait_until(claim, seconds=20):
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def is_locked(call):
    """Whether a process that ran HOLD_LOCK in this call's clone lives."""
    path = call.places.clone / "lock"
    if not path.exists():
        return False
    with path.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def has_locked(call):
    return (call.places.clone / "locked").exists()
