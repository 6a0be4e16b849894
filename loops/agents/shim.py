"""Runs one program so that nothing of its process tree outlives it or its supervisor.

    python -I -S shim.py REPORT LIFELINE MARK -- PROGRAM ARGUMENT...

Standard library only and no import of this project: it runs isolated, either as process 1 of a
sandbox (then its end is the end of every process in there) or alone as a subreaper (then it kills
what is left by itself: orphans are re-parented to it, whatever session they are in).

REPORT: descriptor for lines of text: "started", or "failed WHY"; then any number of
"survivor COMMAND LINE", then "exit CODE" (negative: that signal).
LIFELINE: descriptor of a pipe. The program starts after one byte came (its identity is on record
by then); at end of file, which the kernel delivers when the supervisor dies, everything is killed.
MARK: value of RUN_MARK in the environment of the tree.
Exit code 0: the whole tree is gone. Anything else: look for yourself.

The functions that read and kill processes are used by the supervisor too (tree.py). Every call of
every agent waits for this file to load: no import here that costs milliseconds.
"""

from __future__ import annotations

# The same without its enums, which take 10 ms to load.
import _signal as signal  # type: ignore[import-not-found]
import os
import select
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LONGEST_COMMAND_LINE = 300
MOST_SURVIVORS = 20
# Longer than the supervisor waits for this program before it looks for itself.
PATIENCE_SECONDS = 10.0
CANNOT_START = 127


class Process:
    """parent: pid; start_ticks: field 22 of /proc/<pid>/stat; alive: False for a zombie."""

    __slots__ = ("alive", "parent", "start_ticks")

    def __init__(self, parent: int, start_ticks: int, alive: bool) -> None:
        self.parent, self.start_ticks, self.alive = parent, start_ticks, alive


def process_table() -> dict[int, Process]:
    """All processes that /proc shows, by pid; empty where there is no /proc."""
    table = {}
    for name in _numbers_in_proc():
        process = read_process(int(name))
        if process is not None:
            table[int(name)] = process
    return table


def _numbers_in_proc() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def read_process(pid: int) -> Process | None:
    data = _read(f"/proc/{pid}/stat")
    # The name in parentheses may hold spaces and parentheses itself.
    fields = data.rpartition(b")")[2].split()
    if len(fields) < 20:
        return None
    # A zombie with more than one thread is a process whose first thread ended early: it runs on.
    alive = fields[0] not in (b"Z", b"X") or int(fields[17]) > 1
    return Process(parent=int(fields[1]), start_ticks=int(fields[19]), alive=alive)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def descendants(root: int, table: dict[int, Process]) -> dict[int, int]:
    """Living processes below root: pid -> start ticks."""
    children: dict[int, list[int]] = {}
    for pid, process in table.items():
        children.setdefault(process.parent, []).append(pid)
    found: dict[int, int] = {}
    todo = [root]
    while todo:
        for pid in children.get(todo.pop(), ()):
            todo.append(pid)
            if table[pid].alive:
                found[pid] = table[pid].start_ticks
    return found


def marked(mark: str) -> dict[int, int]:
    """Living processes whose environment at their start held RUN_MARK=mark: pid -> start ticks."""
    needle = b"RUN_MARK=" + os.fsencode(mark)
    found = {}
    for name in _numbers_in_proc():
        if needle in _read(f"/proc/{name}/environ").split(b"\0"):
            process = read_process(int(name))
            if process is not None and process.alive:
                found[int(name)] = process.start_ticks
    return found


def kill(pid: int, start_ticks: int) -> None:
    """SIGKILL for exactly this process, never for another that got its number meanwhile."""
    try:
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):  # gone; or a kernel or system without process handles
        handle = -1
    try:
        process = read_process(pid)
        if process is None or process.start_ticks != start_ticks:
            return
        if handle < 0:
            os.kill(pid, signal.SIGKILL)
        else:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        pass
    finally:
        if handle >= 0:
            os.close(handle)


def command_line(pid: int) -> str:
    text = _read(f"/proc/{pid}/cmdline").decode("utf-8", "replace")
    return " ".join(text.replace("\0", " ").split())[:LONGEST_COMMAND_LINE]


def _prctl(option: int, value: int) -> None:
    import ctypes  # slow to load, and not needed by process 1 of a sandbox

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _give_way_in_need() -> None:
    """Where memory runs out, the kernel ends an agent before the supervisor or its database."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        pass


def _start(argv: list[str], alone: bool) -> tuple[int, str]:
    """(pid, "") or (0, why it could not be executed)."""
    read_end, write_end = os.pipe()  # closed by the kernel at a successful exec
    # bubblewrap adds PWD; the environment is exactly what the caller listed.
    environment = {name: value for name, value in os.environb.items() if name != b"PWD"}
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            _give_way_in_need()
            if alone and sys.platform == "linux":
                _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGHUP, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.execvpe(argv[0], argv, environment)
        except OSError as error:
            os.write(write_end, os.fsencode(error.strerror or str(error)))
        finally:
            os._exit(CANNOT_START)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        why = pipe.read().decode("utf-8", "replace")
    return (0, why) if why else (pid, "")


def _reap(main: int) -> tuple[int | None, bool]:
    """(exit code of main if it ended now, whether any child is left)."""
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code, False
        if pid == 0:
            return code, True
        if pid == main:
            code = os.waitstatus_to_exitcode(status)


def _wait(main: int, lifeline: int, wake: int) -> tuple[int | None, bool]:
    """Until main ends, or the supervisor is gone (exit code None)."""
    poller = select.poll()
    poller.register(lifeline, select.POLLIN)
    poller.register(wake, select.POLLIN)
    while True:
        code, more = _reap(main)
        if code is not None:
            return code, more
        for descriptor, _ in poller.poll():
            if not os.read(descriptor, 512) and descriptor == lifeline:
                return None, True


def _end_tree(main: int, mark: str) -> bool:
    """Kill until the kernel says that no child is left, orphans included; then by mark."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    own = os.getpid()
    while time.monotonic() < deadline:
        if not _reap(main)[1] and not _kill_marked(mark, own):
            return True
        for pid, start_ticks in descendants(own, process_table()).items():
            kill(pid, start_ticks)
        if sys.platform != "linux":
            _kill_group(main)
        time.sleep(0.005)
    return False


def _kill_marked(mark: str, own: int) -> bool:
    found = marked(mark)
    found.pop(own, None)
    for pid, start_ticks in found.items():
        kill(pid, start_ticks)
    return bool(found)


def _kill_group(main: int) -> None:
    try:  # noqa: SIM105 (contextlib is slow to load)
        os.killpg(main, signal.SIGKILL)
    except OSError:
        pass


def _child_alarm() -> int:
    """A descriptor that becomes readable when a child ends."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return read_end


def main(arguments: list[str]) -> int:
    report, lifeline, mark, argv = int(arguments[0]), int(arguments[1]), arguments[2], arguments[4:]
    for descriptor in (report, lifeline):
        os.set_inheritable(descriptor, False)
    alone = os.getpid() != 1
    if alone and sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
    wake = _child_alarm()
    if not os.read(lifeline, 1):
        return 0

    def say(line: str) -> None:
        try:  # noqa: SIM105
            os.write(report, os.fsencode(line.replace("\n", " ") + "\n"))
        except OSError:
            pass  # the supervisor is gone; killing goes on

    program, why = _start(argv, alone)
    if not program:
        say(f"failed {why}")
        return 0
    say("started")
    code, more = _wait(program, lifeline, wake)
    if code is not None:
        left = descendants(os.getpid(), process_table()) if more else {}
        for line in [command_line(pid) for pid in left][:MOST_SURVIVORS]:
            say(f"survivor {line}")
        say(f"exit {code}")
    # The end of process 1 ends its whole sandbox, before anybody can see it ended.
    return 0 if not alone or _end_tree(program, mark) else 1


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # nothing is buffered; skips the interpreter's slow goodbye
