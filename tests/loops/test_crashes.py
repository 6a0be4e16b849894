"""Real processes, really killed: nothing is lost but the step that was hit, and no step is ever
worked on by two agents (DESIGN 3). The agents themselves check that by a lock file."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from loops.agents import scripted
from tests.conftest import eventually, require
from tests.loops.upping import Installation, Up

pytestmark = pytest.mark.once
LEASE = 3
LOCK = ".git/one-agent"  # not *.lock: the engine clears those away as a dead git's
SLACK = 10  # seconds that a loaded machine may take for starting processes
POINTS = (
    "taken", "opened", "before boundary", "in boundary", "after boundary", "claimed",
    "agent started", "ran", "released",
)  # fmt: skip


def single_thread(agent):
    return {"agents": {"worker": agent("gold-plater"), "reviewer": agent("reviewer")}}


def maker_verifier(agent):
    return {
        "pattern": "maker_verifier",
        "agents": {"maker": agent("gold-plater")},
        "verifiers": [{"name": "judge", "agent": agent("never-satisfied")}],
        "attempts": 400,
    }


def thinker_worker_verifier(agent):
    """Every attempt is a new plan's first one, so it starts from the base: trees are put back."""
    return {
        "pattern": "thinker_worker_verifier",
        "agents": {"thinker": agent("planner")},
        "pool": [{"name": name, "agent": agent("gold-plater")} for name in ("coder", "writer")],
        "verifiers": [{"name": "judge", "agent": agent("never-satisfied", "--action", "REPLAN")}],
        "replans": 400,
    }


PATTERNS = {
    each.__name__: each for each in (single_thread, maker_verifier, thinker_worker_verifier)
}


def cases(*quick):
    """Every pattern in both modes; those that are not named here run with the slow ones."""
    return pytest.mark.parametrize(
        "site",
        [
            pytest.param(
                (mode, pattern),
                id=f"{mode}-{pattern}",
                marks=() if (mode, pattern) in quick else pytest.mark.slow,
            )
            for mode in ("bubblewrap", "shim")
            for pattern in PATTERNS
        ],
        indirect=True,
    )


class Site(Installation):
    """A project, a running `up` and one session that goes on for long."""

    def __init__(self, base, mode, pattern):
        self.pattern = pattern
        self.crashes = base / "crashes"
        self.crashes.mkdir()
        super().__init__(
            base,
            LOOPWATCH_LEASE_SECONDS=str(LEASE),
            LOOPWATCH_CONFINEMENT=mode,
            LOOPWATCH_CRASH_FOLDER=str(self.crashes),
        )

    def begin(self):
        self.add_project()
        config = PATTERNS[self.pattern](self._agent)
        return self.start_session({**config, "limits": {"iterations": 400, "no_progress": 400}})

    def _agent(self, name, *options):
        # In the clone: the one place that all agents of a session share, sandboxed or not.
        pause = ("--pause", "0.3", "--lock", LOCK)
        return {"argv": scripted.argv(name, *pause, *options)}

    def claimed(self):
        return self.rows("SELECT COALESCE(MAX(number), 0) FROM loops_iteration")[0][0]

    def wait_for_next_step(self, since, within=60):
        """Seconds until an iteration after `since` was claimed."""
        began = time.monotonic()
        eventually(lambda: self.claimed() > since, within=within, what=f"a step after {since}")
        return time.monotonic() - began

    def running_pid(self):
        """The agent's process on record, once a step is in flight."""

        def look():
            found = self.rows("SELECT process FROM loops_session")[0][0]
            return found and json.loads(found)

        return eventually(look, within=60, what="an agent on record")

    def check(self):
        clone = self.data / "sessions" / "1" / "clone"
        assert (clone / LOCK).exists(), "no agent took the lock"
        assert not (clone / f"{LOCK}.two-at-once").exists(), "two agents at one step"
        rows = self.rows("SELECT number, outcome, ended_at FROM loops_iteration ORDER BY number")
        assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
        assert all(outcome for _, outcome, ended in rows if ended)
        assert sum(ended is None for _, _, ended in rows) <= 1
        entries = self.rows("SELECT seq, kind, payload FROM loops_logentry ORDER BY seq")
        assert [row[0] for row in entries] == list(range(1, len(entries) + 1))
        recorded = [json.loads(p)["evidence"]["number"] for _, k, p in entries if k == "recorded"]
        assert recorded == [number for number, _, ended in rows if ended]
        return [outcome for _, outcome, _ in rows]


@pytest.fixture
def site(request, tmp_path):
    mode, pattern = request.param
    if mode == "bubblewrap":
        require("bwrap")
    site = Site(tmp_path, mode, pattern)
    with site.up:
        site.up.wait_ready()
        yield site


@cases(
    ("bubblewrap", "single_thread"),
    ("shim", "single_thread"),
    ("shim", "maker_verifier"),
    ("bubblewrap", "thinker_worker_verifier"),
)
def test_a_kill_at_every_point_between_claim_and_enqueue_costs_one_step(site):
    site.begin()
    site.wait_for_next_step(0)
    took = {}
    for name in POINTS:
        flag = site.crashes / name
        flag.touch()
        eventually(lambda flag=flag: not flag.exists(), within=90, what=f"the kill at {name}")
        took[name] = site.wait_for_next_step(site.claimed())
        site.wait_for_next_step(site.claimed() + 1)  # a success: three losses in a row would ask
    outcomes = site.check()
    assert outcomes.count("INTERRUPTED") <= len(POINTS)
    assert max(took.values()) < LEASE + 2 + SLACK, took


@cases(
    ("bubblewrap", "single_thread"),
    ("shim", "single_thread"),
    ("bubblewrap", "thinker_worker_verifier"),
)
def test_any_process_may_be_killed_in_the_middle_of_an_iteration(site):
    session = site.begin()
    for part in ("worker", "pool", "web", "broker", "clock", "agent", "up"):
        running = site.running_pid()
        since = site.claimed()
        kill(site, part, running)
        site.wait_for_next_step(since + 1)
        site.check()
    site.command("session", "stop", str(session))
    eventually(
        lambda: site.rows("SELECT state FROM loops_session")[0][0] == "ended",
        within=60,
        what="the end",
    )
    os.kill(site.up.process.pid, signal.SIGINT)
    site.up.process.wait(60)
    site.up.wait_gone()


def kill(site, part, running):
    if part == "up":
        os.kill(site.up.process.pid, signal.SIGKILL)
        site.up.process.wait(30)
        site.up.wait_gone()
        site.up = Up(site.data, env=site.env)
        site.up.wait_ready()
        return
    if part == "agent":
        pid = running["pid"]
    elif part == "pool":
        worker = site.up.pid("worker")
        pid = next(iter(site.up.members(worker) - {running["pid"]}), worker)
    else:
        pid = site.up.pid(part)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        assert part == "agent"  # it had just ended by itself
