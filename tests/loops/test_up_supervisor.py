"""What the supervisor of `up` promises about its children, with small real programs."""

import signal
import time
from pathlib import Path

import pytest

from loops import supervisor
from loops.supervisor import Child, Program, Supervisor
from tests.conftest import eventually

pytestmark = pytest.mark.once


def program(script: str, **options) -> Program:
    return Program(name="child", argv=("/bin/bash", "-c", script), **options)


@pytest.fixture
def watched(tmp_path):
    said = []
    keeper = Supervisor(said.append, tmp_path / "log")
    keeper.said = said
    yield keeper
    keeper.stops_asked = 2
    keeper.stop()


def is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_what_a_dead_child_left_in_groups_of_its_own_is_killed(watched, tmp_path):
    left = tmp_path / "left"
    watched.add(
        program(f"set -m; sleep 300 & echo $! > {left}.new; mv {left}.new {left}; kill -9 $$")
    )
    eventually(left.exists, what="the grandchild")
    grandchild = int(left.read_text())
    assert is_running(grandchild)
    eventually(lambda: watched.watch_once() or watched.children[0].pid is None, what="the burial")
    assert not is_running(grandchild)
    assert "SIGKILL" in watched.said[-1]


def test_waits_double_up_to_half_a_minute_and_start_over_after_a_steady_time(tmp_path, monkeypatch):
    child = Child(program("true"), tmp_path / "log")
    child.start()
    assert [child.plan_restart() for _ in range(9)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    monkeypatch.setattr(supervisor, "STEADY", 0.0)
    assert child.plan_restart() == 0.5
    child.bury()


def test_a_child_starts_again_and_its_output_is_kept(watched, tmp_path):
    watched.add(program("echo it was me; exit 3"))
    eventually(lambda: watched.watch_once() or len(watched.said) >= 3, what="the second start")
    assert "exit code 3" in watched.said[1]
    assert "started again" in watched.said[2]
    assert "it was me" in (tmp_path / "log").read_text()


def test_a_child_that_cannot_start_now_is_tried_again_and_the_others_live(watched, tmp_path):
    other = watched.add(program("sleep 300"))
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    watched.add(Program(name="tool", argv=(str(tool),)))
    tool.unlink()
    eventually(lambda: watched.watch_once() or "does not start" in watched.said[-1], what="a try")
    assert is_running(other.pid)


def test_a_child_that_ignores_the_stop_is_killed_after_its_grace(watched):
    watched.add(program("sleep 300"))  # stands for the broker
    deaf = watched.add(program("trap '' TERM; sleep 300; sleep 300", grace=0.5)).pid
    eventually(lambda: _ignores_term(deaf), what="the trap")
    watched.on_signal()
    watched.stop()
    assert not is_running(deaf)


def test_a_second_stop_does_not_wait(watched):
    watched.add(program("sleep 300"))
    deaf = watched.add(program("trap '' TERM; sleep 300; sleep 300", grace=600)).pid
    eventually(lambda: _ignores_term(deaf), what="the trap")
    watched.on_signal()
    watched.on_signal()
    before = time.monotonic()
    watched.stop()
    assert time.monotonic() - before < 60
    assert not is_running(deaf)


def test_the_log_is_cut_and_one_older_file_kept(tmp_path):
    log = tmp_path / "loopwatch.log"
    with log.open("a") as writer:
        writer.write("old line\n")
        writer.flush()
        supervisor.cut_log(log, limit=5)
        writer.write("new\n")
    assert log.read_text() == "new\n"
    assert (tmp_path / "loopwatch.old.log").read_text() == "old line\n"


def _ignores_term(pid: int) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    ignored = next(line for line in lines if line.startswith("SigIgn:"))
    return bool(int(ignored.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
