"""Settings of the tests: a data folder per test process, a file as test database, no broker unless
a test asks for the real one (fixture `broker`).

A module of its own because pytest-django loads settings before any conftest.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
_data = tempfile.mkdtemp(prefix=f"loopwatch-tests-{_worker}-")
atexit.register(shutil.rmtree, _data, ignore_errors=True)
os.environ["LOOPWATCH_DATA"] = _data
for _name in (
    "REDIS_URL",
    "LOOPWATCH_SLOTS",
    "LOOPWATCH_LEASE_SECONDS",
    "LOOPWATCH_ALLOWED_HOSTS",
    "LOOPWATCH_URL",
    "LOOPWATCH_HOST",
    "LOOPWATCH_STORE_URL",
    "LOOPWATCH_MOVE_AFTER",
):
    os.environ.pop(_name, None)

from loops.settings import *  # noqa: E402, F403
from loops.settings import DATABASES  # noqa: E402

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(Path(_data) / "test.sqlite3")}
CELERY_BROKER_URL = "memory://"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
