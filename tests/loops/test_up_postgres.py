"""`loopwatch up` on PostgreSQL: runs where the test run itself does."""

import os
import signal
import uuid

import pytest
from django.db import connection

from tests.conftest import plain_environment, require
from tests.loops.upping import Up, health


@pytest.fixture
def empty_database():
    require("postgres")
    if connection.vendor != "postgresql":
        pytest.skip("this run is on SQLite; DATABASE_URL names a PostgreSQL server")
    import psycopg

    url = os.environ["DATABASE_URL"]
    name = f"loopwatch_up_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield f"{url.rpartition('/')[0]}/{name}"
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_up_migrates_and_serves_postgres(empty_database, tmp_path):
    env = plain_environment(DATABASE_URL=empty_database)
    with Up(tmp_path / "data", env=env) as up:
        assert health(up.wait_ready())[1]["database"] == "ok"
        assert not (tmp_path / "data" / "db.sqlite3").exists()
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(40) == 0, up.said()
