"""What Loopwatch adds to an iteration: milliseconds, CPU, commits and bytes.

First figure: an in-process agent that does nothing and a tree that only counts, so that all of the
time is ours; the baseline is the least a durable loop needs in Python: one row and one update in
one transaction with SQLite's synchronous=FULL, in the same run. Second figure: the command agent
and real git on a repository of 50,000 files.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from tests.benchmarks.figures import say

SHORT, LONG, FILES = 200, 5000, 50_000


def prepare(data: Path) -> None:
    os.environ["LOOPWATCH_DATA"] = str(data)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loops.settings")
    os.environ.pop("DATABASE_URL", None)
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def new_session(name: str, repo: str, argv: list[str]):
    from loops import services
    from loops.models import Session
    from tracker import services as tracker

    me = tracker.person("benchmark")
    project = tracker.create_project(name=name, repo_path=repo, by=me, has_advisory_marks=True)
    tracker.edit_requirement(project, None, text="It works.", by=me)
    agent = {"argv": argv}
    config = {
        "agents": {"worker": agent, "reviewer": agent},
        "limits": {"iterations": 10_000, "wall_seconds": 30 * 24 * 3600},
    }
    session = services.create_session(project, by=me, config=config)
    Session.objects.filter(pk=session.pk).update(preflight={"refusals": []})
    session.refresh_from_db()
    services.start(session, me)
    return session


def in_process(data: Path) -> dict:
    """ms per iteration over the agent, measured between the claims of a steady loop."""
    from django.db import connection
    from django.db.backends.base.base import BaseDatabaseWrapper

    from loops import runner
    from tests.benchmarks.steady import SteadyWorld

    commits = [0]
    plain_commit = BaseDatabaseWrapper._commit

    def counted(self):
        commits[0] += 1
        return plain_commit(self)

    BaseDatabaseWrapper._commit = counted
    session = new_session("steady", "/nowhere", ["true"])
    world = SteadyWorld()
    size = database_bytes(connection)
    began, cpu, before = time.perf_counter(), time.process_time(), commits[0]
    runner.advance(session.pk, world, iterations=LONG, seconds=10**6)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    grown = database_bytes(connection) - size
    gaps = [b - a for a, b in zip(world.calls, world.calls[1:], strict=False)]
    assert len(gaps) >= LONG - 2, "the loop did not go on"
    return {
        "ms_median": ms(statistics.median(gaps)),
        "ms_mean": ms(took / LONG),
        "ms_first_200": ms(statistics.median(gaps[:SHORT])),
        "cpu_ms": ms(cpu / LONG),
        "commits": round((commits[0] - before) / LONG, 2),
        "bytes": round(grown / LONG),
        "last_100_over_100th": round(
            statistics.median(gaps[-200:]) / statistics.median(gaps[50:250]), 2
        ),
    }


def database_bytes(connection) -> int:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return cursor.fetchone()[0]


def bare(data: Path) -> float:
    """Median seconds of the least durable loop: one INSERT and one UPDATE per transaction."""
    link = sqlite3.connect(data / "bare.sqlite3", isolation_level=None)
    link.execute("PRAGMA journal_mode=WAL")
    link.execute("PRAGMA synchronous=FULL")
    link.execute("CREATE TABLE log (id INTEGER PRIMARY KEY, payload TEXT)")
    link.execute("CREATE TABLE session (id INTEGER PRIMARY KEY, seq INTEGER)")
    link.execute("INSERT INTO session VALUES (1, 0)")
    payload, times = "x" * 400, []
    for _ in range(2000):
        began = time.perf_counter()
        link.execute("BEGIN IMMEDIATE")
        link.execute("INSERT INTO log (payload) VALUES (?)", (payload,))
        link.execute("UPDATE session SET seq = seq + 1 WHERE id = 1")
        link.execute("COMMIT")
        times.append(time.perf_counter() - began)
    link.close()
    return statistics.median(times)


def with_git(data: Path) -> dict:
    """ms per iteration with the command agent, real git and 50,000 files, one of them changed."""
    from loops import runner, stage
    from loops.models import Iteration

    source = data / "source"
    for n in range(FILES):
        path = source / f"d{n // 500}" / f"f{n}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{n}\n")
    git = ["git", "-c", "user.name=b", "-c", "user.email=b@localhost", "-C", str(source)]
    for args in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "files"]):
        subprocess.run([*git, *args], check=True)
    # The agent's own work (a line in a file, some 3 ms) is not taken off, and the `loopwatch` call
    # counts as ours: every agent makes one.
    script = (
        'date +%s%N >> d1/f500.txt; echo "done"; loopwatch review clean >/dev/null 2>&1 || true'
    )
    session = new_session("files", str(source), ["/bin/sh", "-c", script])
    runner.advance(session.pk, stage.equip, iterations=3)
    runner.advance(session.pk, stage.equip, iterations=12, seconds=600)
    rows = list(Iteration.objects.filter(session=session, role="worker").order_by("number"))[3:]
    starts = list(
        Iteration.objects.filter(session=session, number__gt=4)
        .order_by("number")
        .values_list("started_at", flat=True)
    )
    gaps = [(b - a).total_seconds() for a, b in itertools.pairwise(starts)]
    assert rows, "no worker ran"
    return {"ms_median": ms(statistics.median(gaps)), "files": FILES, "target_ms": 250}


def ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


def main() -> None:
    data = Path(tempfile.mkdtemp(prefix="loopwatch-overhead-"))
    try:
        prepare(data)
        ours = in_process(data)
        base = ms(bare(data))
        files = with_git(data)
    finally:
        shutil.rmtree(data, ignore_errors=True)
    say(
        {
            "benchmark": "overhead",
            "figure": ours["ms_median"],
            "unit": "ms per iteration over the agent",
            "baseline": base,
            "ratio": round(ours["ms_median"] / base, 2),
            "iterations": LONG,
            "detail": ours,
            "with_command_agent_and_git": files,
        },
        __doc__ or "",
    )


if __name__ == "__main__":
    main()
