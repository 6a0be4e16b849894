"""The content of the clone as a git tree, by the engine's own index of it.

The index lives in a git directory of its own (`scan.git`) whose attributes switch every
conversion off, so that a tree holds exactly the bytes on disk and can be put back byte by byte.
git is used as a fast scanner of what changed; what counts is decided here.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from loops.workspaces.engine_git import EngineGit, GitFailed
from loops.workspaces.exclusions import Exclusions
from loops.workspaces.memory import Memory
from loops.workspaces.overlay import Overlay
from loops.workspaces.store import Change, Store
from loops.workspaces.tree_files import TreeFiles

LARGE_BYTES = 50_000_000
OVERLAY_BYTES = 2_000_000
# git compares whole seconds: a file hashed within the second of its last change could change
# again unseen (same size, forged mtime). Such files are hashed again at the next scan.
RECENT_SECONDS = 2.0
SCAN_SECONDS = 600.0
LARGE_MARK = b"A large untracked file, known to Loopwatch by size and time only: "


@dataclass(slots=True)
class Wrong:
    """How a tree differs from what it should hold. untracked: files that rightly are in it though
    HEAD has not got them."""

    drop: set[bytes]
    add: list[bytes]
    now_tracked: list[bytes]
    untracked: int

    def any(self) -> bool:
        return bool(self.drop or self.add or self.now_tracked)


class Scanner:
    """folder: `scan.git`. Only the process that holds the session's lock may use it."""

    def __init__(self, folder: Path, clone: Path, store: Store, exclusions: Exclusions) -> None:
        self._folder = folder
        self._unfinished = folder / "unfinished"
        self._exclusions = exclusions
        self._store = store
        self._files = TreeFiles(clone)
        self._overlay = Overlay(store, self._files)
        self.git = EngineGit(
            folder,
            work_tree=clone,
            objects=store.path / "objects",
            extra_env={"GIT_OPTIONAL_LOCKS": "1"},
        )

    def prepare(self, object_format: str) -> None:
        """Make `scan.git` anew; the next scan then hashes everything."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        EngineGit(self._folder)(
            "init", "-q", "--bare", "--template=", f"--object-format={object_format}"
        )
        for name, value in (
            ("core.bare", "false"),
            ("core.untrackedCache", "true"),
            ("index.version", "4"),
            ("status.showUntrackedFiles", "all"),
        ):
            self.git("config", name, value)
        info = self._folder / "info"
        info.mkdir()
        off = "* -text !eol -ident -filter !working-tree-encoding !diff\n"
        (info / "attributes").write_text(off)
        (info / "exclude").write_text(self._exclusions.as_ignore_file())

    def adopt_index(self, index: Path) -> None:
        """Start from the index of a checkout that is ours alone and that converted nothing."""
        shutil.copyfile(index, self._folder / "index")
        listed = self.git("ls-files", "-z").split(b"\0")
        self._drop(path for path in listed if path and path in self._exclusions)

    def drop_stale_lock(self) -> None:
        (self._folder / "index.lock").unlink(missing_ok=True)

    def scan(self, head: str, memory: Memory) -> str:
        """Tree id of the content now; `memory` is brought up to date. head: commit in the store
        that says what is tracked. GitFailed if the index is broken: prepare() and scan again."""
        if self._unfinished.exists():
            raise GitFailed("a scan was interrupted")
        touched, pending = self._touched(memory)
        if pending or not self._is_overlaid(touched, head, memory):
            self._bring_index_up(touched, head, memory)
        return memory.tree

    def _is_overlaid(self, touched: dict[bytes, bool], head: str, memory: Memory) -> bool:
        """Few files differ from the index: the tree is made without writing the index, and the
        next scan finds these files again. False: nothing was done."""
        most = min(OVERLAY_BYTES, LARGE_BYTES)
        if not memory.indexed or any(touched.values()) or not self._overlay.suits(touched, most):
            return False
        tree = self._overlay.write(memory.indexed, touched)
        if (tree, head) != (memory.tree, memory.head) or memory.untracked:
            wrong = self._wrong(head, tree, memory)
            if wrong.any():
                return False
            memory.tree, memory.head, memory.untracked = tree, head, wrong.untracked
        return True

    def _bring_index_up(self, touched: dict[bytes, bool], head: str, memory: Memory) -> None:
        # Until `memory` is saved the index is ahead of it: remember() takes the mark away.
        self._unfinished.touch()
        self._take_in(touched, head, memory)
        tree = self.git.text("write-tree")
        wrong = self._wrong(head, tree, memory)
        if wrong.any():
            for path in (*wrong.drop, *wrong.now_tracked):
                memory.large.pop(os.fsdecode(path), None)
            self._drop([*wrong.drop, *wrong.now_tracked])
            self._add([*wrong.add, *wrong.now_tracked])
            tree = self.git.text("write-tree")
        memory.tree = memory.indexed = tree
        memory.head, memory.untracked = head, wrong.untracked

    def _status(self) -> bytes:
        args = ["--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]
        args.append("--ignore-submodules=all")
        done = self.git.attempt("status", *args, timeout=SCAN_SECONDS)
        if b"Permission denied" in done.err:
            # git passes over what it cannot read, so an agent could hide files by their modes.
            self._files.make_readable()
            done = self.git.attempt("status", *args, timeout=SCAN_SECONDS)
        if done.code != 0:
            raise GitFailed(f"git status: {done.words}")
        return done.out

    def _touched(self, memory: Memory) -> tuple[dict[bytes, bool], bool]:
        """(path to look at -> must git be made to forget it first, does the index hold changes
        that no snapshot has yet)."""
        touched: dict[bytes, bool] = {}
        pending = False
        for line in filter(None, self._status().split(b"\0")):
            code, path = line[:2], line[3:]
            pending = pending or code[:1] not in b" ?"
            if path.endswith(b"/"):
                touched |= dict.fromkeys(self._nested(path.rstrip(b"/")), False)
            elif code[1:] != b" " and path not in self._exclusions:
                touched[path] = False
        for name, oid in memory.recent.items():
            path = os.fsencode(name)
            if path not in touched and self._hash(path) != oid:
                touched[path] = True
        for name, known in memory.large.items():
            if self._size_and_time(os.fsencode(name)) != known:
                touched[os.fsencode(name)] = True
        return touched, pending

    def _nested(self, folder: bytes) -> Iterator[bytes]:
        """Files of a nested repository as plain files, without its `.git`."""
        level = [folder]
        while level:
            files: list[bytes] = []
            folders: list[bytes] = []
            for parent in level:
                for path, is_folder in self._files.below(parent):
                    if path.endswith(b"/.git") or path in self._exclusions:
                        continue
                    if not is_folder:
                        files.append(path)
                    elif not self._exclusions.covers_folder(path):
                        folders.append(path)
            ignored = self._ignored([*files, *folders])
            yield from (path for path in files if path not in ignored)
            level = [path for path in folders if path not in ignored]

    def _ignored(self, paths: Iterable[bytes]) -> set[bytes]:
        # "./" keeps a name that begins with ":" from being read as pathspec magic.
        data = b"".join(b"./" + path + b"\0" for path in paths)
        if not data:
            return set()
        out = self.git(
            *("check-ignore", "-z", "--stdin", "--no-index"),
            data=data,
            answers=(0, 1),
            env={"GIT_LITERAL_PATHSPECS": "0"},
        )
        return {path[2:] for path in out.split(b"\0") if path}

    def _take_in(self, touched: dict[bytes, bool], head: str, memory: Memory) -> None:
        memory.recent = {n: i for n, i in memory.recent.items() if os.fsencode(n) not in touched}
        large = self._large(touched, head)
        was_large = [p for p in touched if memory.large.pop(os.fsdecode(p), None)]
        self._drop([*(p for p, forget in touched.items() if forget), *was_large])
        plain = [p for p in touched if p not in large and self._files.is_content(p)]
        self._drop(p for p in touched if p not in large and not self._files.is_content(p))
        self._add(plain)
        self._add_large(large, memory)
        now = time.time()
        for path in plain:
            found = self._files.stat(path)
            if found and now - found.st_ctime < RECENT_SECONDS:
                memory.recent[os.fsdecode(path)] = self._hash(path)

    def _large(self, touched: Iterable[bytes], head: str) -> dict[bytes, tuple[int, int, str]]:
        known = {p: self._size_and_time(p) for p in touched}
        over = {p: k for p, k in known.items() if k and k[0] > LARGE_BYTES}
        tracked = self._store.blobs(head, over) if over else {}
        return {p: k for p, k in over.items() if p not in tracked}

    def _size_and_time(self, path: bytes) -> tuple[int, int, str] | None:
        found = self._files.stat(path)
        if not found or not stat.S_ISREG(found.st_mode):
            return None
        return found.st_size, found.st_mtime_ns, "100755" if found.st_mode & 0o100 else "100644"

    def _hash(self, path: bytes) -> str:
        """Fingerprint of one file's bytes, kind and mode, for ourselves alone."""
        found = self._files.stat(path)
        if not found or not self._files.is_content(path):
            return ""
        kind = f"{stat.S_IFMT(found.st_mode):o}-{bool(found.st_mode & 0o100)}"
        return f"{self._files.digest(path)}-{kind}"

    def _add(self, paths: Iterable[bytes]) -> None:
        self._update(paths, "--add", "--replace", "--stdin")

    def _drop(self, paths: Iterable[bytes]) -> None:
        self._update(paths, "--force-remove", "--stdin")

    def _update(self, paths: Iterable[bytes], *how: str) -> None:
        data = b"".join(path + b"\0" for path in paths)
        if data:
            self.git("update-index", "-z", *how, data=data, timeout=SCAN_SECONDS)

    def _add_large(self, large: dict[bytes, tuple[int, int, str]], memory: Memory) -> None:
        if not large:
            return
        entries = b""
        for path, (size, mtime, mode) in large.items():
            text = LARGE_MARK + f"{size} bytes, changed at {mtime} ns\n".encode()
            oid = self.git("hash-object", "-w", "--stdin", data=text).strip()
            entries += mode.encode() + b" " + oid + b"\t" + path + b"\0"
            memory.large[os.fsdecode(path)] = (size, mtime, mode)
        self.git("update-index", "-z", "--replace", "--index-info", data=entries)
        # Else git would read the whole file at every scan to compare it with the words above.
        self._update(large, "--skip-worktree", "--stdin")

    def _wrong(self, head: str, tree: str, memory: Memory) -> Wrong:
        """What is tracked or ignored is judged by HEAD and the ignore files as they are now, so
        that a tree depends on the content and HEAD, not on history."""
        changes = self._store.changes(head, tree)
        untracked = [c.path for c in changes if c.added]
        drop = self._ignored(untracked)
        return Wrong(
            drop=drop,
            add=[c.path for c in changes if self._is_tracked_but_ignored(c)],
            now_tracked=self._committed_large(memory, untracked),
            untracked=len(untracked) - len(drop),
        )

    def _is_tracked_but_ignored(self, change: Change) -> bool:
        return (
            change.deleted
            and change.old_mode != "160000"
            and change.path not in self._exclusions
            and self._files.is_content(change.path)
        )

    def _committed_large(self, memory: Memory, untracked: Iterable[bytes]) -> list[bytes]:
        """Large files that HEAD holds by now: they count by content from here on."""
        return sorted({os.fsencode(name) for name in memory.large} - set(untracked))

    def remember(self, commit: str) -> None:
        """`memory` is saved: let git compare the index with `commit`, the snapshot just kept, so
        that it lists what changed since and nothing else."""
        self._unfinished.unlink(missing_ok=True)
        if (self._folder / "HEAD").read_text().strip() == commit:
            return
        part = self._folder / "HEAD.part"
        part.write_text(commit + "\n")
        os.replace(part, self._folder / "HEAD")
