"""Two hosts on one PostgreSQL and one broker: one is killed in the middle of an iteration, and the
session goes on on the other after a person's word, from the store that both reach."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psycopg
import pytest

from loops.agents import scripted
from tests.conftest import TOP, Broker, eventually
from tests.loops.postgres_kit import empty_database
from tests.loops.upping import Installation, Up
from tests.loops.workspace_kit import git

pytestmark = pytest.mark.slow
LEASE = 3


class Host(Installation):
    """One host's installation; `rows` asks the database that all share."""

    def __init__(self, base, name, database, **settings):
        base.mkdir()
        self.name, self.database = name, database
        super().__init__(base, LOOPWATCH_HOST=name, DATABASE_URL=database, **settings)

    def rows(self, sql):
        with psycopg.connect(self.database) as link:
            return link.execute(sql).fetchall()

    def kill_everything(self):
        """As a power cut: `up`, its children and their agents at once."""
        for pid in [self.up.process.pid, *self.up.alive()]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.up.process.wait(30)
        self.up.wait_gone()

    def start_again(self):
        self.up = Up(self.data, env=self.env)
        self.up.wait_ready()


@pytest.fixture
def shared(tmp_path):
    """Settings that all hosts have in common."""
    (tmp_path / "stores").mkdir()
    (tmp_path / "broker").mkdir()
    with empty_database() as url, Broker(tmp_path / "broker") as broker:
        yield {
            "database": url,
            "REDIS_URL": broker.url,
            "LOOPWATCH_STORE_URL": str(tmp_path / "stores"),
            "LOOPWATCH_LEASE_SECONDS": str(LEASE),
            "LOOPWATCH_CONFINEMENT": "shim",  # agents of both hosts see one lock file
        }


WORKER = """
import fcntl, os, pathlib, subprocess, sys, time
lock = sys.argv[1]
handle = os.open(lock, os.O_RDWR | os.O_CREAT)
try:
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    pathlib.Path(lock + ".two-at-once").touch()
pathlib.Path("plate.txt").write_text(str(time.time_ns()))
subprocess.run("git add -A && git commit -qm plate", shell=True, check=True)
pathlib.Path("loose.txt").write_text(str(time.time_ns()))
time.sleep(0.5)
"""


def begin(host, lock):
    """A loop whose worker changes something in every turn, on whatever host, and ends never."""
    host.add_project()
    reviewer = scripted.argv("reviewer", "--pause", "0.5", "--lock", str(lock))
    agents = {
        "worker": {"argv": [sys.executable, "-I", "-c", WORKER, str(lock)]},
        "reviewer": {"argv": reviewer},
    }
    return host.start_session({"agents": agents, "limits": {"iterations": 400}})


def iterations(host):
    return host.rows(
        "SELECT number, outcome, ended_at IS NULL, rev, before FROM loops_iteration ORDER BY number"
    )


def in_flight(host):
    rows = iterations(host)
    return rows[-1][0] if rows and rows[-1][2] else 0


def test_a_killed_hosts_session_goes_on_elsewhere_and_loses_one_step(tmp_path, shared):
    lock = tmp_path / "lock"
    b = Host(tmp_path / "b", "b", **shared)
    with b.up:
        b.up.wait_ready()
        session = begin(b, lock)
        a = Host(tmp_path / "a", "a", **shared)
        with a.up:
            a.up.wait_ready()
            eventually(lambda: in_flight(a) >= 4, within=60, what="a fourth iteration on b")
            before = a.command("session", "show", str(session), "--json")
            assert (before["host"], before["host_lost"]) == ("b", "")
            refused(a, session, "The host b lives")
            (tmp_path / "b" / "repo").rename(tmp_path / "b" / "gone")  # nobody has the source now

            eventually(lambda: in_flight(a), within=30, what="a step in flight")
            b.kill_everything()
            cut = iterations(a)[-1]
            assert cut[2], "no step was in flight"

            eventually(lambda: is_lost(a, "b"), within=60, what="b's silence")
            said = a.command("session", "show", str(session), "--json")["host_lost"]
            assert "Host b was last seen" in said
            assert f"can go on on host a from its snapshot of iteration {cut[0] - 1}" in said
            assert a.rows("SELECT state FROM loops_session") == [("running",)]
            time.sleep(LEASE)
            assert in_flight(a) == cut[0], "somebody touched a session that nobody moved"

            moved = a.command("session", "move", str(session), "--to", "a", "--json")
            assert moved["host"] == "a"
            eventually(lambda: in_flight(a) > cut[0] + 2, within=90, what="three steps on a")
            rows = iterations(a)
            assert rows[cut[0] - 1][1] == "INTERRUPTED"
            assert [row[1] for row in rows].count("INTERRUPTED") == 1
            # The step is repeated on exactly the tree that the last recorded one left.
            assert rows[cut[0]][4]["rev"] == rows[cut[0] - 2][3]
            assert (tmp_path / "a" / "data" / "sessions" / str(session) / "clone").is_dir()

            then = fingerprint(b, session)
            b.start_again()
            with b.up:
                since = in_flight(a) or iterations(a)[-1][0]
                eventually(lambda: iterations(a)[-1][0] > since + 3, within=90, what="more steps")
                assert fingerprint(b, session) == then, "b touched a session that is not its own"
                check(a, lock)
                assert a.rows("SELECT host, host_moves FROM loops_session") == [("a", 1)]
                assert a.rows("SELECT name FROM loops_host ORDER BY name") == [("a",), ("b",)]
            a.command("session", "stop", str(session))
            eventually(
                lambda: a.rows("SELECT state FROM loops_session") == [("ended",)],
                within=30,
                what="the end",
            )
            check(a, lock)
            head = a.rows("SELECT head FROM loops_iteration ORDER BY number DESC LIMIT 1")[0][0]
            store = tmp_path / "stores" / "1.git"
            assert git(store, "rev-parse", f"refs/heads/loopwatch/S-{session}") == head


def is_lost(host, name):
    """As every host sees it: silent for the lease and five seconds."""
    silent = f"clock_timestamp() - seen_at > interval '{LEASE + 5} seconds'"
    return host.rows(f"SELECT {silent} FROM loops_host WHERE name = '{name}'") == [(True,)]


def refused(host, session, why, to="a"):
    words = [sys.executable, str(TOP / "manage.py"), "session", "move", str(session), "--to", to]
    ran = subprocess.run(words, env=host.env, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert why in ran.stderr


def fingerprint(host, session):
    """Times of everything in the session's folder on that host."""
    folder = host.data / "sessions" / str(session)
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def check(host, lock):
    assert not lock.with_name("lock.two-at-once").exists(), "two agents at one step"
    rows = iterations(host)
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    assert sum(row[2] for row in rows) <= 1
    entries = host.rows("SELECT seq, kind, payload FROM loops_logentry ORDER BY seq")
    assert [seq for seq, _, _ in entries] == list(range(1, len(entries) + 1))
    recorded = [p["evidence"]["number"] for _, kind, p in entries if kind == "recorded"]
    assert len(recorded) == len(set(recorded))
    assert recorded == [number for number, _, is_open, _, _ in rows if not is_open][: len(recorded)]
