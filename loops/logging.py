"""One log file for all processes of a data folder: they append whole lines to it.

`up` cuts the file when it has grown (loops.supervisor); appending survives that.
"""

from __future__ import annotations

import logging
import logging.config
from collections.abc import Mapping
from pathlib import Path


def configure(settings: Mapping[str, Path]) -> None:
    """settings: {"file": path of the log}; the file is made by the first line (Django calls this
    as LOGGING_CONFIG)."""
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "line": {
                    "format": "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s",
                }
            },
            "filters": {"no_health": {"()": _NoHealth}},
            "handlers": {
                "file": {
                    "filters": ["no_health"],
                    "()": LateFileHandler,
                    "path": str(settings["file"]),
                    "formatter": "line",
                }
            },
            "root": {"handlers": ["file"], "level": "WARNING"},
            "loggers": {name: {"level": "INFO"} for name in ("loops", "tracker", "escalations")},
        }
    )


class _NoHealth(logging.Filter):
    """Monitors, and `up` at its start, ask several times a second: a 503 is the answer they want,
    and in the log it would bury the reason."""

    def filter(self, record: logging.LogRecord) -> bool:
        path = getattr(getattr(record, "request", None), "path", "")
        return not (record.name == "django.request" and path == "/health/")


class LateFileHandler(logging.FileHandler):
    """Makes folder and file at the first line, so that reading commands leave no trace."""

    def __init__(self, path: str) -> None:
        super().__init__(path, encoding="utf-8", delay=True)

    def _open(self):  # type: ignore[no-untyped-def]
        Path(self.baseFilename).parent.mkdir(mode=0o700, exist_ok=True)
        return super()._open()
