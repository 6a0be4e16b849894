"""Files in an agent's HOME, where an earlier call of the agent may have put links in our way.

Nothing is followed: a link that stands where a folder or a file belongs is replaced, so neither a
write nor a read leaves the HOME.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
MOST_BYTES = 1024 * 1024


def write(home: Path, name: str, data: bytes) -> None:
    """Put a file at `name` (relative, folders are made), readable by its owner only. OSError where
    the disk refuses."""
    path = PurePosixPath(name)
    with _folder(home, path.parent, make=True) as folder:
        draft = f".{secrets.token_hex(8)}"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        with contextlib.suppress(IsADirectoryError, FileNotFoundError):
            if _is_folder(path.name, folder):
                shutil.rmtree(path.name, dir_fd=folder)
        os.replace(draft, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def read(home: Path, name: str) -> bytes | None:
    """A plain file of at most 1 MiB, else None."""
    path = PurePosixPath(name)
    try:
        with _folder(home, path.parent, make=False) as folder:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            handle = os.open(path.name, flags, dir_fd=folder)
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    return None
                data = file.read(MOST_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= MOST_BYTES else None


def clear(home: Path, names: Iterable[str]) -> None:
    """Remove files and whole folders; what is not there is no fault."""
    for name in names:
        path = PurePosixPath(name)
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
            _folder(home, path.parent, make=False) as folder,
        ):
            if _is_folder(path.name, folder):
                shutil.rmtree(path.name, dir_fd=folder, ignore_errors=True)
            else:
                os.unlink(path.name, dir_fd=folder)


@contextlib.contextmanager
def _folder(home: Path, inside: PurePosixPath, *, make: bool) -> Iterator[int]:
    if inside.is_absolute() or ".." in inside.parts:
        raise ValueError(f"{inside} leads out of the home")
    folder = os.open(home, _FOLDER)
    try:
        for part in inside.parts:
            if make and not _is_folder(part, folder):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(part, dir_fd=folder)
                os.mkdir(part, 0o700, dir_fd=folder)
            deeper = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = deeper
        yield folder
    finally:
        os.close(folder)


def _is_folder(name: str, inside: int) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=inside, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False
