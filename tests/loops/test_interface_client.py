"""`loopwatch` on an agent's PATH: the real program against a real socket."""

import io
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from loops.engine.values import Role, Signal
from loops.interface import client
from loops.interface.install import install
from loops.interface.link import Link
from loops.interface.server import Interface
from tests.conftest import require
from tests.loops.interface_kit import FINDING, context_of, new_project
from tracker.models import Bug, GuidanceVersion

TOKEN = "t0ken"


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="lw") as name:
        yield Path(name)


def run(folder, *argv, stdin=None, **environ):
    program = install(folder / "bin")
    return subprocess.run(
        [str(program), *argv],
        input=stdin,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        timeout=60,
    )


def inside(folder):
    return {"LOOPWATCH_SOCKET": str(folder / "s"), "LOOPWATCH_TOKEN": TOKEN}


def in_process(folder, *argv, patience=5.0):
    out, err = io.BytesIO(), io.BytesIO()
    code = client.main(list(argv), inside(folder), None, out, err, patience)
    return code, out.getvalue().decode(), err.getvalue().decode()


@pytest.mark.django_db(transaction=True)
def test_an_agent_files_reads_and_signals(folder):
    project = new_project()
    with Interface(folder / "s", TOKEN, context_of(project, Role.REVIEWER)) as interface:
        filed = run(folder, *FINDING, **inside(folder))
        assert (filed.returncode, filed.stderr) == (0, b"")
        assert filed.stdout == b"B-1 OPEN: filed.\n"
        assert b"B-1" in run(folder, "bug", "list", **inside(folder)).stdout
        assert run(folder, "review", "bugs", **inside(folder)).returncode == 0
        refused = run(folder, "done", **inside(folder))
        assert (refused.returncode, refused.stdout) == (2, b"")
        assert b"Only the worker" in refused.stderr
    assert interface.collected().signal is Signal.REVIEW_BUGS


@pytest.mark.django_db(transaction=True)
def test_a_dash_sends_standard_input_and_bad_bytes_do_no_harm(folder):
    project = new_project()
    with Interface(folder / "s", TOKEN, context_of(project, Role.COACH)):
        sent = run(folder, "guidance", "set", "-", stdin=b"Caf\xc3\xa9 \xff\n", **inside(folder))
        assert sent.returncode == 0
        assert GuidanceVersion.objects.get().text == "Café \ufffd"
        huge = run(folder, "guidance", "set", "-", stdin=b"x" * (1 << 20), **inside(folder))
        assert huge.returncode == 2
        assert b"at most" in huge.stderr
        words = run(folder, "bug", "show", b"B-\xff", **inside(folder))
        assert words.returncode == 2


@pytest.mark.django_db(transaction=True)
def test_it_works_in_a_sandbox_that_can_write_nothing(folder):
    require("bwrap")
    (folder / "socket").mkdir()
    install(folder / "bin")
    argv = ["bwrap", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--unshare-pid"]
    argv += ["--tmpfs", str(folder)]
    for name in ("bin", "socket"):
        argv += ["--ro-bind", str(folder / name), str(folder / name)]
    socket = folder / "socket" / "s"
    with Interface(socket, TOKEN, context_of(new_project())) as interface:
        done = subprocess.run(
            [*argv, str(folder / "bin" / "loopwatch"), "done"],
            env={**inside(folder), "PATH": os.environ["PATH"], "LOOPWATCH_SOCKET": str(socket)},
            capture_output=True,
            timeout=60,
        )
    assert (done.returncode, done.stdout) == (0, b"Noted: done.\n")
    assert interface.collected().signal is Signal.DONE


def test_outside_an_iteration_it_says_so(folder):
    outside = run(folder, "done")
    assert outside.returncode == 2
    assert b"only inside an iteration" in outside.stderr


def test_input_beyond_the_limit_is_refused_before_it_is_sent(folder):
    size = client.MOST_INPUT + 1
    refused = run(folder, "guidance", "set", "-", stdin=b"x" * size, **inside(folder))
    assert refused.returncode == 2
    assert b"longer than" in refused.stderr


def test_when_nobody_answers_it_gives_up_with_a_sentence(folder):
    code, out, err = in_process(folder, "done", patience=0.3)
    assert (code, out) == (1, "")
    assert "over or its supervisor is gone" in err
    assert "not known whether" in err


@pytest.mark.django_db(transaction=True)
def test_it_waits_for_a_socket_that_comes_late(folder):
    context = context_of(new_project())
    opened = []

    def late():
        time.sleep(0.4)
        opened.append(Interface(folder / "s", TOKEN, context))
        opened[0].start()

    thread = threading.Thread(target=late)
    thread.start()
    code, out, _ = in_process(folder, "done", patience=20)
    thread.join()
    opened[0].close()
    assert (code, out) == (0, "Noted: done.\n")


@pytest.mark.django_db(transaction=True)
def test_a_server_that_dies_between_write_and_answer_is_asked_again_for_the_same(
    folder, monkeypatch
):
    project = new_project()
    real, deaths = Link.answer, []

    def die_once(self, body):
        if not deaths:
            deaths.append(body)
            self.connection.shutdown(2)
        real(self, body)

    monkeypatch.setattr(Link, "answer", die_once)
    with Interface(folder / "s", TOKEN, context_of(project, Role.REVIEWER)):
        code, out, _ = in_process(folder, *FINDING)
    assert (code, out) == (0, "B-1 OPEN: filed.\n")
    assert len(deaths) == 1
    assert Bug.objects.get().count == 1


@pytest.mark.django_db(transaction=True)
def test_a_token_of_the_last_iteration_is_refused_at_once(folder):
    project = new_project()
    with Interface(folder / "s", "another", context_of(project)) as interface:
        code, _, err = in_process(folder, "done")
    assert code == 2
    assert "token" in err
    assert interface.collected().signal is None


def test_the_program_needs_nothing_but_python_and_itself(folder):
    where = folder / "a b'c"
    program = install(where)
    assert os.access(program, os.X_OK)
    assert [each.name for each in where.iterdir()] == ["loopwatch"]
    done = subprocess.run(
        ["loopwatch", "done"],
        env={"PATH": f"{where}:/usr/bin:/bin", "PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere"},
        cwd="/",
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert b"only inside an iteration" in done.stderr


def test_a_deep_interpreter_path_works(folder):
    deep = folder / "/".join(["d" * 60] * 5) / "py'thon"
    deep.parent.mkdir(parents=True)
    deep.symlink_to(sys.executable)
    program = install(folder / "bin", str(deep))
    done = subprocess.run([str(program)], env={}, capture_output=True, timeout=60)
    assert b"only inside an iteration" in done.stderr


def test_installing_again_replaces_the_program(folder):
    assert install(folder) == install(folder)


def test_it_starts_about_as_fast_as_bare_python(folder):
    program = install(folder)

    def seconds(*argv):
        took = []
        for _ in range(5):
            started = time.monotonic()
            subprocess.run(argv, env={}, capture_output=True, timeout=60)
            took.append(time.monotonic() - started)
        return min(took)

    bare = seconds(sys.executable, "-I", "-S", "-E", "-c", "pass")
    assert seconds(str(program)) < 6 * bare + 0.1
