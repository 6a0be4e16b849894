"""Typed access to the environment and to the data folder: the only place that reads os.environ.

Every helper raises BadSetting with a sentence for a person; `loops.cli` prints it and ends with
exit code 2. Standard library only (platformdirs apart), so that `loopwatch` starts fast.
"""

from __future__ import annotations

import base64
import os
import re
import secrets
import socket
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

MARKER = "keys"  # the folder that makes a data folder ours
_POSTGRES_SCHEMES = ("postgres", "postgresql")
_BROKER_SCHEMES = ("redis", "rediss", "unix")
# Stands in the name of a queue and of a git ref.
_HOST = re.compile(r"[A-Za-z0-9]+(?:(?:[._]|-+)[A-Za-z0-9]+)*")
_SSH = re.compile(r"ssh://[A-Za-z0-9][^\s/]*/\S+|[A-Za-z0-9][A-Za-z0-9._@-]*:(?!/?/)\S+")


class BadSetting(Exception):
    """A value that Loopwatch cannot work with: what is wrong, where, and what to do."""


def text(name: str, default: str = "") -> str:
    """The value without surrounding blanks; unset and empty both give the default."""
    return os.environ.get(name, "").strip() or default


def whole_number(name: str, default: int, *, least: int = 1, most: int) -> int:
    raw = text(name)
    if not raw:
        return default
    if not raw.isascii() or not raw.isdigit() or not least <= int(raw) <= most:
        raise BadSetting(f"{name} is “{raw}”; it must be a whole number from {least} to {most}.")
    return int(raw)


def names(name: str, default: tuple[str, ...]) -> list[str]:
    """Names separated by commas."""
    found = [part.strip() for part in text(name).split(",")]
    return [part for part in found if part] or list(default)


def public_url() -> str:
    """LOOPWATCH_URL, where people reach this Loopwatch, without a slash at its end; "" if unset."""
    url = text("LOOPWATCH_URL").rstrip("/")
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        is_usable = False
    if not is_usable or parts.path or parts.query or parts.fragment or parts.username:
        raise BadSetting(
            f"LOOPWATCH_URL is “{url}”; it must look like https://loops.example.org or "
            "http://127.0.0.1:8000, without a path."
        )
    return url


def host_name() -> str:
    """LOOPWATCH_HOST, the name of this host among several; by default the machine's own name."""
    name = text("LOOPWATCH_HOST", socket.gethostname())
    if not _HOST.fullmatch(name) or name.endswith(".lock") or len(name) > 63:
        raise BadSetting(
            f"The name of this host is “{name}”; set LOOPWATCH_HOST to at most 63 letters and "
            "digits, with dots, dashes or underscores between them."
        )
    return name


def store_url() -> str:
    """LOOPWATCH_STORE_URL, where every host reaches the projects' stores: a folder, or a place for
    git over ssh; "" if unset. Only its form is judged here."""
    url = text("LOOPWATCH_STORE_URL").rstrip("/").removeprefix("file://")
    if url and not os.path.isabs(url) and not _SSH.fullmatch(url):
        raise BadSetting(
            f"LOOPWATCH_STORE_URL is “{url}”; it must be the full path of a folder that every host "
            "reaches, or look like ssh://git@host/path or git@host:path."
        )
    return url


def host_of(url: str) -> str:
    """The name in a URL as a Host header writes it, without the port; "" for ""."""
    host = urlsplit(url).hostname or ""
    return f"[{host}]" if ":" in host else host


def data_folder() -> Path:
    """LOOPWATCH_DATA, else the user's data directory; made with mode 0700 when it is missing.

    A folder with other things in it is refused: its mode would be changed and files left in it.
    """
    raw = text("LOOPWATCH_DATA")
    folder = Path(raw).expanduser().absolute() if raw else _default_data_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (folder / MARKER).is_dir():
            if any(entry.name != "lost+found" for entry in folder.iterdir()):
                raise BadSetting(
                    f"The folder {folder} holds other files and is no data folder of Loopwatch; "
                    "name an empty or a new folder (--data or LOOPWATCH_DATA)."
                )
            folder.chmod(0o700)
            (folder / MARKER).mkdir(mode=0o700, exist_ok=True)
    except OSError as fault:
        raise unwritable(folder, fault) from fault
    return folder


def unwritable(folder: Path, fault: OSError) -> BadSetting:
    return BadSetting(
        f"The data folder {folder} cannot be used: {fault.strerror or fault}. "
        "Name another one with --data or LOOPWATCH_DATA."
    )


def _default_data_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("loopwatch", appauthor=False)


def key(data: Path, name: str) -> str:
    """The key kept in <data>/keys/<name>, made once: 32 random bytes in URL-safe base64 (which is
    also what Fernet wants). The link makes one winner when two processes start at once."""
    path = data / MARKER / name
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        pass
    except OSError as fault:
        raise unwritable(data, fault) from fault
    draft = path.with_name(f".{name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(base64.urlsafe_b64encode(secrets.token_bytes(32)))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_text("ascii").strip()
    except OSError as fault:
        raise unwritable(data, fault) from fault


def broker_url(default: str) -> str:
    """REDIS_URL in the words of redis-py: redis://, rediss:// or unix://."""
    url = text("REDIS_URL", default)
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in _BROKER_SCHEMES and parts.port != 0
    except ValueError:  # a port that is no number
        is_usable = False
    if not is_usable:
        raise BadSetting(
            "REDIS_URL must start with redis://, rediss:// or unix://, "
            "such as redis://127.0.0.1:6379/0."
        )
    return url


def database(data: Path) -> dict[str, Any]:
    """Django's setting for DATABASE_URL, else for SQLite in the data folder."""
    url = text("DATABASE_URL")
    return _postgres(url) if url else _sqlite(data)


def _sqlite(data: Path) -> dict[str, Any]:
    # FULL: a claim, a record and a decision survive a power cut. IMMEDIATE: a writer waits for its
    # turn at BEGIN instead of failing in the middle.
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": data / "db.sqlite3",
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=134217728; "
                "PRAGMA cache_size=-20000; PRAGMA temp_store=MEMORY;"
            ),
        },
    }


def _postgres(url: str) -> dict[str, Any]:
    wrong = BadSetting(
        "DATABASE_URL must look like postgres://user:password@host:5432/name "
        "(only PostgreSQL; without it SQLite in the data folder is used)."
    )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in _POSTGRES_SCHEMES or not parts.path.strip("/"):
        raise wrong
    options: dict[str, Any] = {
        "connect_timeout": 5,
        "application_name": "loopwatch",
        "options": "-c lock_timeout=20s",
    }
    query = dict(parse_qsl(parts.query))
    host = query.pop("host", "") or unquote(parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(port or ""),
        "OPTIONS": options | query,
    }
