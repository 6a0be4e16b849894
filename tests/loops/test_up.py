"""`loopwatch up` with real processes: what dies comes back, what ends leaves nothing."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import redis

from loops import broker as embedded
from loops import premises
from tests.conftest import TOP, eventually, plain_environment, require
from tests.loops.upping import Up, health

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with Up(tmp_path_factory.mktemp("up") / "data") as up:
        up.address = up.wait_ready()
        yield up


def is_healthy(up: Up) -> bool:
    return health(up.address)[0] == 200


def test_health_tells_what_works_and_nothing_secret(running):
    eventually(lambda: is_healthy(running), what="health")
    status, answer = health(running.address)
    assert status == 200
    assert answer.pop("engine_age_seconds") < 10
    assert answer == {"status": "ok", "database": "ok", "broker": "ok"}
    head = urllib.request.Request(f"{running.address}/health/", method="HEAD")
    with urllib.request.urlopen(head, timeout=10) as reply:
        assert (reply.status, reply.read()) == (200, b"")


def test_the_first_page_a_stranger_sees_and_its_style_are_served(running):
    with urllib.request.urlopen(f"{running.address}/", timeout=10) as page:
        assert b"loopwatch login-link" in page.read()
    with urllib.request.urlopen(f"{running.address}/static/css/base.css", timeout=10) as style:
        assert style.headers["Content-Type"].startswith("text/css")


def test_the_link_of_the_first_start_signs_in(running):
    link = re.search(r"Sign in .*: (http://\S+/login/\S+/)", running.said())[1]
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(link, timeout=10) as page:
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode())[1]
    form = urllib.parse.urlencode({"csrfmiddlewaretoken": token}).encode()
    browser.open(urllib.request.Request(link, form, {"Origin": running.address}), timeout=10)
    with browser.open(f"{running.address}/account/", timeout=10) as page:
        assert "admin of all projects" in page.read().decode()


def test_no_password_is_in_any_command_line(running):
    password = (running.data / "keys" / "broker").read_text()
    for pid in running.alive():
        assert password.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.parametrize("child", ["web", "clock", "broker", "worker"])
def test_a_killed_child_comes_back_and_its_whole_session_is_gone_before(running, child):
    eventually(lambda: is_healthy(running), what="health")
    before = running.pid(child)
    family = running.members(before)
    assert bool(family) == (child == "worker"), "a worker has pool processes, the others none"
    os.kill(before, signal.SIGKILL)
    eventually(lambda: running.pid(child) != before, what=f"restart of {child}")
    assert not family & running.alive()
    eventually(lambda: is_healthy(running), what="health")
    assert f"{child} was killed by SIGKILL" in running.said()


def test_the_worker_goes_on_after_the_broker_came_back(running):
    # Runs after the kills above: the same worker or broker is no longer there.
    code = (
        "import django; django.setup()\n"
        "from loops.celery import app\n"
        "app.send_task('celery.accumulate', args=(1,))"
    )
    os.kill(running.pid("broker"), signal.SIGKILL)
    eventually(lambda: health(running.address)[1].get("broker") == "unreachable", what="outage")
    eventually(lambda: is_healthy(running), what="health")
    env = plain_environment(
        LOOPWATCH_DATA=str(running.data), DJANGO_SETTINGS_MODULE="loops.settings"
    )
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=60)
    with redis.Redis.from_url(embedded.url(running.data)) as client:
        eventually(lambda: client.llen("iterations") == 0, what="taking the task")


def test_a_stopped_clock_is_seen(running):
    eventually(lambda: is_healthy(running), what="health")
    clock = running.pid("clock")
    os.kill(clock, signal.SIGSTOP)
    try:
        late = eventually(
            lambda: health(running.address)[0] == 503 and health(running.address)[1], within=40
        )
    finally:
        os.kill(clock, signal.SIGCONT)
    assert late["status"] == "degraded"
    assert late["engine_age_seconds"] > 9


def test_a_second_start_on_the_same_data_is_refused(running):
    ran = refused("--data", str(running.data), "--port", "0")
    assert "already runs" in ran.stderr
    assert str(running.process.pid) in ran.stderr
    assert is_healthy(running)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_stop_leaves_nothing(tmp_path, number):
    with Up(tmp_path / "data") as up:
        up.wait_ready()
        up.process.send_signal(number)
        assert up.process.wait(40) == 0, up.said()
        assert not up.alive()
        assert "Traceback" not in up.said() + up.log()
        assert not (tmp_path / "data" / "valkey" / "valkey.sock").exists()


def test_a_killed_up_takes_every_process_along_and_can_start_again(tmp_path):
    data = tmp_path / "data"
    with Up(data) as up:
        up.wait_ready()
        # up, broker, web, clock, worker and its two
        eventually(lambda: len(up.alive()) == 7, what="seven processes")
        up.process.kill()
        up.process.wait()
        with Up(data) as again:  # at once: it waits for the remains, then starts
            up.wait_gone()
            again.wait_ready()
            again.process.send_signal(signal.SIGTERM)
            assert again.process.wait(40) == 0


def test_a_stop_in_the_middle_of_the_start_leaves_nothing(tmp_path):
    with Up(tmp_path / "data") as up:
        eventually(lambda: "broker started" in up.said(), what="first child")
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(40) == 0, up.said()
        assert not up.alive()


def test_a_ruined_broker_file_is_set_aside(tmp_path):
    data = tmp_path / "data"
    (data / "keys").mkdir(parents=True)
    ruined = data / "valkey" / "appendonlydir"
    ruined.mkdir(parents=True)
    (ruined / "appendonly.aof.manifest").write_text("no manifest at all\n")
    with Up(data) as up:
        up.wait_ready()
        assert list((data / "valkey").glob("appendonlydir.broken-*"))


def test_a_long_data_path_works_and_leaves_no_socket_folder(tmp_path):
    data = tmp_path / ("long" * 30)
    socket_folder = Path(unquote(urlsplit(url_of(data)).path)).parent
    with Up(data) as up:
        up.wait_ready()
        assert stat.S_IMODE(socket_folder.stat().st_mode) == 0o700
        up.process.send_signal(signal.SIGTERM)
        assert up.process.wait(40) == 0
        assert not socket_folder.exists()
        assert not up.alive()


def url_of(data: Path) -> str:
    (data / "keys").mkdir(parents=True)
    return embedded.url(data)


def test_an_outside_broker_replaces_the_embedded_one(tmp_path, broker):
    with Up(tmp_path / "data", env=plain_environment(REDIS_URL=broker)) as up:
        up.wait_ready()
        assert "broker started" not in up.said()


def refused(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """`up` ended with code 2 and one sentence, no traceback."""
    ran = subprocess.run(
        [sys.executable, TOP / "manage.py", "up", *words],
        env=plain_environment(**env), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert ran.stderr.count("\n") == 1, ran.stderr
    return ran


def test_a_taken_port_is_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = refused("--data", str(tmp_path / "data"), "--port", str(port))
    assert f"Port {port}" in ran.stderr
    assert "--port" in ran.stderr


def test_an_unknown_address_is_told(tmp_path):
    data, named = str(tmp_path / "data"), {"LOOPWATCH_ALLOWED_HOSTS": "loops.example.org"}
    assert "192.0.2.1" in refused("--data", data, "--host", "192.0.2.1", **named).stderr


def test_listening_for_other_machines_needs_the_names_they_may_ask_for(tmp_path):
    ran = refused("--data", str(tmp_path / "data"), "--host", "0.0.0.0")
    assert "LOOPWATCH_ALLOWED_HOSTS" in ran.stderr


def test_a_folder_that_cannot_be_made_is_told():
    assert "/proc/loopwatch" in refused("--data", "/proc/loopwatch").stderr


def test_a_read_only_folder_is_told_even_to_the_superuser(tmp_path):
    require("bwrap")
    data = tmp_path / "data"
    env = plain_environment(LOOPWATCH_DATA=str(data))
    manage = [sys.executable, TOP / "manage.py"]
    subprocess.run([*manage, "manage", "check"], env=env, check=True, capture_output=True)
    ran = subprocess.run(
        ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--ro-bind", data, data, *manage, "up"],
        env=env, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.count("\n") == 1
    assert "Read-only" in ran.stderr


def test_a_database_that_does_not_answer_is_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"postgres://me:secret-word@127.0.0.1:{port}/loops"
    ran = refused("--data", str(tmp_path / "data"), "--port", "0", DATABASE_URL=url)
    assert "database" in ran.stderr
    assert "secret-word" not in ran.stderr


def test_a_broker_that_does_not_answer_is_told(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    data = str(tmp_path / "data")
    ran = refused("--data", data, "--port", "0", REDIS_URL=f"redis://127.0.0.1:{port}/0")
    assert "REDIS_URL" in ran.stderr


def test_an_unsupported_platform_is_told(monkeypatch, capsys):
    from loops import cli

    monkeypatch.setattr(sys, "platform", "win32")
    assert cli.main(["up"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("mounts", "kind"),
    [
        ("srv:/x /data nfs4 rw 0 0", "nfs4"),
        ("//srv/x /data cifs rw 0 0", "cifs"),
        ("me@srv: /data fuse.sshfs rw 0 0", "fuse.sshfs"),
        ("host /data 9p rw 0 0", "9p"),
        ("srv:/x /data/my\\040loops nfs rw 0 0", "nfs"),
        ("/dev/b /data ext4 rw 0 0", ""),
        ("srv:/x /dat nfs rw 0 0", ""),
        ("srv:/x / nfs rw 0 0\n/dev/b /data ext4 rw 0 0", ""),
        ("/dev/b /data ext4 rw 0 0\nsrv:/x /data nfs rw 0 0", "nfs"),
    ],
)
def test_a_network_file_system_is_noticed(mounts, kind):
    mounts = f"/dev/a / ext4 rw 0 0\n{mounts}\n"
    assert premises.network_type(Path("/data/my loops"), mounts) == kind
