"""A worker process for the tests that kill it: runs one call of an agent that never ends.

python -m tests.loops.agent_programs.worker MODE FOLDER MARK [die-at-start]
"""

import json
import os
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path

from loops.agents.confine import Confinement
from tests.loops.agent_programs.kit import DAEMON, Recorder, agent, has_locked, make_call


class Worker(Recorder):
    def started(self, process):
        (Path(sys.argv[2]) / "identity").write_text(json.dumps(asdict(process)))
        if "die-at-start" in sys.argv:
            # Time enough for an agent that does not wait for the record of its identity.
            deadline = time.monotonic() + 1
            while time.monotonic() < deadline and not has_locked(call):
                time.sleep(0.02)
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    call = make_call(sys.argv[2], mark=sys.argv[3])
    never_ends = agent(Confinement(sys.argv[1]), DAEMON + "time.sleep(600)")
    never_ends.run(call, Worker())
