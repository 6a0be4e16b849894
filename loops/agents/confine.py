"""The sandbox around every program that an agent wrote, steers or is.

With bubblewrap the whole file system is read-only, hidden folders are empty, /tmp is the call's
own, and the sandbox dies with the thread that started it. Where bubblewrap does not work (some
containers, macOS) the mode is "shim": `confine` changes nothing, and only the process tree is held
together (shim.py). The pages must say so: there an agent could act as the person.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path

from tracker.errors import Invalid

SETTING = "LOOPWATCH_CONFINEMENT"
_PROBE_SECONDS = 20
# Which of two mounts on one path counts: the later one.
_HIDE, _SHOW, _WRITE = range(3)


class Confinement(StrEnum):
    BUBBLEWRAP = "bubblewrap"
    SHIM = "shim"


def probe_bubblewrap() -> str:
    """ "" if the whole profile works here, else why not. Installed is not working: it is run."""
    if shutil.which("bwrap") is None:
        return "bubblewrap (bwrap) is not installed"
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        for name in ("hidden", "hidden/own", "tmp"):
            (base / name).mkdir()
        (base / "hidden/secret").touch()
        check = (
            "test ! -e hidden/secret && touch hidden/own/file && ! touch hidden/file 2>/dev/null"
            " && test -w /dev/null && grep -q '^[^/]*[^ ]* / ro[ ,]' /proc/self/mountinfo"
        )
        argv = confine(
            ["/bin/sh", "-c", check],
            cwd=base,
            writable=[base / "hidden/own"],
            hidden=[base / "hidden"],
            tmp=base / "tmp",
            network=False,
            mode=Confinement.BUBBLEWRAP,
        )
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode == 0:
            return ""
        return done.stderr.decode("utf-8", "replace").strip() or "the profile does not hold"


@functools.cache
def _failure(probe: Callable[[], str]) -> str:
    return probe()


def confinement(probe: Callable[[], str] = probe_bubblewrap) -> Confinement:
    """How agents are confined on this host; the probe runs once per process.

    LOOPWATCH_CONFINEMENT=bubblewrap|shim overrides it. Raises Invalid for any other value, and
    where bubblewrap is demanded but does not work.
    """
    wanted = os.environ.get(SETTING, "")
    if wanted not in ("", *Confinement):
        raise Invalid(f'{SETTING} is "{wanted}"; set it to bubblewrap or shim, or leave it out.')
    if wanted == Confinement.SHIM:
        return Confinement.SHIM
    failure = _failure(probe)
    if not failure:
        return Confinement.BUBBLEWRAP
    if wanted:
        raise Invalid(
            f"{SETTING} demands bubblewrap, which does not work here: {failure}. "
            "Install or allow it, or set the variable to shim."
        )
    return Confinement.SHIM


def confine(
    argv: Sequence[str],
    *,
    cwd: Path,
    writable: Iterable[Path] = (),
    readable: Iterable[Path] = (),
    hidden: Iterable[Path] = (),
    tmp: Path | None = None,
    network: bool = True,
    programs: Iterable[Path] = (),
    mode: Confinement | None = None,
    as_init: bool = False,
) -> list[str]:
    """The command line that runs `argv` inside the sandbox, in `cwd`.

    writable: existing folders or files. hidden: appear empty. readable: visible and read-only even
    inside a hidden or writable folder; so are the running Python and the program of argv. The
    deeper path wins over the folder around it. tmp: what /tmp is in there (none: an empty one that
    is forgotten). network=False: not even the loopback; Unix sockets in the file system still work.
    programs: files that argv will execute; visible as the program of argv is.
    mode: None = what `confinement()` says; in mode shim argv comes back as it is.
    as_init: argv is process 1 of its own process space and must reap orphans; its end is then the
    end of every process in there.

    The sandbox dies with the THREAD that starts it: start it from the thread that waits for it.
    Give it an environment and stdin of its own; it inherits both, and the open descriptors that
    the starting call passes on.
    """
    mode = mode or confinement()
    if mode is Confinement.SHIM:
        return list(argv)
    # os.path: what this user may not even look for needs no mask.
    masked = [_real(path) for path in hidden if os.path.exists(path)]
    readable, writable = [_real(path) for path in readable], [_real(path) for path in writable]
    mounts = [(path, _HIDE, _mask(path)) for path in masked]
    mounts.append((Path("/tmp"), _HIDE, ["--bind", str(_real(tmp))] if tmp else ["--tmpfs"]))
    started = [*_program(argv[0]), *programs]
    for path in _needed(started, masked=[*masked, Path("/tmp")], opened=[*readable, *writable]):
        mounts.append((path, _SHOW, ["--ro-bind", str(path)]))
    mounts += [(path, _SHOW, ["--ro-bind", str(path)]) for path in readable]
    mounts += [(path, _WRITE, ["--bind", str(path)]) for path in writable]
    command = ["bwrap", "--die-with-parent", "--unshare-pid", "--cap-drop", "ALL"]
    command += ["--as-pid-1"] if as_init else []
    command += [] if network else ["--unshare-net"]
    command += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path, _, option in sorted(mounts, key=lambda mount: (len(mount[0].parts), mount[1])):
        command += [*option, str(path)]
    for path in masked:
        # Writes into the empty stand-in would be lost in silence.
        command += ["--remount-ro", str(path)] if path.is_dir() else []
    return [*command, "--chdir", str(_real(cwd)), "--", *argv]


def _real(path: Path) -> Path:
    """Mounts go to places, not to links: bubblewrap would follow a link out of its own root."""
    return Path(os.path.realpath(path))


def _mask(path: Path) -> list[str]:
    return ["--tmpfs"] if path.is_dir() else ["--ro-bind", "/dev/null"]


def _program(name: str) -> list[Path]:
    found = shutil.which(name)
    return [Path(found)] if found else []


def _needed(programs: list[Path], *, masked: list[Path], opened: list[Path]) -> list[Path]:
    """What the masks would take away from the running Python and from the programs."""
    shown: list[Path] = []
    for named in (Path(sys.prefix), Path(sys.base_prefix), *programs):
        for path in (Path(os.path.abspath(named)), _real(named)):
            is_masked = any(path.is_relative_to(mask) for mask in masked)
            # A mount point that is a link in an opened folder would lead out of the new root.
            if is_masked and not any(path.is_relative_to(place) for place in (*opened, *shown)):
                shown.append(path)
    return shown
