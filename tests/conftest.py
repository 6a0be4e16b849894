"""What every suite shares: skips that CI forbids, a real broker, environments of children."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import redis

from loops import broker as embedded

TOP = Path(__file__).resolve().parent.parent
_OURS = ("LOOPWATCH_", "DJANGO_", "PYTEST_", "REDIS_URL", "DATABASE_URL", "RUN_MARK")

# "ci" is what everybody runs; "deep" is for HYPOTHESIS_PROFILE=deep and slow suites.
hypothesis.settings.register_profile(
    "ci",
    max_examples=100,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "deep", hypothesis.settings.get_profile("ci"), max_examples=2000
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def require(name: str) -> None:
    """Skips the test where `name` (bwrap, postgres, chromium, node) is missing or does not work;
    fails it instead if LOOPWATCH_REQUIRE names it."""
    reason = _what_lacks(name)
    if not reason:
        return
    if name in os.environ.get("LOOPWATCH_REQUIRE", "").split(","):
        pytest.fail(f"LOOPWATCH_REQUIRE names {name}, but {reason}")
    pytest.skip(reason)


@cache
def _what_lacks(name: str) -> str:
    if name == "postgres":
        is_there = os.environ.get("DATABASE_URL", "").startswith("postgres") or _postgres_binaries()
        return "" if is_there else "PostgreSQL is not installed and DATABASE_URL names none"
    if shutil.which(name) is None:
        return f"{name} is not installed"
    if name != "bwrap":
        return ""
    # Installed is not working: containers often forbid user namespaces or a new /proc.
    probe = ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--dev", "/dev"]
    ran = subprocess.run([*probe, "true"], capture_output=True, text=True, timeout=20, check=False)
    return "" if ran.returncode == 0 else f"bwrap does not work here: {ran.stderr.strip()}"


def _postgres_binaries() -> bool:
    return bool(shutil.which("initdb") or list(Path("/usr/lib/postgresql").glob("*/bin/initdb")))


def eventually(look: Callable[[], Any], *, within: float = 30.0, what: str = "it") -> Any:
    """The first true answer of look(); fails after `within` seconds."""
    end = time.monotonic() + within
    while True:
        if found := look():
            return found
        if time.monotonic() > end:
            pytest.fail(f"{what} did not happen within {within:g} s")
        time.sleep(0.05)


def plain_environment(**extra: str) -> dict[str, str]:
    """The environment for a child process: nothing of the test run's own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {**kept, "PYTHONPATH": str(TOP), **extra}


class Broker:
    """A real embedded server in a folder of its own, that a test may kill and start again."""

    def __init__(self, data: Path) -> None:
        binary = embedded.server_binary()
        assert binary is not None
        self.data = data
        (data / "keys").mkdir(exist_ok=True)
        self.url = embedded.url(data)
        self._server = embedded.prepare(data, binary)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        embedded.remove_socket_folder(self.data)

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._server.argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        eventually(self._answers, what="the broker's answer")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real embedded server; its URL in redis-py's words."""
    with Broker(tmp_path_factory.mktemp("broker")) as server:
        yield server.url
