"""The socket: one iteration's token, each request once, nothing after close."""

import os
import socket
import stat
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from loops.engine.values import Role, Signal
from loops.interface import client, link
from loops.interface.server import MOST_LINKS, Interface
from tests.loops.interface_kit import FINDING, context_of, desk, new_project
from tracker import services
from tracker.errors import Invalid
from tracker.models import Bug

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "t0ken"


@pytest.fixture
def project():
    return new_project()


@pytest.fixture
def path():
    with tempfile.TemporaryDirectory(prefix="lw") as folder:  # tmp_path may be too long a path
        yield Path(folder, "s")


@pytest.fixture
def serve(project, path):
    opened = []

    def start(role=Role.WORKER, **changes):
        interface = Interface(
            changes.get("path", path), TOKEN, changes.get("context", context_of(project, role))
        )
        interface.start()
        opened.append(interface)
        return interface

    yield start
    for interface in opened:
        interface.close()


def connect(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(20)
    connection.connect(str(path))
    return connection


def frame(*argv, token=TOKEN, key="k", stdin=""):
    body = client.pack([token, key, stdin, *argv])
    return len(body).to_bytes(4, "big") + body


def answer_on(connection):
    with connection.makefile("rb") as stream:
        texts = client.unpack(stream.read(int.from_bytes(stream.read(4), "big")))
    return dict(zip(("code", "out", "err"), (int(texts[0]), *texts[1:]), strict=True))


def ask(path, *argv, **how):
    with connect(path) as connection:
        connection.sendall(frame(*argv, **how))
        return answer_on(connection)


def test_a_request_is_answered_and_the_signal_collected(serve, path):
    interface = serve()
    assert ask(path, "done")["code"] == 0
    interface.close()
    assert interface.collected().signal is Signal.DONE


def test_only_the_owner_can_reach_the_socket(serve, path):
    serve()
    assert stat.S_IMODE(os.lstat(path).st_mode) == 0o600


@pytest.mark.parametrize("token", ["", "t0ke", "t0kenx", "\ud800", "the token of iteration 6"])
def test_the_token_of_another_iteration_is_refused(serve, path, token):
    interface = serve()
    answer = ask(path, "done", token=token)
    assert answer["code"] == 2
    assert "token" in answer["err"]
    assert interface.collected().signal is None


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"\xff",
        b"\0" * 11,
        client.pack([TOKEN, "k"]),
        client.pack([TOKEN, "k", "", "done"])[:-1],
        client.pack([TOKEN, "k", "", "done"]) + b"\xff\xff\xff\xff",
        client.pack([TOKEN, "k" * 65, "", "done"]),
    ],
)
def test_what_is_no_request_is_refused(serve, path, body):
    interface = serve()
    with connect(path) as connection:
        connection.sendall(len(body).to_bytes(4, "big") + body)
        assert answer_on(connection)["code"] == 2
    assert interface.collected().signal is None


def test_a_repeated_key_gets_the_first_answer_and_writes_once(serve, path):
    serve(Role.REVIEWER)
    first = ask(path, *FINDING, key="one")
    assert ask(path, *FINDING, key="one") == first
    assert Bug.objects.get().count == 1
    ask(path, *FINDING, key="two")
    assert Bug.objects.get().count == 2


def test_a_connection_that_breaks_before_the_answer_costs_nothing(serve, path):
    serve(Role.REVIEWER)
    with connect(path) as connection:
        connection.sendall(frame(*FINDING, key="one"))
    answer = ask(path, *FINDING, key="one")
    assert "B-1" in answer["out"]
    assert Bug.objects.get().count == 1


def test_a_mebibyte_of_text_is_read_whole_whatever_it_holds(serve, path):
    serve(Role.COACH)
    for text in ("x" * 1024 * 1024, "\x00é" * 350_000):
        answer = ask(path, "guidance", "set", "-", stdin=text, key=text[:1])
        assert answer["code"] == 2
        assert "The guidance has" in answer["err"]


def test_a_request_beyond_the_limit_is_refused_unread(serve, path):
    serve()
    with connect(path) as connection:
        connection.sendall((link.MOST_REQUEST + 1).to_bytes(4, "big") + b"x" * 1000)
        answer = answer_on(connection)
    assert answer["code"] == 2
    assert "longer than" in answer["err"]


