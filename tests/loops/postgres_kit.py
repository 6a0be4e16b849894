"""A PostgreSQL for tests that need one whatever the run's own database is."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import require


@contextmanager
def empty_database() -> Iterator[str]:
    """URL of a new database: on the server of DATABASE_URL, else on one of our own."""
    require("postgres")
    import psycopg

    with _server() as server:
        name = f"loopwatch_{uuid.uuid4().hex[:8]}"
        with psycopg.connect(server, autocommit=True) as link:
            link.execute(f"CREATE DATABASE {name}")
            yield f"{server.rpartition('/')[0]}/{name}"
            link.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def _server() -> Iterator[str]:
    given = os.environ.get("DATABASE_URL", "")
    if given.startswith("postgres"):
        yield given
        return
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    # Not pytest's folder: PostgreSQL runs as another user, to whom that is closed.
    home = Path(tempfile.mkdtemp(prefix="loopwatch-pg-"))
    port = _free_port()
    options = (
        f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={home} "
        "-c fsync=off -c shared_buffers=16MB"
    )
    try:
        if os.getuid() == 0:
            shutil.chown(home, "postgres")
        _run(binaries / "initdb", "-D", home / "data", "-A", "trust", "-U", "me", "-E", "UTF8")
        control = (binaries / "pg_ctl", "-D", home / "data", "-w", "-t", "60")
        _run(*control, "-l", home / "log", "-o", options, "start")
        try:
            yield f"postgres://me@127.0.0.1:{port}/postgres"
        finally:
            _run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _run(*argv: object) -> None:
    """PostgreSQL refuses to run as root."""
    words = [str(word) for word in argv]
    if os.getuid() == 0:
        words = ["runuser", "-u", "postgres", "--", *words]
    subprocess.run(words, cwd="/", check=True, stdout=subprocess.DEVNULL, timeout=120)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
