"""Where this Loopwatch is reached: kept in the data folder while `up` runs, for other commands."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from loops import environment
from loops.environment import BadSetting

LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_PLAIN = (
    "Warning: other machines reach Loopwatch without TLS; who reads along on the network can sign "
    "in as you. Put a proxy with TLS in front and set LOOPWATCH_URL=https://…"
)


def check_host(host: str) -> None:
    """Refuse to listen for other machines as long as nobody said under which names."""
    named = environment.text("LOOPWATCH_ALLOWED_HOSTS") or environment.public_url()
    if host not in LOOPBACK and not named:
        raise BadSetting(
            f"--host {host} opens Loopwatch to other machines; name the hosts they may ask for in "
            "LOOPWATCH_ALLOWED_HOSTS, for example LOOPWATCH_ALLOWED_HOSTS=loops.example.org."
        )


def warning(host: str) -> str:
    """What a person should hear about listening there; "" if it is harmless."""
    has_tls = environment.public_url().startswith("https://")
    return "" if host in LOOPBACK or has_tls else _PLAIN


def reachable(host: str) -> str:
    """The name to ask on this machine, as a URL writes it."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    return f"[{host}]" if ":" in host else host


def note(data: Path, host: str, port: int) -> str:
    """Keep the address that people open, and return it: LOOPWATCH_URL, else where `up` listens."""
    url = environment.public_url() or f"http://{reachable(host)}:{port}"
    (data / "address").write_text(url + "\n", "utf-8")
    return url


def current(data: Path) -> str:
    """LOOPWATCH_URL, else the address of the `up` that runs on the data folder, else ""."""
    url = environment.public_url()
    if url or not _up_runs(data):
        return url
    try:
        return (data / "address").read_text("utf-8").strip()
    except OSError:
        return ""


def _up_runs(data: Path) -> bool:
    """`up` and its children hold the folder's lock (premises.lock)."""
    try:
        handle = os.open(data / "up.lock", os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
