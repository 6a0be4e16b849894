"""One session's workspace: its clone, what it holds at each boundary, and the way back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from loops.workspaces import arrival
from loops.workspaces.boundary import BoundaryJudge
from loops.workspaces.clone import CloneMaker, sweep
from loops.workspaces.commands import Prepare
from loops.workspaces.elsewhere import Elsewhere, Kept
from loops.workspaces.engine_git import GitFailed
from loops.workspaces.exclusions import Exclusions
from loops.workspaces.go_back import Return
from loops.workspaces.paths import Paths
from loops.workspaces.restore import Restorer
from loops.workspaces.source import Source
from loops.workspaces.stamps import Stamper, write_json
from loops.workspaces.store import Store, checked_ref
from loops.workspaces.told import told as _told
from loops.workspaces.values import Base, Boundary, Confine, Ran, Tree, Unusable, shown


class Workspace:
    """store: the project's `store.git`. clone: the session's clone; the folder around it is the
    engine's (its index, files of iterations), and only the clone may be shown to agents.

    subpath, extra_paths: where agents may change files, relative to the repository's root ("" =
    everywhere). base: commit to start from instead of the source's HEAD. tree: content to start
    with instead of that commit's (a fork goes on from a tree with uncommitted work); both may be
    in the store alone. All methods but the constructor raise Unusable with a sentence. One process
    at a time may use a session's.
    """

    def __init__(
        self,
        store: Path,
        clone: Path,
        source: Path,
        session_ref: str,
        subpath: str = "",
        extra_paths: Sequence[str] = (),
        leftovers: Sequence[str] = (),
        *,
        confine: Confine,
        base: str = "",
        tree: str = "",
    ) -> None:
        self._ref = checked_ref(session_ref)
        self._clone = clone
        self._session = clone.parent
        self._source = Source(source)
        self._wanted_base = base
        self._wanted_tree = tree
        self._confine = confine
        self._paths = Paths(subpath, extra_paths, Exclusions(leftovers))
        self._store = Store(store)
        self._stamper = Stamper(self._store, clone, self._ref, self._paths.exclusions, confine)

    # --- opening ---------------------------------------------------------------------------------

    def open(self) -> Base:
        """Make store and clone unless they are there; the same Base at every call."""
        sweep(self._clone)
        record = self._stamper.engine / "base.json"
        if record.exists():
            base = json.loads(record.read_text())
            self._stamper.check_clone()
            return Base(base["rev"], base["head"])
        with _told("The session's clone cannot be made"):
            with self._store.locked():
                head = self._make_clone()
            with self._stamper.locked():
                self._start_scanner(head)
                tree = self._stamper.take()
                if self._wanted_tree not in ("", tree.rev):
                    tree = self._lay(tree)
        write_json(record, {"rev": tree.rev, "head": head})
        return Base(tree.rev, head)

    def _make_clone(self) -> str:
        refusal = self._source.why_not()
        if refusal:
            raise Unusable(refusal)
        self._store.prepare(self._source.object_format())
        base_ref = self._stamper.base_ref
        head = self._store.commit(base_ref)  # there after a crash: the base stays what it was
        if not head and self._wanted_tree:
            head = self._kept_commit(base_ref)
        if not head:
            env = self._source.fetch_environment(self._stamper.engine)
            fetched = f"refs/loopwatch/{self._ref}/fetched"
            head = self._store.fetch_source(self._source.path, fetched, env=env)
            if self._wanted_base:
                head = self._store.commit(self._wanted_base)
            if not head:
                raise Unusable(
                    f"The commit {self._wanted_base} to start from is neither in "
                    f"{self._source.path} nor in the project's store; choose another base."
                )
            self._store.set_refs({base_ref: head})
        if not self._clone.exists():
            maker = CloneMaker(self._store)
            maker.make(self._clone, ref=base_ref, branch=self.branch())
        return head

    def _kept_commit(self, base_ref: str) -> str:
        """The commit of a recorded tree, which may never have been in the source."""
        head = self._store.commit(self._wanted_base)
        if not head or not self._store.has_tree(self._wanted_tree):
            raise Unusable(
                f"The tree {self._wanted_tree[:12]} on commit {self._wanted_base[:12]} is not in "
                f"the project's store {self._store.path}; fork another iteration."
            )
        self._store.set_refs({base_ref: head})
        return head

    def _lay(self, found: Tree) -> Tree:
        """Put the wanted content over the fresh checkout; HEAD and index stay, so that what was
        not committed then is not committed now. Idempotent after a crash."""
        changes = self._store.changes(self._wanted_tree, found.rev)
        restorer = Restorer(self._clone, self._store, self._session / "aside")
        restorer.restore(changes, self._stamper.large())
        tree = self._stamper.take()
        if restorer.notes:  # files over 50 MB that git does not hold: nobody has them any more
            raise Unusable(" ".join(restorer.notes))
        return tree

    def _start_scanner(self, head: str) -> None:
        self._stamper.scanner.prepare(self._store.git.text("rev-parse", "--show-object-format"))
        names = self._store.git("ls-tree", "-r", "-z", "--name-only", head).split(b"\0")
        if not any(name.endswith(b".gitattributes") for name in names):
            # No agent has run yet, so the checkout's index can be believed; with attributes its
            # files may differ from their blobs, and everything is hashed as it lies on the disk.
            self._stamper.scanner.adopt_index(self._clone / ".git" / "index")

    # --- other hosts -----------------------------------------------------------------------------

    def kept(self) -> Kept:
        """The snapshot of the last stamp."""
        return self._stamper.kept()

    def send(self, place: Elsewhere, host: str, kept: Kept) -> None:
        """Push a snapshot; raises Unreachable."""
        with _told("The session's snapshot cannot be sent"):
            place.send(self._store, self._ref, host, kept)

    def arrive(self, place: Elsewhere, host: str, base: Base, kept: Kept) -> None:
        """Make the clone of a session that ran on `host` from the snapshot it sent; afterwards
        open() gives `base`. Raises Unreachable too. There is no clone of it here."""
        with _told("The session's clone cannot be made"):
            with self._store.locked():
                place.fetch(self._store, self._ref, host, kept)
                self._fetch_source_if_there()
                arrival.make_clone(self._stamper, kept)
            with self._stamper.locked():
                self._start_scanner(kept.head)
                arrival.fill_clone(self._stamper, kept, self._session / "arrival")
        write_json(self._stamper.engine / "base.json", {"rev": base.rev, "head": base.head})

    def _fetch_source_if_there(self) -> None:
        """The other branches and tags, for the agent to read; the session needs none of them."""
        if self._source.why_not():
            return
        env = self._source.fetch_environment(self._stamper.engine)
        with suppress(GitFailed):
            ref = f"refs/loopwatch/{self._ref}/fetched"
            self._store.fetch_source(self._source.path, ref, env=env)

    def lay_out(self, rev: str, names: Sequence[str], folder: Path) -> None:
        """Write the files of the project's path that are called `names` in `rev` into `folder`."""
        with _told("The session's first tree cannot be read"):
            inside = [name for one in names for name in self._paths.candidates(one)]
            arrival.lay_out(self._stamper, rev, inside, folder)

    # --- stamps and boundaries -------------------------------------------------------------------

    def stamp(self) -> Tree:
        """Content and commit now; kept in the store so that nothing collects it."""
        with _told("The session's tree cannot be read"), self._stamper.locked():
            return self._stamper.take()

    def boundary(
        self, before: Tree, *, number: int, may_change: bool, done_signalled: bool
    ) -> Boundary:
        """The end of iteration `number`, once its process tree is gone.

        may_change False (reviewer, coach): everything goes back to `before`. Else files outside
        the allowed paths go back one by one; with a done signal untracked files first seen in
        this iteration go to its files (`files`). What is then there is hashed.
        """
        with _told("The iteration's tree cannot be read"), self._stamper.locked():
            judge = BoundaryJudge(self._stamper, self._paths, self.files_folder(number))
            return judge.judge(before, may_change=may_change, done_signalled=done_signalled)

    def go_to(self, tree: Tree) -> Tree:
        """Put the clone (files, HEAD and its branch, index) back to a recorded tree, before an
        attempt; no agent runs. What stands then is `tree`, but for untracked files over 50 MB that
        were changed since: the next boundary's notes name them. Ignored files stay. What stood
        before is in the store. Safe to repeat, also after a crash in the middle.
        """
        with _told("The session cannot go back to a recorded tree"), self._stamper.locked():
            return Return(self._stamper, self._session / "aside").to(tree)

    # --- questions -------------------------------------------------------------------------------

    def head(self) -> str:
        """Commit that the agent's HEAD leads to at this moment, "" if it leads to none."""
        return self._stamper.head_now()

    def missing(self, commits: Iterable[str], head: str) -> frozenset[str]:
        """Those of `commits` (ids as agents gave them) that are neither in `head` nor have a
        commit of equal patch-id there."""
        commits = tuple(commits)
        if not commits:
            return frozenset()
        with _told("The session's commits cannot be compared"), self._stamper.locked():
            full = {name: self._stamper.known(name) for name in commits}
            away = self._store.not_in(set(filter(None, full.values())), head, self._stamper.base())
            return frozenset(n for n, commit in full.items() if not commit or commit in away)

    def blob(self, path: str) -> str:
        """Id of a file's content in the last stamped tree, "" if it is not there. The path is
        looked for from the repository's root, then from the project's path."""
        with _told("The session's tree cannot be read"):
            names = self._paths.candidates(path)
            found = self._store.blobs(self._stamper.state().memory.tree, names) if names else {}
            return next((found[name] for name in names if name in found), "")

    def diff(self, a_rev: str, b_rev: str) -> str:
        """Difference of two revs (or commits) as text."""
        with _told("The difference cannot be shown"):
            return self._store.diff(a_rev, b_rev)

    def lacks(self, rev: str, head: str) -> str:
        """A sentence if the store cannot give back the tree `rev` on the commit `head`, else ""."""
        with _told("The recorded tree cannot be looked for"):
            if self._store.has_tree(rev) and self._store.commit_by_id(head):
                return ""
            return f"The tree {rev[:12]} on commit {head[:12]} is not in the project's store."

    def write_patch(self, a_rev: str, b_rev: str, path: Path) -> None:
        """The difference of two revs for `git apply`, binary files included, as a file."""
        with _told("The patch cannot be written"):
            self._store.write_patch(a_rev, b_rev, path)

    def added_and_changed(self, a_rev: str, b_rev: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Paths that b_rev has more than a_rev, and paths that both have or only a_rev has but
        with other content."""
        with _told("The difference cannot be shown"):
            changes = self._store.changes(a_rev, b_rev)
            return (
                tuple(shown(c.path) for c in changes if c.added),
                tuple(shown(c.path) for c in changes if not c.added),
            )

    def branch(self) -> str:
        """Name of the session's branch in the store, and of the clone's first branch."""
        return f"loopwatch/{self._ref}"

    def files(self, number: int) -> tuple[str, ...]:
        """Names of the files of iteration `number`, relative to files_folder(number)."""
        folder = os.fsencode(self.files_folder(number))
        found = (
            os.path.relpath(os.path.join(parent, name), folder)
            for parent, _, names in os.walk(folder)
            for name in names
            if b"/.git/" not in parent + b"/"
        )
        return tuple(sorted(shown(path) for path in found))

    def files_folder(self, number: int) -> Path:
        return self._session / "files" / str(number)

    def prepare(self, command: str, timeout: float) -> Ran:
        """Run the project's `prepare` in the clone, confined like an agent but with the network;
        skipped (`cached`) while no lock file or manifest changed since it last passed."""
        with _told("The project's prepare command cannot run"):
            tree = self.stamp().rev
            workdir = self._clone / self._paths.subpath
            return Prepare(self._store, self._session / "prepare", self._confine).run(
                command, tree=tree, clone=self._clone, workdir=workdir, timeout=timeout
            )
