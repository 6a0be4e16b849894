"""What Loopwatch adds to an iteration: milliseconds, CPU, commits and bytes.

First figure: an in-process agent that does nothing and a tree that only counts, so that all of the
time is ours. The baseline is a loop by hand that keeps the same durable facts (bare.Fair) in one
transaction with SQLite's synchronous=FULL; its blocks lie between ours in the same run, and nothing
interrupts a block. `bare_minimal_ms` is a loop that writes one row and one number only. Second
figure: the command agent and real git on a repository of 50,000 files.
"""

from __future__ import annotations

import itertools
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from tests.benchmarks import bare
from tests.benchmarks.figures import say

LONG, FILES = 5000, 50_000
EVERY, BLOCK, WINDOW = 100, 26, 500


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
    """A steady loop, interrupted every EVERY iterations by some of the loops written by hand."""
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
    fair, minimal = Series(bare.Fair(data)), Series(bare.Minimal(data))

    def meanwhile(count: int) -> None:
        if count % EVERY == 0:
            fair.go_on()
            minimal.go_on()

    world = SteadyWorld(meanwhile)
    size, before = database_bytes(connection), commits[0]
    runner.advance(session.pk, world, iterations=LONG, seconds=10**6)
    grown = database_bytes(connection) - size
    ours = [
        (after[0] - before[0], after[1] - before[1])
        for before, after in zip(world.left, world.arrived[1:], strict=False)
    ]
    assert len(ours) == LONG - 1, "the loop did not go on"
    wall, cpu = [one[0] for one in ours], [one[1] for one in ours]
    base = ms(statistics.median(fair.all()))
    return {
        "ms_median": ms(statistics.median(wall)),
        "ms_mean": ms(statistics.fmean(wall)),
        "cpu_ms": ms(statistics.fmean(cpu)),
        "bare_ms": base,
        "bare_minimal_ms": ms(statistics.median(minimal.all())),
        "ratio": round(ms(statistics.median(wall)) / base, 2),
        "commits": round((commits[0] - before) / LONG, 2),
        "bytes": round(grown / LONG),
        "last_100_over_100th": growth(wall, fair),
        "cpu_last_100_over_100th": growth(cpu),
    }


class Series:
    """Blocks of one loop written by hand, spread over a run of ours so that both meet the same
    machine. The first of each block finds cold caches and is not counted."""

    def __init__(self, loop: bare.Fair | bare.Minimal) -> None:
        self.loop = loop
        self.blocks: list[list[float]] = []

    def go_on(self) -> None:
        self.blocks.append([self.loop.iterate() for _ in range(BLOCK)][1:])

    def all(self, first: int = 0, last: int | None = None) -> list[float]:
        return list(itertools.chain.from_iterable(self.blocks[first:last]))


def growth(ours: list[float], by_hand: Series | None = None) -> float:
    """Median of the last WINDOW iterations over that of WINDOW after the 100th; each in units of
    the loop by hand of the same minutes, so that a machine that slows down is no growth."""
    early, late = ours[100 : 100 + WINDOW], ours[-WINDOW:]
    change = statistics.median(late) / statistics.median(early)
    if by_hand is not None:
        blocks = WINDOW // EVERY
        begin, end = by_hand.all(1, 1 + blocks), by_hand.all(-blocks)
        change /= statistics.median(end) / statistics.median(begin)
    return round(change, 2)


def database_bytes(connection) -> int:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return cursor.fetchone()[0]


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
        files = with_git(data)
    finally:
        shutil.rmtree(data, ignore_errors=True)
    say(
        {
            "benchmark": "overhead",
            "figure": ours["ms_median"],
            "unit": "ms per iteration over the agent",
            "baseline": ours["bare_ms"],
            "ratio": ours["ratio"],
            "iterations": LONG,
            "detail": ours,
            "with_command_agent_and_git": files,
        },
        __doc__ or "",
    )


if __name__ == "__main__":
    main()
