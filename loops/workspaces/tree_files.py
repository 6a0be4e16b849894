"""Reads and writes below one folder without ever following a symbolic link.

An agent may have put links anywhere in its clone; the engine's hands must stay inside it.
Paths are bytes relative to the folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TreeFiles:
    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def _parent(self, path: bytes) -> Iterator[tuple[int, bytes]]:
        """The open folder of `path` and its last name; OSError if a link or file is on the way."""
        *folders, name = path.split(b"/")
        fd = os.open(self.root, _FOLDER)
        try:
            for folder in folders:
                inner = os.open(folder, _FOLDER, dir_fd=fd)
                os.close(fd)
                fd = inner
            yield fd, name
        finally:
            os.close(fd)

    def stat(self, path: bytes) -> os.stat_result | None:
        """lstat; None if there is nothing, or if the way to it leads through a link or a file."""
        try:
            with self._parent(path) as (fd, name):
                return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except OSError:
            return None

    def is_content(self, path: bytes) -> bool:
        """Is it what git can hold: a regular file or a symbolic link?"""
        found = self.stat(path)
        return found is not None and (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode))

    def digest(self, path: bytes) -> str:
        """Fingerprint of a file's content or of a link's target, in bounded memory."""
        with self._parent(path) as (fd, name):
            if stat.S_ISLNK(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                target = os.fsencode(os.readlink(name, dir_fd=fd))
                return hashlib.blake2b(target, digest_size=20).hexdigest()
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, dir_fd=fd), "rb") as file:
                return hashlib.file_digest(
                    file, lambda: hashlib.blake2b(digest_size=20)
                ).hexdigest()

    def content(self, path: bytes) -> tuple[str, bytes] | None:
        """(git's mode, all bytes) of a regular file or a link; None if there is neither."""
        found = self.stat(path)
        if found is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
            return None
        with self._parent(path) as (fd, name):
            if stat.S_ISLNK(found.st_mode):
                return "120000", os.fsencode(os.readlink(name, dir_fd=fd))
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, dir_fd=fd), "rb") as file:
                return "100755" if found.st_mode & 0o100 else "100644", file.read()

    def make_readable(self) -> None:
        """Give the owner back the right to read every file and to use every folder."""
        folders = [self.root]
        while folders:
            folder = folders.pop()
            own = os.lstat(folder).st_mode & 0o7777
            if own & 0o700 != 0o700:
                os.chmod(folder, own | 0o700)
            with os.scandir(folder) as entries:
                for entry in entries:
                    mode = entry.stat(follow_symlinks=False).st_mode
                    if stat.S_ISDIR(mode):
                        folders.append(Path(entry.path))
                    elif stat.S_ISREG(mode) and not mode & 0o400:
                        os.chmod(entry.path, mode & 0o7777 | 0o400)

    def remove(self, path: bytes) -> None:
        """Remove one file or link and the folders that it leaves empty."""
        try:
            with self._parent(path) as (fd, name):
                os.unlink(name, dir_fd=fd)
        except (FileNotFoundError, NotADirectoryError):
            return
        self._prune(path)

    def _prune(self, path: bytes) -> None:
        while b"/" in path:
            path = path.rsplit(b"/", 1)[0]
            try:
                with self._parent(path) as (fd, name):
                    os.rmdir(name, dir_fd=fd)
            except OSError:
                return

    def write(self, path: bytes, mode: str, content: bytes) -> None:
        """Put back one file as git tree mode `mode` says. What stands in the way as a file or a
        link is removed; a folder that is not empty raises OSError."""
        self._make_parents(path)
        with self._parent(path) as (fd, name):
            self._clear(fd, name)
            if mode == "120000":
                os.symlink(content, name, dir_fd=fd)
                return
            bits = 0o777 if mode == "100755" else 0o666
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, bits, dir_fd=fd), "wb") as file:
                file.write(content)

    def _clear(self, fd: int, name: bytes) -> None:
        try:
            if stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                os.rmdir(name, dir_fd=fd)
            else:
                os.unlink(name, dir_fd=fd)
        except FileNotFoundError:
            pass

    def _make_parents(self, path: bytes) -> None:
        parts = path.split(b"/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = b"/".join(parts[:depth])
            with self._parent(folder) as (fd, name):
                try:
                    os.mkdir(name, 0o777, dir_fd=fd)
                except FileExistsError:
                    if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                        os.unlink(name, dir_fd=fd)
                        os.mkdir(name, 0o777, dir_fd=fd)

    def move(self, path: bytes, to: Path) -> None:
        """Move one file, link or folder to `to` (same file system), its old empty folders gone."""
        to.parent.mkdir(parents=True, exist_ok=True)
        with self._parent(path) as (fd, name):
            os.rename(name, to, src_dir_fd=fd)
        self._prune(path)

    def below(self, folder: bytes) -> Iterator[tuple[bytes, bool]]:
        """(path, is_folder) of what lies directly in `folder`; nothing if it cannot be read."""
        try:
            with self._parent(folder + b"/.") as (fd, _), os.scandir(fd) as entries:
                found = [(os.fsencode(e.name), e.is_dir(follow_symlinks=False)) for e in entries]
        except OSError:
            return
        for name, is_folder in sorted(found):
            yield folder + b"/" + name, is_folder
