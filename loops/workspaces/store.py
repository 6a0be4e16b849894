"""The project's store: the engine's own bare repository of snapshots and session branches."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from loops.workspaces import locks
from loops.workspaces.engine_git import EngineGit, GitFailed
from loops.workspaces.values import Unusable, shown

LOCK_SECONDS = 600.0
FETCH_SECONDS = 1800.0
# As git's own fetch does: small packs become loose objects, so that packs do not pile up.
UNPACK_LIMIT = 100
MOST_KEPT = 2
DIFF_LIMIT = 20_000_000
_REF = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
HEX = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs between two trees. Modes "000000" and ids of zeros mean absent."""

    path: bytes
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str

    @property
    def added(self) -> bool:
        return self.old_mode == "000000"

    @property
    def deleted(self) -> bool:
        return self.new_mode == "000000"


class Store:
    """path: `store.git`; every write of a ref happens under the lock file beside it, so a lock
    file of git's that is found while holding it was left by a process that died."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git = EngineGit(path)
        self._lock = path.parent / "store.lock"
        # A boundary asks for the same differences more than once; ids never change their meaning.
        self._changes: OrderedDict[tuple[str, str], Sequence[Change]] = OrderedDict()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One writer per project at a time (O12). May be nested."""
        if self.git.lock_fd is not None:
            yield
            return
        with locks.held(self._lock, timeout=LOCK_SECONDS) as fd:
            self.git.lock_fd = fd
            try:
                yield
            finally:
                self.git.lock_fd = None

    def prepare(self, object_format: str) -> None:
        """Make it if it is not there; remove lock files of the dead. Call it locked."""
        if not (self.path / "loopwatch-ready").exists():
            self.path.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", "--bare", "--template=", f"--object-format={object_format}")
            (self.path / "loopwatch-ready").touch()
        for folder in ("refs", "objects/info"):
            for stale in (self.path / folder).rglob("*.lock"):
                stale.unlink(missing_ok=True)
        for stale in self.path.glob("*.lock"):
            stale.unlink(missing_ok=True)

    def fetch_source(self, source: Path, base_ref: str, *, env: Mapping[str, str]) -> str:
        """Take HEAD, branches and tags of the source; its HEAD is kept as `base_ref`, returned."""
        self.git(
            *(
                "fetch",
                "-q",
                "--force",
                "--prune",
                "--no-write-fetch-head",
                "--no-recurse-submodules",
            ),
            *("--no-tags", "--upload-pack=git-upload-pack", "--", str(source)),
            f"+HEAD:{base_ref}",
            "+refs/heads/*:refs/remotes/source/*",
            "+refs/tags/*:refs/tags/*",
            timeout=FETCH_SECONDS,
            env=env,
        )
        return self.commit(base_ref)

    def commit(self, name: str) -> str:
        """Full id of a commit of the store, or "" if it has none of that name."""
        done = self.git.attempt("rev-parse", "-q", "--verify", f"{name}^{{commit}}")
        return done.out.decode().strip() if done.code == 0 else ""

    def commit_by_id(self, name: str) -> str:
        """As `commit`, for an id that an agent gave: anything but an id names nothing."""
        return self.commit(name) if HEX.fullmatch(name) else ""

    def has_tree(self, rev: str) -> bool:
        done = self.git.attempt("cat-file", "-t", rev) if HEX.fullmatch(rev) else None
        return done is not None and done.out.strip() == b"tree"

    def tree_of(self, commit: str) -> str:
        return self.git.text("rev-parse", "--verify", f"{commit}^{{tree}}")

    def set_refs(self, refs: Mapping[str, str]) -> None:
        lines = "".join(f"update {name}\0{value}\0\0" for name, value in refs.items())
        with self.locked():
            try:
                self.git("update-ref", "-z", "--stdin", data=lines.encode())
            except GitFailed:
                self.prepare("")  # a lock file of a dead process; nobody alive holds one now
                self.git("update-ref", "-z", "--stdin", data=lines.encode())

    def keep(self, tree: str, parents: Iterable[str], message: str) -> str:
        """A commit that keeps `tree` and `parents` from being collected; its id."""
        links = [part for parent in parents for part in ("-p", parent)]
        return self.git.text("commit-tree", *links, "-m", message, tree)

    def receive(self, pack: IO[bytes]) -> None:
        """Take in a pack from an agent's repository; GitFailed if anything in it is broken, or if
        it links to an object that is neither in it nor here."""
        # The child reads the descriptor itself: nothing of it may sit in a buffer of ours.
        os.lseek(pack.fileno(), 0, os.SEEK_SET)
        header = os.pread(pack.fileno(), 12, 0)
        if header[:4] != b"PACK":
            raise GitFailed("what came is no pack of objects")
        if int.from_bytes(header[8:12], "big") < UNPACK_LIMIT:
            args = ("unpack-objects", "-q", "--strict")
        else:
            args = ("index-pack", "--strict", "--stdin")
        done = self.git.attempt(*args, source=pack, timeout=FETCH_SECONDS)
        if done.code != 0:
            raise GitFailed(f"the commits did not pass the check: {done.words}")

    def receive_own(self, pack: IO[bytes]) -> None:
        """Take in a small pack that the engine itself made."""
        os.lseek(pack.fileno(), 0, os.SEEK_SET)
        done = self.git.attempt("unpack-objects", "-q", source=pack)
        if done.code != 0:
            raise GitFailed(f"git unpack-objects: {done.words}")

    def changes(self, old: str, new: str) -> Sequence[Change]:
        """Paths whose mode or content differ between two trees (or commits), given by full id."""
        if old == new:
            return ()
        if (old, new) not in self._changes:
            while len(self._changes) >= MOST_KEPT:
                self._changes.popitem(last=False)
            self._changes[old, new] = self._compare(old, new)
        return self._changes[old, new]

    def _compare(self, old: str, new: str) -> Sequence[Change]:
        out = self.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
        parts = out.split(b"\0")
        found = []
        for meta, path in zip(parts[0::2], parts[1::2], strict=False):
            old_mode, new_mode, old_id, new_id, _ = meta[1:].decode().split(" ")
            found.append(Change(path, old_mode, new_mode, old_id, new_id))
        return found

    def blobs(self, tree: str, paths: Iterable[bytes]) -> dict[bytes, str]:
        """Blob id of each path that is a file in `tree`."""
        wanted = list(paths)
        found: dict[bytes, str] = {}
        for start in range(0, len(wanted), 500):
            out = self.git("ls-tree", "-z", tree, "--", *wanted[start : start + 500])
            for line in filter(None, out.split(b"\0")):
                meta, path = line.split(b"\t", 1)
                kind, oid = meta.decode().split(" ")[1:3]
                if kind == "blob":
                    found[path] = oid
        return found

    def contents(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Content of blobs; GitFailed if one is missing."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, bytes] = {}
        for oid, (kind, data) in zip(
            wanted, self._objects(i.encode() for i in wanted), strict=True
        ):
            if not kind:
                raise GitFailed(f"the store has lost the content {oid}")
            found[oid] = data
        return found

    def folders(self, tree: str, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """git's text of each path that is a folder in `tree`. No path may hold a line break."""
        wanted = list(paths)
        objects = self._objects(tree.encode() + b":" + path for path in wanted)
        pairs = zip(wanted, objects, strict=True)
        return {path: data for path, (kind, data) in pairs if kind == b"tree"}

    def _objects(self, names: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """(kind, content) of each, both empty if it is missing."""
        asked = list(names)
        out = self.git("cat-file", "--batch", data=b"".join(name + b"\n" for name in asked))
        at = 0
        for name in asked:
            end = out.index(b"\n", at)
            if out[at:end] == name + b" missing":
                yield b"", b""
                at = end + 1
                continue
            _, kind, size = out[at:end].split(b" ")
            yield kind, out[end + 1 : end + 1 + int(size)]
            at = end + 1 + int(size) + 1

    def diff(self, old: str, new: str) -> str:
        """The difference as text for people; cut with a sentence at 20 MB."""
        done = self.git.attempt(
            *("diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color"),
            *(old, new),
            limit=DIFF_LIMIT,
        )
        if done.code != 0 and not done.too_long:
            raise GitFailed(f"git diff-tree: {done.words}")
        text = done.out.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
        return text + ("\n(The rest is left out: over 20 MB.)\n" if done.too_long else "")

    def write_patch(self, old: str, new: str, path: Path) -> None:
        """git itself writes the file: a patch may be larger than what fits in memory."""
        self.git(
            *("diff-tree", "-p", "-r", "--binary", "--full-index", "--no-ext-diff"),
            *("--no-textconv", "--no-color", f"--output={path}", old, new),
            timeout=FETCH_SECONDS,
        )

    def not_in(self, commits: Iterable[str], head: str, base: str) -> frozenset[str]:
        """Those of `commits` (full ids) that are neither reachable from head nor have a commit
        of equal patch-id between base and head."""
        away = [commit for commit in commits if not self._is_ancestor(commit, head)]
        if not away:
            return frozenset()
        here = set(self._patch_ids("rev-list", "--no-merges", head, f"^{base}"))
        return frozenset(
            commit
            for commit in away
            if not here.intersection(self._patch_ids("rev-list", "-1", "--no-merges", commit))
        )

    def _is_ancestor(self, commit: str, head: str) -> bool:
        return self.git.attempt("merge-base", "--is-ancestor", commit, head).code == 0

    def _patch_ids(self, *rev_list: str) -> list[str]:
        ids = self.git(*rev_list)
        patches = self.git("diff-tree", "--stdin", "-p", "--root", data=ids)
        out = self.git("patch-id", "--stable", data=patches).decode()
        return [line.split(" ")[0] for line in out.splitlines()]


def checked_ref(session_ref: str) -> str:
    """A session reference that may stand in a ref's name; Unusable otherwise."""
    if not _REF.fullmatch(session_ref) or ".." in session_ref or session_ref.endswith(".lock"):
        raise Unusable(f"{shown(session_ref.encode())!r} cannot name a session's branch.")
    return session_ref
