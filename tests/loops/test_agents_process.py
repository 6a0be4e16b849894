"""An agent's process tree obeys its limits and never outlives its right to run."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import replace

import pytest

from loops.agents.base import ProcessIdentity
from loops.agents.confine import Confinement
from loops.agents.tree import identify, kill_tree
from loops.engine.values import Fault
from tests.loops.agent_programs.kit import (
    DAEMON,
    HOLD_LOCK,
    PYTHON,
    Recorder,
    agent,
    both_modes,
    has_locked,
    is_locked,
    make_call,
    require,
    wait_until,
)

GONE_WITHIN = 5


@both_modes
def test_O7_the_whole_tree_is_gone_within_5_s_of_the_wall_clock_limit(mode, tmp_path):
    call = make_call(tmp_path, wall_seconds=1.5)
    begun = time.monotonic()
    reply = agent(mode, DAEMON + "time.sleep(600)").run(call, Recorder())
    assert time.monotonic() - begun < 1.5 + GONE_WITHIN
    assert has_locked(call)
    assert not is_locked(call)
    assert reply.fault is Fault.WALL_CLOCK
    assert reply.exit_code is None
    assert "longer than 1.5 s" in reply.detail


@both_modes
def test_O7_the_end_of_the_main_process_ends_the_iteration_and_names_what_it_left(mode, tmp_path):
    call = make_call(tmp_path)
    begun = time.monotonic()
    reply = agent(mode, DAEMON + "print('bye')").run(call, control := Recorder())
    assert time.monotonic() - begun < 10
    assert not is_locked(call)
    assert reply.fault is None
    assert reply.exit_code == 0
    assert len(reply.survivors) == 1
    assert "fcntl.LOCK_EX" in reply.survivors[0]
    assert control.text == "bye\n"


@both_modes
def test_a_tree_without_children_leaves_no_survivors_and_no_open_files(mode, tmp_path):
    quick = agent(mode, "print('hello')")
    quick.run(make_call(tmp_path), Recorder())
    before = len(os.listdir("/proc/self/fd"))
    reply = quick.run(make_call(tmp_path), control := Recorder())
    assert (reply.fault, reply.exit_code, reply.survivors) == (None, 0, ())
    assert control.text == "hello\n"
    assert len(control.processes) == 1
    assert len(os.listdir("/proc/self/fd")) == before


@both_modes
def test_O16_silence_beyond_the_limit_ends_the_call(mode, tmp_path):
    chatty_then_quiet = """
        import time
        for _ in range(8):
            print(".", flush=True)
            time.sleep(0.2)
        time.sleep(600)
    """
    call = make_call(tmp_path, silence_seconds=1.2)
    reply = agent(mode, chatty_then_quiet).run(call, control := Recorder())
    assert reply.fault is Fault.SILENCE
    assert control.text == ".\n" * 8
    assert "printed nothing for 1.2 s" in reply.detail


@both_modes
def test_a_lost_right_to_run_ends_the_tree(mode, tmp_path):
    call = make_call(tmp_path)
    control = Recorder(stop=lambda: has_locked(call))
    reply = agent(mode, DAEMON + "time.sleep(600)").run(call, control)
    assert reply.fault is Fault.WORKER_LOST
    assert not is_locked(call)


class Full(Recorder):
    """A store without room for the first `refusals` times."""

    def __init__(self, refusals, **options):
        super().__init__(**options)
        self.refusals = refusals

    def output(self, data):
        self.refusals -= 1
        if self.refusals >= 0:
            return False
        self.data += data
        return True


@both_modes
def test_a_full_store_makes_the_agent_wait_and_loses_no_byte_and_is_no_silence(mode, tmp_path):
    flood = "import sys; sys.stdout.write('x' * 300_000 + 'end')"
    call = make_call(tmp_path, silence_seconds=0.8)
    reply = agent(mode, flood).run(call, control := Full(refusals=60))
    assert reply.fault is None
    assert control.data == b"x" * 300_000 + b"end"


@both_modes
def test_a_store_that_never_has_room_holds_up_no_stop(mode, tmp_path):
    control = Full(refusals=10**9)
    control.must_stop = lambda: control.refusals < 10**9 - 5
    subject = agent(mode, "import time; print('x', flush=True); time.sleep(600)")
    assert subject.run(make_call(tmp_path), control).fault is Fault.WORKER_LOST


@both_modes
def test_endless_output_neither_hides_the_limit_nor_grows_memory(mode, tmp_path):
    class Counter(Recorder):
        count = largest = 0

        def output(self, data):
            self.count += len(data)
            self.largest = max(self.largest, len(data))

    call = make_call(tmp_path, wall_seconds=1)
    begun = time.monotonic()
    reply = agent(mode, "import os\nwhile True: os.write(1, b'y' * 65536)").run(
        call, control := Counter()
    )
    assert reply.fault is Fault.WALL_CLOCK
    assert time.monotonic() - begun < 1 + GONE_WITHIN
    assert control.count > 1_000_000
    assert control.largest <= 64 * 1024


@both_modes
def test_a_callback_that_raises_leaves_no_process(mode, tmp_path):
    class Broken(Recorder):
        def output(self, data):
            raise RuntimeError("broken")

    call = make_call(tmp_path)
    with pytest.raises(RuntimeError, match="broken"):
        agent(mode, DAEMON + "print('x', flush=True); time.sleep(600)").run(call, Broken())
    assert not is_locked(call)


# --- death of the worker -------------------------------------------------------------------------


def start_worker(mode, folder, *extra):
    require(mode)
    mark = uuid.uuid4().hex
    command = [sys.executable, "-m", "tests.loops.agent_programs.worker", mode, folder, mark]
    return subprocess.Popen([*map(str, command), *extra]), make_call(folder, mark=mark)


def identity_in(folder):
    return ProcessIdentity(**json.loads((folder / "identity").read_text()))


@both_modes
def test_kill_9_of_the_worker_ends_the_tree(mode, tmp_path):
    worker, call = start_worker(mode, tmp_path)
    wait_until(lambda: has_locked(call))
    worker.kill()
    worker.wait()
    wait_until(lambda: not is_locked(call), GONE_WITHIN)
    assert kill_tree(identity_in(tmp_path))


@both_modes
def test_a_worker_that_dies_before_the_start_is_recorded_has_started_no_agent(mode, tmp_path):
    worker, call = start_worker(mode, tmp_path, "die-at-start")
    assert worker.wait() == -signal.SIGKILL
    identity = identity_in(tmp_path)
    wait_until(lambda: identify(identity.pid, "").start_ticks != identity.start_ticks)
    assert not has_locked(call)
    assert not is_locked(call)


@both_modes
def test_a_successor_kills_the_tree_of_a_worker_that_hangs(mode, tmp_path):
    worker, call = start_worker(mode, tmp_path)
    try:
        wait_until(lambda: has_locked(call))
        os.kill(worker.pid, signal.SIGSTOP)
        assert is_locked(call)
        assert kill_tree(identity_in(tmp_path))
        assert not is_locked(call)
        assert kill_tree(identity_in(tmp_path)), "gone is gone"
    finally:
        worker.kill()
        worker.wait()


def test_without_a_sandbox_an_agent_that_stops_or_kills_the_shim_dies_all_the_same(tmp_path):
    for number in ("SIGSTOP", "SIGKILL"):
        call = make_call(tmp_path / number, wall_seconds=3)
        attack = f"{HOLD_LOCK}\nimport signal\nos.kill(os.getppid(), signal.{number})"
        reply = agent(Confinement.SHIM, attack + "\ntime.sleep(600)").run(call, Recorder())
        assert has_locked(call)
        assert not is_locked(call)
        assert reply.fault is (Fault.WALL_CLOCK if number == "SIGSTOP" else Fault.CRASH)


# --- kill_tree -----------------------------------------------------------------------------------


@pytest.fixture
def sleeper():
    process = subprocess.Popen(
        [*PYTHON, "-c", "import time; time.sleep(600)"],
        env={"RUN_MARK": f"mark-of-{uuid.uuid4().hex}"},
        start_new_session=True,
    )
    yield process
    process.kill()
    process.wait()


def test_kill_tree_leaves_a_process_alone_that_only_got_the_number(sleeper):
    recycled = replace(identify(sleeper.pid, "another mark"), start_ticks=1)
    assert kill_tree(recycled)
    assert sleeper.poll() is None


def test_kill_tree_after_a_reboot_kills_nothing_and_says_gone(sleeper):
    assert kill_tree(replace(identify(sleeper.pid, "m"), boot_id="an earlier boot"))
    assert sleeper.poll() is None


def test_kill_tree_cannot_speak_for_another_host(sleeper):
    assert not kill_tree(replace(identify(sleeper.pid, "m"), host="another host"))
    assert sleeper.poll() is None


def test_kill_tree_finds_by_the_mark_what_the_number_no_longer_names(sleeper):
    with open(f"/proc/{sleeper.pid}/environ") as environ:
        wait_until(lambda: environ.seek(0) == 0 and "RUN_MARK" in environ.read())
        environ.seek(0)
        mark = environ.read().split("=")[1].rstrip("\0")
    assert kill_tree(replace(identify(sleeper.pid, mark), pid=2**22 + 1))
    assert sleeper.wait(5) == -signal.SIGKILL


@both_modes
def test_a_tree_that_holds_too_much_memory_is_ended_as_a_whole(mode, tmp_path):
    """Counted over all of its processes: no single one is above the limit."""
    code = """
        import os, sys, time
        for _ in range(3):
            if os.fork() == 0:
                held = bytearray(os.urandom(1024) * 1024 * 60)
                time.sleep(60)
        print("started", flush=True)
        time.sleep(60)
    """
    call = make_call(tmp_path, memory_mb=120)
    control = Recorder()
    reply = agent(mode, code).run(call, control)
    assert reply.fault is Fault.CRASH
    assert reply.detail == (
        "The agent's processes held more than 120 MB of memory and were stopped."
    )
    assert not os.path.exists(f"/proc/{control.processes[0].pid}")


@both_modes
def test_an_agent_gives_way_before_its_supervisor_where_memory_runs_out(mode, tmp_path):
    control = Recorder()
    code = "print(open('/proc/self/oom_score_adj').read())"
    assert agent(mode, code).run(make_call(tmp_path), control).fault is None
    assert int(control.text) >= 500
