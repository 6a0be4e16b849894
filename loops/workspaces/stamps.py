"""Stamps of one session: HEAD and content of the clone, taken into the project's store."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loops.workspaces import locks
from loops.workspaces.clone import CloneMaker
from loops.workspaces.confined_git import BrokenClone, CloneGit, Head
from loops.workspaces.elsewhere import Kept
from loops.workspaces.engine_git import GitFailed
from loops.workspaces.exclusions import Exclusions
from loops.workspaces.memory import Memory
from loops.workspaces.scan import Scanner
from loops.workspaces.store import Store
from loops.workspaces.values import Confine, Tree, Unusable

LOCK_SECONDS = 60.0


@dataclass(slots=True)
class State:
    """What the last stamp left. head_ref: the branch HEAD was on; kept: the snapshot commit, of
    the tree kept_rev."""

    head: str = ""
    head_ref: str = "HEAD"
    kept: str = ""
    kept_rev: str = ""
    memory: Memory = field(default_factory=Memory)


class Stamper:
    """Takes stamps of the session's clone; may raise GitFailed and OSError besides Unusable.

    notes: sentences about repairs, to be told at the next boundary. One thread at a time.
    """

    def __init__(
        self, store: Store, clone: Path, session_ref: str, exclusions: Exclusions, confine: Confine
    ) -> None:
        self.store = store
        self.clone = clone
        self.engine = clone.parent / "engine"
        self.branch = f"loopwatch/{session_ref}"
        self.base_ref = f"refs/loopwatch/{session_ref}/base"
        self.ref = session_ref
        self.git = CloneGit(clone, confine)
        self.scanner = Scanner(self.engine / "scan.git", clone, store, exclusions)
        self.notes: list[str] = []
        self._loaded: State | None = None

    def take(self) -> Tree:
        """Stamp the clone and keep it in the store. Hold the session's lock."""
        state = self.state()
        self.check_clone()
        head = self._take_head(state)
        rev = self._scan(head.commit, state)
        if (head.commit, rev) != (state.head, state.kept_rev):
            parents = [state.kept, head.commit] if state.kept else [head.commit]
            state.kept = self.store.keep(rev, parents, f"Snapshot of {self.ref}")
            refs = {f"refs/loopwatch/{self.ref}/snapshots": state.kept}
            if head.commit != state.head:
                refs[f"refs/heads/{self.branch}"] = head.commit
            self.store.set_refs(refs)
        state.head, state.head_ref, state.kept_rev = head.commit, head.ref, rev
        write_json(self.engine / "state.json", asdict(state))
        if state.memory.indexed == rev:
            self.scanner.remember(state.kept)
        return Tree(rev, head.commit)

    def _scan(self, head: str, state: State) -> str:
        try:
            return self.scanner.scan(head, state.memory)
        except GitFailed:
            # A broken index (power loss) costs one full hashing, never the session.
            self.scanner.prepare(self.store.git.text("rev-parse", "--show-object-format"))
            state.memory = Memory()
            return self.scanner.scan(head, state.memory)

    def _take_head(self, state: State) -> Head:
        """HEAD of the clone, its commits in the store; a broken `.git` is made anew."""
        try:
            head = self.git.head()
            if head.commit != state.head and not self.store.commit(head.commit):
                self._receive(head.commit, known=filter(None, (state.head, self.base())))
            return head
        except (BrokenClone, GitFailed) as why:
            return self.repair(Head(state.head or self.base(), state.head_ref), str(why))

    def head_now(self) -> str:
        """The clone's HEAD while an agent works; nothing is repaired or brought over."""
        try:
            return self.git.head().commit
        except (BrokenClone, GitFailed):
            return ""

    def _receive(self, commit: str, *, known: Iterable[str]) -> None:
        with self.git.pack(commit, known) as pack:
            self.store.receive(pack)
        if not self.store.commit(commit):
            raise GitFailed("the commits did not arrive")

    def repair(self, head: Head, why: str) -> Head:
        """Make the clone's `.git` anew at `head`; the broken one is kept beside the clone."""
        aside = self.clone.parent / "broken"
        aside.mkdir(exist_ok=True)
        to = aside / f"git-{len(list(aside.iterdir())) + 1}"
        new = self.engine / "git.new"
        keeper = f"refs/heads/{self.branch}"
        ref = keeper if self.store.commit(keeper) else self.base_ref
        CloneMaker(self.store).git_folder(new, self.clone, ref=ref, head=head)
        git = self.clone / ".git"
        if os.path.lexists(git):
            os.rename(git, to)
        os.rename(new, git)
        self.notes.append(
            f"The clone's .git was unusable ({why}). It was set aside and made anew at "
            f"{head.commit[:12]}; the files are as they were, commits made since are not in it."
        )
        return head

    def known(self, name: str) -> str:
        """Full id of an agent's commit, taken into the store if it is only in the clone (amended
        away since); "" if it is nowhere."""
        try:
            commit = self.git.resolve(name)
            if commit and not self.store.commit(commit):
                self._receive(commit, known=filter(None, (self.state().head, self.base())))
                self.store.set_refs({f"refs/loopwatch/{self.ref}/commits/{commit}": commit})
        except (BrokenClone, GitFailed):
            commit = ""
        return commit or self.store.commit_by_id(name)

    @contextmanager
    def locked(self) -> Iterator[None]:
        with locks.held(self.engine / "lock", timeout=LOCK_SECONDS) as fd:
            self.scanner.git.lock_fd = fd
            self.scanner.drop_stale_lock()
            self._loaded = None  # another process may have gone on with the session meanwhile
            try:
                yield
            finally:
                self.scanner.git.lock_fd = None

    def state(self) -> State:
        if self._loaded is None:
            try:
                raw = json.loads((self.engine / "state.json").read_text())
                memory = Memory(**raw.pop("memory"))
                memory.large = {n: (s, t, m) for n, (s, t, m) in memory.large.items()}
                self._loaded = State(**raw, memory=memory)
            except (OSError, ValueError, TypeError):
                self._loaded = State()
        return self._loaded

    def kept(self) -> Kept:
        """The snapshot of the last stamp."""
        state = self.state()
        return Kept(
            rev=state.kept_rev, head=state.head, head_ref=state.head_ref, snapshot=state.kept
        )

    def large(self) -> frozenset[bytes]:
        """Untracked files that the store knows by size and time only."""
        return frozenset(os.fsencode(name) for name in self.state().memory.large)

    def base(self) -> str:
        return self.store.commit(self.base_ref)

    def check_clone(self) -> None:
        try:
            is_folder = stat.S_ISDIR(os.lstat(self.clone).st_mode)
        except OSError:
            is_folder = False
        if not is_folder:
            raise Unusable(
                f"The session's clone {self.clone} is gone or is not a folder any more; its "
                f"last commits are on the branch {self.branch} of {self.store.path}."
            )


def write_json(path: Path, value: object) -> None:
    """Write a small file durably: it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with open(part, "w", encoding="ascii") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
