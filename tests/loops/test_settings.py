"""Configuration comes from the environment; a wrong value is told in a sentence."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from django.db import connection

from loops import broker as embedded
from loops import environment
from tests.conftest import TOP, eventually, plain_environment

pytestmark = pytest.mark.once


def command(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TOP / "manage.py", *words],
        env=plain_environment(**env), capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOOPWATCH_SLOTS", "0"),
        ("LOOPWATCH_SLOTS", "two"),
        ("LOOPWATCH_LEASE_SECONDS", "1"),
        ("LOOPWATCH_LEASE_SECONDS", "15.5"),
        ("DATABASE_URL", "mysql://127.0.0.1/x"),
        ("DATABASE_URL", "postgres://127.0.0.1:port/x"),
        ("DATABASE_URL", "postgres://127.0.0.1"),
        ("REDIS_URL", "127.0.0.1:6379"),
        ("LOOPWATCH_HOST", "host b"),
        ("LOOPWATCH_HOST", "a..b"),
        ("LOOPWATCH_HOST", "-a"),
        ("LOOPWATCH_HOST", "a" * 64),
        ("LOOPWATCH_MOVE_AFTER", "soon"),
        ("LOOPWATCH_STORE_URL", "stores"),
        ("LOOPWATCH_STORE_URL", "ext::sh -c id"),
        ("LOOPWATCH_STORE_URL", "--upload-pack=id"),
        ("REDIS_URL", "redis://127.0.0.1:port/0"),
    ],
)
def test_a_wrong_value_is_refused_with_a_sentence_that_names_it(tmp_path, name, value):
    ran = command("manage", "check", LOOPWATCH_DATA=str(tmp_path / "data"), **{name: value})
    assert ran.returncode == 2
    assert name in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert ran.stdout == ""


def test_the_data_folder_and_its_keys_are_for_their_owner_alone(tmp_path):
    data = tmp_path / "new" / "data"
    ran = command("manage", "check", LOOPWATCH_DATA=str(data))
    assert ran.returncode == 0, ran.stderr
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    keys = sorted((data / "keys").iterdir())
    assert [key.name for key in keys] == ["broker", "django", "secrets"]
    assert {stat.S_IMODE(key.stat().st_mode) for key in keys} == {0o600}
    assert len({key.read_text() for key in keys}) == 3


def test_keys_are_made_once_and_fit_the_encryption_of_secrets(tmp_path, monkeypatch):
    from cryptography.fernet import Fernet

    monkeypatch.setenv("LOOPWATCH_DATA", str(tmp_path / "data"))
    data = environment.data_folder()
    first = environment.key(data, "secrets")
    assert environment.key(data, "secrets") == first
    assert Fernet(first).decrypt(Fernet(first).encrypt(b"token")) == b"token"


def test_a_folder_with_somebody_elses_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    tmp_path.chmod(0o755)
    ran = command("up", "--data", str(tmp_path))
    assert ran.returncode == 2
    assert str(tmp_path) in ran.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["letter.txt"]
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_without_a_setting_the_users_data_directory_is_used(tmp_path):
    code = "from loops.environment import data_folder; print(data_folder())"
    env = plain_environment(HOME=str(tmp_path))
    env.pop("XDG_DATA_HOME", None)
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert Path(ran.stdout.strip()).is_relative_to(tmp_path), ran.stderr


def test_postgres_url_keeps_odd_passwords_and_options(tmp_path, monkeypatch):
    monkeypatch.setenv(
        "DATABASE_URL", "postgresql://me:p%40ss%2F@db.example:5433/loops?sslmode=require"
    )
    found = environment.database(tmp_path)
    assert (found["USER"], found["PASSWORD"], found["NAME"]) == ("me", "p@ss/", "loops")
    assert (found["HOST"], found["PORT"]) == ("db.example", "5433")
    assert found["OPTIONS"]["sslmode"] == "require"


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="pragmas are SQLite's")
def test_what_was_committed_survives_a_power_cut():
    with connection.cursor() as cursor:
        found = {
            name: cursor.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "busy_timeout")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 20_000}
    assert "mode=memory" not in str(connection.settings_dict["NAME"])


def test_a_failure_nobody_thought_of_ends_in_one_sentence(tmp_path):
    data = tmp_path / "data"
    command("manage", "check", LOOPWATCH_DATA=str(data))
    (data / "db.sqlite3").mkdir()  # no database can be opened there
    ran = command("manage", "migrate", LOOPWATCH_DATA=str(data))
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert ran.stderr.count("\n") == 1
    log = data / "logs" / "loopwatch.log"
    assert str(log) in ran.stderr
    assert "Traceback" in log.read_text()


def test_help_lists_the_products_commands_and_hides_djangos(tmp_path):
    ran = command("--help", LOOPWATCH_DATA=str(tmp_path / "data"))
    assert ran.returncode == 0
    assert "  up " in ran.stdout
    assert "Starts Loopwatch" in ran.stdout
    assert "makemigrations" not in ran.stdout
    assert not (tmp_path / "data").exists()
    assert "makemigrations" in command("manage", LOOPWATCH_DATA=str(tmp_path / "data")).stdout


def test_an_unknown_command_is_refused_with_a_sentence(tmp_path):
    ran = command("seession", LOOPWATCH_DATA=str(tmp_path / "data"))
    assert ran.returncode == 2
    assert "seession" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_task_sent_from_any_thread_of_a_django_process_arrives_in_the_broker(tmp_path, broker):
    # A thread, for each web request runs in one and Celery's current application is per thread.
    code = (
        "import django, threading; django.setup()\n"
        "from celery import shared_task\n"
        "@shared_task(name='loops.tasks.example')\n"
        "def example(number): ...\n"
        "threading.Thread(target=example.delay, args=(7,)).start()"
    )
    env = plain_environment(
        LOOPWATCH_DATA=str(tmp_path / "data"), REDIS_URL=broker,
        DJANGO_SETTINGS_MODULE="loops.settings",
    )  # fmt: skip
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    with redis.Redis.from_url(broker) as client:
        message = json.loads(client.lpop("iterations"))
    assert message["headers"]["task"] == "loops.tasks.example"


def test_sending_gives_up_soon_when_the_broker_is_away(tmp_path):
    code = (
        "import django, time; django.setup()\n"
        "from loops.celery import app\n"
        "from kombu.exceptions import OperationalError\n"
        "try: app.send_task('loops.tasks.example')\n"
        "except OperationalError: print('gave up')"
    )
    env = plain_environment(
        LOOPWATCH_DATA=str(tmp_path / "data"), DJANGO_SETTINGS_MODULE="loops.settings"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=20
    )
    assert ran.stdout == "gave up\n", ran.stderr


def test_the_broker_needs_its_password(broker):
    address = broker.partition("@")[2]
    with (
        redis.Redis.from_url(f"unix://{address}") as stranger,
        pytest.raises(redis.AuthenticationError),
    ):
        stranger.ping()


def test_a_server_binary_comes_with_the_installation():
    binary = embedded.server_binary()
    assert binary is not None
    assert os.access(binary, os.X_OK)


@pytest.mark.parametrize("name", ["plain", "with blank “ü” 100%#?", "long" * 40])
def test_every_folder_name_gives_a_usable_socket(tmp_path, name):
    from kombu import Connection

    data = tmp_path / name
    (data / "keys").mkdir(parents=True)
    server = embedded.prepare(data, embedded.server_binary())
    assert len(os.fsencode(server.socket)) < 107
    assert stat.S_IMODE(server.socket.parent.stat().st_mode) == 0o700
    with subprocess.Popen(server.argv, stdout=subprocess.DEVNULL) as process:
        try:
            eventually(server.socket.exists, what="the socket")
            with redis.Redis.from_url(embedded.url(data)) as client:
                assert client.ping()
            with Connection(embedded.celery_url(embedded.url(data))) as link:
                link.ensure_connection(max_retries=1)
                link.default_channel.client.ping()
        finally:
            process.kill()
    embedded.remove_socket_folder(data)
    assert server.socket.is_relative_to(data) or not server.socket.parent.exists()


def test_a_socket_folder_made_by_somebody_else_is_refused(tmp_path):
    data = tmp_path / ("long" * 40)
    (data / "keys").mkdir(parents=True)
    folder = embedded.prepare(data, Path("unused")).socket.parent
    folder.chmod(0o755)
    try:
        with pytest.raises(environment.BadSetting, match=str(folder)):
            embedded.prepare(data, Path("unused"))
    finally:
        embedded.remove_socket_folder(data)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("/srv/stores/", "/srv/stores"),
        ("file:///srv/stores", "/srv/stores"),
        ("ssh://git@host:2222/srv/stores", "ssh://git@host:2222/srv/stores"),
        ("git@host.example:stores", "git@host.example:stores"),
        ("", ""),
    ],
)
def test_a_place_for_snapshots_is_a_folder_or_git_over_ssh(monkeypatch, given, kept):
    monkeypatch.setenv("LOOPWATCH_STORE_URL", given)
    assert environment.store_url() == kept
