"""Seconds from `loopwatch up` on a new data folder to its ready line, and memory when idle.

Baseline: a Python process that only loads Django with our settings, in the same run.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.figures import say
from tests.conftest import TOP, plain_environment
from tests.loops.upping import Up

RUNS = 3


def pss_mb(pid: int) -> float:
    """Memory of one process in MB, shared pages divided among their users."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def one_start(base: Path) -> dict:
    began = time.monotonic()
    with Up(base / f"data-{began}") as up:
        up.wait_ready()
        ready = time.monotonic() - began
        time.sleep(3)
        memory = sum(pss_mb(pid) for pid in up.alive())
        began = time.monotonic()
        up.process.send_signal(signal.SIGINT)
        up.process.wait(60)
        stop = time.monotonic() - began
    return {"ready": ready, "pss_mb": memory, "stop": stop}


def bare() -> float:
    code = (
        "import os, django; os.environ['DJANGO_SETTINGS_MODULE']='loops.settings'; django.setup()"
    )
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=TOP,
        env=plain_environment(DJANGO_SETTINGS_MODULE="loops.settings"),
        check=True,
    )
    return time.monotonic() - began


def main() -> None:
    base = Path(tempfile.mkdtemp(prefix="loopwatch-startup-"))
    try:
        starts = [one_start(base) for _ in range(RUNS)]
        baseline = min(bare() for _ in range(RUNS))
    finally:
        shutil.rmtree(base, ignore_errors=True)
    best = min(starts, key=lambda start: start["ready"])
    say(
        {
            "benchmark": "startup",
            "figure": round(best["ready"], 2),
            "unit": "s to ready, best of 3",
            "baseline": round(baseline, 2),
            "ratio": round(best["ready"] / baseline, 2),
            "pss_idle_mb": round(best["pss_mb"]),
            "stop_s": round(best["stop"], 2),
        },
        __doc__ or "",
    )


if __name__ == "__main__":
    main()
