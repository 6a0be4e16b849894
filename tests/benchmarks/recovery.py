"""Seconds from a kill -9 of the worker in the middle of an iteration to the next step, with the
15 s lease; and how many steps were worked on twice at once (must be none).

Baseline: the lease, which is what a worker that only went silent costs.
"""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import tempfile
from pathlib import Path

from tests.benchmarks.figures import say
from tests.loops import test_crashes as crashes

KILLS = 5
LEASE = 15


def main() -> None:
    base = Path(tempfile.mkdtemp(prefix="loopwatch-recovery-"))
    crashes.LEASE = LEASE
    site = crashes.Site(base, "")
    try:
        with site.up:
            site.up.wait_ready()
            site.begin()
            took = []
            for _ in range(KILLS):
                site.running_pid()
                since = site.claimed()
                os.kill(site.up.pid("worker"), signal.SIGKILL)
                took.append(site.wait_for_next_step(since))
                site.wait_for_next_step(site.claimed() + 1)
            site.check()
            doubled = int(site.lock.with_name("lock.two-at-once").exists())
    finally:
        shutil.rmtree(base, ignore_errors=True)
    figure = statistics.median(took)
    say(
        {
            "benchmark": "recovery",
            "figure": round(figure, 2),
            "unit": "s from kill -9 to the next step, median of 5",
            "baseline": LEASE,
            "ratio": round(figure / LEASE, 2),
            "longest": round(max(took), 2),
            "doubled": doubled,
        },
        __doc__ or "",
    )


if __name__ == "__main__":
    main()
