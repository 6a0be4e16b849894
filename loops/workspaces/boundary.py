"""The end of an iteration: what it did to the clone, and what of that may stay."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from loops.workspaces.confined_git import BrokenClone, Head
from loops.workspaces.engine_git import EngineGit
from loops.workspaces.paths import Paths
from loops.workspaces.restore import Restorer
from loops.workspaces.stamps import Stamper
from loops.workspaces.store import Change
from loops.workspaces.tree_files import TreeFiles
from loops.workspaces.values import Boundary, Tree, shown


class BoundaryJudge:
    """One boundary of one session; files: folder of the iteration's files. Hold the session's
    lock; the iteration's process tree is gone."""

    def __init__(self, stamper: Stamper, paths: Paths, files: Path) -> None:
        self._stamper = stamper
        self._store = stamper.store
        self._paths = paths
        self._restorer = Restorer(stamper.clone, stamper.store, files)
        self._spoiled: list[bytes] = []

    def judge(self, before: Tree, *, may_change: bool, done_signalled: bool) -> Boundary:
        stamper = self._stamper
        stamper.check_clone()
        found = stamper.git.drop_stale_locks()
        if found:
            self._note(f"Lock files of a dead git were removed: {', '.join(found)}.")
        was_on = stamper.state().head_ref
        after = stamper.take()
        if not may_change:
            touched = self._go_back(before, after, was_on)
        else:
            touched = self._keep_inside(before, after)
            if done_signalled:
                touched |= self._move_untracked(before, after)
        if touched:
            after = stamper.take()
        return self._report(before, after)

    def _note(self, sentence: str) -> None:
        self._stamper.notes.append(sentence)

    def _keep_inside(self, before: Tree, after: Tree) -> bool:
        changes = self._store.changes(before.rev, after.rev)
        outside = [c for c in changes if not self._paths.allowed(c.path)]
        self._restorer.restore(outside, self._stamper.large())
        if outside:
            self._note(
                "Files outside the project's paths were put back: "
                f"{_some(c.path for c in outside)}. Commit that if a commit changed them."
            )
        return bool(outside)

    def _go_back(self, before: Tree, after: Tree, was_on: str) -> bool:
        changes = self._store.changes(before.rev, after.rev)
        self._restorer.restore(changes, self._stamper.large())
        self._spoiled = [c.path for c in changes if not c.added or after.head != before.head]
        if changes:
            self._note(
                f"This role may not change the tree; put back: {_some(c.path for c in changes)}."
            )
        if after.head == before.head and self._stamper.state().head_ref == was_on:
            return bool(changes)
        head = Head(before.head, was_on)
        try:
            self._stamper.git.move_head(head)
        except BrokenClone as why:
            self._stamper.repair(head, str(why))
        self._note(
            f"This role may not commit or change branches; HEAD was put back from "
            f"{after.head[:12]} to {before.head[:12]} ({was_on})."
        )
        return True

    def _move_untracked(self, before: Tree, after: Tree) -> bool:
        new = {c.path for c in self._store.changes(before.rev, after.rev) if c.added}
        loose = [c.path for c in self._store.changes(after.head, after.rev) if c.added]
        candidates = {p for p in loose if p in new and self._paths.counts(p)}
        if candidates:
            candidates -= self._stamper.git.staged_new()
        for path in sorted(self._whole_nested(candidates, after.rev)):
            self._restorer.move(path)
        return bool(candidates)

    def _whole_nested(self, candidates: set[bytes], rev: str) -> set[bytes]:
        """The candidates, but a nested repository that is new as a whole as one folder, so that
        its `.git` does not stay behind without its files."""
        roots = {path: self._nested_root(path) for path in candidates}
        result = {path for path, root in roots.items() if not root}
        for root in filter(None, set(roots.values())):
            out = self._store.git("ls-tree", "-r", "-z", "--name-only", rev, "--", root + b"/")
            inside = set(filter(None, out.split(b"\0")))
            result |= {root} if inside <= candidates else inside & candidates
        return result

    def _report(self, before: Tree, after: Tree) -> Boundary:
        changed = self._store.changes(before.rev, after.rev)
        notes = [*self._stamper.notes, *self._restorer.notes]
        self._stamper.notes.clear()
        return Boundary(
            rev=after.rev,
            head=after.head,
            uncommitted=self._uncommitted(after),
            changed_paths=tuple(shown(c.path) for c in changed),
            moved=tuple(shown(path) for path in self._restorer.moved),
            restored=tuple(shown(path) for path in self._restorer.restored),
            spoiled=tuple(shown(path) for path in self._spoiled),
            notes=tuple(notes),
        )

    def _uncommitted(self, after: Tree) -> tuple[str, ...]:
        changes = self._paths.committable(self._store.changes(after.head, after.rev))
        converted = self._converted(changes)
        open_ = [c for c in changes if c.path not in converted]
        outside = [c.path for c in open_ if not self._paths.allowed(c.path)]
        if outside:
            # Outside the allowed paths only what the session's own commits changed is its affair.
            own = {c.path for c in self._store.changes(self._stamper.base(), after.head)}
            outside = [path for path in outside if path in own]
        inside = [c.path for c in open_ if self._paths.allowed(c.path)]
        return tuple(shown(path) for path in sorted([*inside, *outside]))

    def _nested_root(self, path: bytes) -> bytes:
        """The outermost folder on the way to `path` that has a `.git` of its own, or b""."""
        files = TreeFiles(self._stamper.clone)
        parts = path.split(b"/")
        tops = (b"/".join(parts[:depth]) for depth in range(1, len(parts)))
        return next((top for top in tops if files.stat(top + b"/.git")), b"")

    def _converted(self, changes: Iterable[Change]) -> frozenset[bytes]:
        """Paths that differ from HEAD only by what git itself does on the way in (line endings,
        encodings): our trees hold the bytes on disk, a commit holds what git makes of them."""
        same_mode = [c for c in changes if c.old_mode == c.new_mode and c.old_mode != "120000"]
        if not same_mode:
            return frozenset()
        git = EngineGit(self._store.path, work_tree=self._stamper.clone)
        data = b"".join(_quoted(c.path) + b"\n" for c in same_mode)
        done = git.attempt("hash-object", "--stdin-paths", data=data)
        ids = done.out.decode().split()
        if done.code != 0 or len(ids) != len(same_mode):
            return frozenset()
        return frozenset(c.path for c, oid in zip(same_mode, ids, strict=True) if oid == c.old_id)


def _quoted(path: bytes) -> bytes:
    """A path as git reads it one per line, whatever is in it."""
    return b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'


def _some(paths: Iterable[bytes]) -> str:
    names = [shown(path) for path in paths]
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more
