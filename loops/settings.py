"""Settings: everything a deployment may change comes from the environment."""

import os
from pathlib import Path

DATA = Path(os.environ.get("LOOPWATCH_DATA", Path.home() / ".local/share/loopwatch"))
SECRET_KEY = "set by up"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "tracker",
    "loops",
    "escalations",
]
ROOT_URLCONF = "loops.urls"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA / "db.sqlite3",
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20},
        "TEST": {"NAME": os.environ.get("LOOPWATCH_TEST_DB")},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "static/"
