"""Names a process for ever and kills its whole tree, also on behalf of a worker that died."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped,unused-ignore]

from loops.agents.base import ProcessIdentity
from loops.agents.shim import descendants, kill, marked, process_table, read_process

GONE_WITHIN_SECONDS = 5.0
_PAGE = os.sysconf("SC_PAGE_SIZE")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def identify(pid: int, mark: str) -> ProcessIdentity:
    """The identity of a process that runs now on this host, or that is not reaped yet."""
    return ProcessIdentity(
        host=socket.gethostname(),
        boot_id=_boot_id(),
        pid=pid,
        start_ticks=_start_ticks(pid),
        mark=mark,
    )


def _boot_id() -> str:
    return _BOOT_ID.read_text().strip() if _BOOT_ID.exists() else str(int(psutil.boot_time()))


def _start_ticks(pid: int) -> int:
    if _BOOT_ID.exists():
        process = read_process(pid)
        return process.start_ticks if process else 0
    try:
        return int(psutil.Process(pid).create_time() * 100)
    except psutil.Error:
        return 0


def is_dead(identity: ProcessIdentity) -> bool:
    """True if that process of this host is seen to be gone; False for other hosts: nobody knows."""
    if identity.host != socket.gethostname():
        return False
    if identity.boot_id != _boot_id():
        return True
    process = read_process(identity.pid) if _BOOT_ID.exists() else None
    if process is not None:
        return process.start_ticks != identity.start_ticks or not process.alive
    return _BOOT_ID.exists() or not psutil.pid_exists(identity.pid)


def kill_tree(identity: ProcessIdentity, seconds: float = GONE_WITHIN_SECONDS) -> bool:
    """Kill what is left of this tree. True: nothing of it lives.

    False: the process belongs to another host, or something still lives after `seconds`; then
    nobody may start a second agent for the step. A pid that another process carries by now is left
    alone; processes with the tree's mark are killed in any case (never across a reboot).
    """
    if identity.host != socket.gethostname():
        return False
    if identity.boot_id != _boot_id():
        return True
    return not sweep(identity, seconds)


def sweep(identity: ProcessIdentity, seconds: float) -> list[int]:
    """Kill the tree of a process of this host and boot; the pids that live after `seconds`."""
    if not _BOOT_ID.exists():
        _kill_session(identity)
        return []
    deadline = time.monotonic() + seconds
    chased: dict[int, int] = {}
    while True:
        table = process_table()
        root = table.get(identity.pid)
        is_ours = root is not None and root.start_ticks == identity.start_ticks and root.alive
        if is_ours:
            chased.update(descendants(identity.pid, table))
        chased.update(marked(identity.mark) if identity.mark else {})
        chased.pop(identity.pid, None)
        living = [
            (pid, ticks)
            for pid, ticks in chased.items()
            if pid in table and table[pid].alive and table[pid].start_ticks == ticks
        ]
        # The root goes last: as a subreaper it keeps orphans where they can be found.
        if not living and is_ours:
            living = [(identity.pid, identity.start_ticks)]
        if not living:
            return []
        if time.monotonic() > deadline:
            return [pid for pid, _ in living]
        for pid, ticks in living:
            kill(pid, ticks)
        time.sleep(0.01)


def _kill_session(identity: ProcessIdentity) -> None:
    """Without /proc: the session that the root leads and the children known for it."""
    if _start_ticks(identity.pid) != identity.start_ticks:
        return
    for child in psutil.Process(identity.pid).children(recursive=True):
        child.kill()
    os.killpg(identity.pid, signal.SIGKILL)


def memory_of(root: int) -> int:
    """Bytes that `root` and all below it hold for themselves; shared pages are not counted, for
    every process of one program would count them again. 0 where there is no /proc."""
    return sum(_own_memory(pid) for pid in (root, *descendants(root, process_table())))


def _own_memory(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            fields = file.read().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE
