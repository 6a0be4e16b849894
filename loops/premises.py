"""Whether Loopwatch may start here: the data folder is local, writable and ours alone, the port is
free. Each refusal is a BadSetting with a sentence."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import socket
import time
from pathlib import Path

from loops.environment import BadSetting, unwritable

LEFTOVERS_SECONDS = 10.0
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|glusterfs|lustre|beegfs|gpfs|ncpfs|davfs|vboxsf|prl_fs|"
    r"fuse\.(sshfs|glusterfs|s3fs|rclone|davfs2?|curlftpfs|ceph|nfs|smbnetfs|gvfsd-fuse|vmhgfs-fuse)"
)


def check_folder(data: Path) -> None:
    """Refuses a network file system (locks and shared memory of SQLite do not hold there) and a
    folder that cannot be written, by a real write: the superuser passes every permission bit."""
    kind = network_type(data, _mounts())
    if kind:
        raise BadSetting(
            f"The data folder {data} lies on a network file system ({kind}), where the database "
            "cannot be kept safe; name a local folder with --data or LOOPWATCH_DATA."
        )
    probe = data / f".probe.{os.getpid()}"
    try:
        handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(handle, b"probe")
            os.fsync(handle)
        finally:
            os.close(handle)
            probe.unlink()
        (data / "logs").mkdir(mode=0o700, exist_ok=True)
    except OSError as fault:
        raise unwritable(data, fault) from fault


def check_store(url: str) -> None:
    """Refuses a folder for other hosts' snapshots that is not there: on a disk that is not mounted
    they would reach nobody."""
    if os.path.isabs(url) and not os.path.isdir(url):
        raise BadSetting(
            f"LOOPWATCH_STORE_URL names the folder {url}, which is not there; make or mount it."
        )


def network_type(folder: Path, mounts: str) -> str:
    """The type of the network file system that holds the folder, else "". mounts: /proc/mounts;
    of equal mount points the last one lies on top."""
    place = os.path.realpath(folder)
    best, kind = "", ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[1])
        inside = point == "/" or place == point or place.startswith(point + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind if _NETWORK.fullmatch(kind) else ""


def _mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""  # not Linux: a warning is all that the manual gives


def lock(data: Path) -> int:
    """Takes the folder's lock and returns its file descriptor, for the children to inherit: as long
    as one process of an earlier start is alive, no other start touches its database or broker."""
    try:
        handle = os.open(data / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as fault:
        raise unwritable(data, fault) from fault
    end = time.monotonic() + LEFTOVERS_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
            if _is_alive(holder) or time.monotonic() > end:
                os.close(handle)
                raise BadSetting(_already_runs(data, holder)) from None
            time.sleep(0.1)  # killed: the kernel is still taking its children away
        except OSError as fault:
            os.close(handle)
            raise unwritable(data, fault) from fault
        else:
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
            return handle


def _already_runs(data: Path, holder: str) -> str:
    return (
        f"Loopwatch already runs on {data} (process {holder or 'unknown'}); stop that one first, "
        "or name another folder with --data."
    )


def _is_alive(pid: str) -> bool:
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def listen(host: str, port: int) -> socket.socket:
    """The listening socket (port 0: any free one). `up` holds it, so that a browser waits instead
    of being refused while the web server starts again."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as fault:
        raise BadSetting(_cannot_listen(host, port, fault)) from fault
    except OverflowError:
        raise BadSetting(f"--port {port} is no port; give a number from 0 to 65535.") from None


def _cannot_listen(host: str, port: int, fault: OSError) -> str:
    if isinstance(fault, socket.gaierror) or fault.errno == errno.EADDRNOTAVAIL:
        return f"This machine has no address {host}; give another one with --host."
    if fault.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken by another program; choose another with --port."
    if fault.errno == errno.EACCES:
        return f"Port {port} needs the superuser's rights; choose one above 1023 with --port."
    return f"Cannot listen on {host}, port {port}: {fault.strerror or fault}."
