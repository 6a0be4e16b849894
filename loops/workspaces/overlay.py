"""A tree that differs from a known one in few files, made without the index of all the others.

Rewriting an index of 50,000 files costs more than looking at them; one small pack does the same.
"""

from __future__ import annotations

import hashlib
import tempfile
import zlib
from collections.abc import Collection, Iterator
from typing import IO

from loops.workspaces.store import Store
from loops.workspaces.tree_files import TreeFiles

# Beyond this it pays to bring the index up to date: each scan reads these files again.
MOST_FILES = 40
_TREE, _BLOB = 2, 3
_KINDS = {_TREE: b"tree", _BLOB: b"blob"}
_FOLDER = b"40000"

# What one folder holds: name -> (mode, id in bytes).
Entries = dict[bytes, tuple[bytes, bytes]]


class Overlay:
    """Only for the process that holds the session's lock."""

    def __init__(self, store: Store, files: TreeFiles) -> None:
        self._store = store
        self._files = files
        self._tree = ""
        self._texts: dict[bytes, bytes] = {}

    def suits(self, paths: Collection[bytes], most_bytes: int) -> bool:
        """Are these few enough, together small enough, and plainly named?"""
        if len(paths) > MOST_FILES or any(b"\n" in path for path in paths):
            return False
        found = (self._files.stat(path) for path in paths)
        return sum(one.st_size for one in found if one) <= most_bytes

    def write(self, tree: str, paths: Collection[bytes]) -> str:
        """Id of `tree` but with each of `paths` as it is on the disk now; kept in the store."""
        if not paths:
            return tree
        pack = _Pack("sha1" if len(tree) == 40 else "sha256")
        folders = {folder for path in paths for folder in _above(path)}
        held = {f: _parse(text, pack.id_size) for f, text in self._read(tree, folders).items()}
        for path in paths:
            folder, _, name = path.rpartition(b"/")
            held[folder].pop(name, None)
        for path in paths:
            folder, _, name = path.rpartition(b"/")
            content = self._files.content(path)
            if content:
                held[folder][name] = content[0].encode(), pack.add(_BLOB, content[1])
        root = pack.add(_TREE, self._join(held, pack))
        with tempfile.TemporaryFile() as file:
            pack.write(file)
            self._store.receive_own(file)
        return root.hex()

    def _read(self, tree: str, folders: set[bytes]) -> dict[bytes, bytes]:
        """git's text of each folder in `tree`, b"" if it is none; the index's tree is asked for
        the same ones again and again."""
        if tree != self._tree:
            self._tree, self._texts = tree, {}
        new = folders - self._texts.keys()
        if new:
            found = self._store.folders(tree, new)
            self._texts |= {folder: found.get(folder, b"") for folder in new}
        return {folder: self._texts[folder] for folder in folders}

    @staticmethod
    def _join(held: dict[bytes, Entries], pack: _Pack) -> bytes:
        """The root's text, once the folders below are in the pack, deepest first."""
        for folder in sorted(filter(None, held), key=lambda f: f.count(b"/"), reverse=True):
            above, _, name = folder.rpartition(b"/")
            if held[folder]:
                held[above][name] = _FOLDER, pack.add(_TREE, _text(held[folder]))
            elif held[above].get(name, (b"",))[0] == _FOLDER:
                del held[above][name]
        return _text(held[b""])


class _Pack:
    """Objects on their way into the store."""

    def __init__(self, algorithm: str) -> None:
        self._algorithm = algorithm
        self.id_size = hashlib.new(algorithm).digest_size
        self._objects: dict[bytes, bytes] = {}

    def add(self, kind: int, data: bytes) -> bytes:
        oid = self._digest(b"%s %d\0%s" % (_KINDS[kind], len(data), data))
        self._objects[oid] = _head(kind, len(data)) + zlib.compress(data, 1)
        return oid

    def write(self, file: IO[bytes]) -> None:
        start = b"PACK" + (2).to_bytes(4, "big") + len(self._objects).to_bytes(4, "big")
        body = b"".join([start, *self._objects.values()])
        file.write(body + self._digest(body))
        file.flush()

    def _digest(self, data: bytes) -> bytes:
        return hashlib.new(self._algorithm, data, usedforsecurity=False).digest()


def _head(kind: int, size: int) -> bytes:
    """Kind and size as git packs them: four bits of the size, then seven at a time."""
    head = [kind << 4 | size & 15]
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head)


def _above(path: bytes) -> Iterator[bytes]:
    """The folders that hold `path`, up to the root b""."""
    while path:
        path = path.rpartition(b"/")[0]
        yield path


def _parse(text: bytes, id_size: int) -> Entries:
    entries: Entries = {}
    at = 0
    while at < len(text):
        end = text.index(b"\0", at)
        mode, name = text[at:end].split(b" ", 1)
        at = end + 1 + id_size
        entries[name] = mode, text[end + 1 : at]
    return entries


def _text(entries: Entries) -> bytes:
    """git sorts a folder as if its name ended with a slash."""
    ordered = sorted(entries.items(), key=lambda e: e[0] + b"/" * (e[1][0] == _FOLDER))
    return b"".join(b"%s %s\0%s" % (mode, name, oid) for name, (mode, oid) in ordered)