def test_idle_and_half_sent_connections_keep_nobody_waiting_for_ever(serve, path, monkeypatch):
    monkeypatch.setattr(link, "SECONDS", 0.3)
    serve()
    idle = [connect(path) for _ in range(MOST_LINKS)]
    idle[0].sendall(frame("done")[:9])
    assert ask(path, "not-done")["code"] == 0
    for connection in idle:
        connection.close()


def test_an_agent_that_never_reads_blocks_nobody(project, serve, path):
    text = "line\n" * 200_000  # more than a socket holds
    services.edit_requirement(project, "R-1", text=text, by=services.person("ada"))
    serve()
    with connect(path) as deaf:
        deaf.sendall(frame("req", "show", "R-1"))
        assert ask(path, "done", key="other")["code"] == 0
        assert len(answer_on(deaf)["out"]) > 1_000_000


def test_two_agents_file_at_once_and_both_are_kept(serve, path):
    serve(Role.REVIEWER)
    answers = []

    def file(name):
        for n in range(5):
            argv = [*FINDING[:-4], "--place", f"src/{name}{n}.py:1", f"{name}{n}"]
            answers.append(ask(path, *argv, key=f"{name}{n}"))

    threads = [threading.Thread(target=file, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer["code"] for answer in answers] == [0] * 10
    assert Bug.objects.count() == 10


def test_close_waits_for_the_request_in_progress_and_refuses_the_rest(project, serve, path):
    entered, leave = threading.Event(), threading.Event()

    def head():
        entered.set()
        assert leave.wait(20)
        return "a" * 40

    desk(project, Role.REVIEWER).ok(*FINDING)
    desk(project).ok("bug", "start", "B-1")
    interface = serve(context=replace(context_of(project), head=head))
    busy, half = connect(path), connect(path)
    half.sendall(frame("done", key="half")[:-1])
    busy.sendall(frame("bug", "fixed", "B-1", key="fixed"))
    assert entered.wait(20)
    queued = connect(path)
    queued.sendall(frame("done", key="queued"))
    closing = threading.Thread(target=interface.close)
    closing.start()
    time.sleep(0.2)
    assert closing.is_alive()
    leave.set()
    closing.join(20)
    assert not closing.is_alive()
    assert "FIXED" in answer_on(busy)["out"]
    for late in (half, queued):
        answer = answer_on(late)
        assert answer["code"] == 2
        assert "over" in answer["err"]
    assert interface.collected().signal is None
    assert Bug.objects.get().state == "FIXED"
    for connection in (busy, half, queued):
        connection.close()


def test_after_close_nobody_answers_and_the_socket_is_gone(serve, path):
    interface = serve()
    interface.close()
    interface.close()
    assert not path.exists()
    with pytest.raises(OSError, match="No such file"):
        connect(path)


def test_close_is_quick_while_an_agent_idles(serve, path):
    interface = serve()
    with connect(path):
        started = time.monotonic()
        interface.close()
        assert time.monotonic() - started < 5


def test_a_socket_left_by_a_killed_process_is_replaced(serve, path):
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(path))
    left.close()
    serve()
    assert ask(path, "done")["code"] == 0


def test_closing_late_does_not_take_away_the_next_one_s_socket(serve, path):
    old = serve()
    serve()
    old.close()
    assert ask(path, "done")["code"] == 0


def test_a_path_that_no_socket_can_have_is_refused_in_a_sentence(serve, path):
    with pytest.raises(Invalid, match="at most 106"):
        serve(path=path.parent / ("x" * 110))


def test_another_file_in_its_place_is_not_removed(serve, path):
    path.write_text("mine")
    with pytest.raises(Invalid, match="stands where"):
        serve()
    assert path.read_text() == "mine"


def test_the_serving_thread_leaves_no_connection_and_no_thread(serve, path):
    open_files = []
    for _ in range(4):
        interface = serve()
        assert ask(path, "bug", "list")["code"] == 0
        interface.close()
        open_files.append(len(os.listdir("/proc/self/fd")))
    # SQLite keeps the first one's file for its next connection, so that the first may add one.
    assert len(set(open_files)) == 1
    assert not [t for t in threading.enumerate() if t.name == "agents-interface"]
