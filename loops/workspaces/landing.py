"""A recorded tree as a commit of the project's store. The engine's git only, no clone is touched.

A tree of ours holds the bytes on disk; a commit holds what git makes of them (line endings), keeps
submodules and files that never count, and leaves out what is known by size and time only.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loops.workspaces.engine_git import EngineGit, GitFailed
from loops.workspaces.exclusions import Exclusions
from loops.workspaces.paths import Paths
from loops.workspaces.restore import BATCH
from loops.workspaces.scan import LARGE_MARK
from loops.workspaces.store import Change, Store, checked_ref
from loops.workspaces.told import told
from loops.workspaces.tree_files import TreeFiles
from loops.workspaces.values import Tree, Unusable, shown

REGULAR = ("100644", "100755")
LONGEST_EDIT = 5_000_000  # bytes of one file
LARGE_NAMED = 20  # names in one message


class Refused(Exception):
    """What a person asked for cannot be done; the message is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Who:
    """Author and committer of a commit. date: as git takes it, "" = now."""

    name: str
    email: str
    date: str = ""

    def environment(self) -> dict[str, str]:
        env = {}
        for part in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{part}_NAME": self.name, f"GIT_{part}_EMAIL": self.email}
            if self.date:
                env[f"GIT_{part}_DATE"] = self.date
        return env


def land(
    store: Path,
    session_ref: str,
    rev: str,
    head: str,
    base: str,
    *,
    leftovers: Sequence[str] = (),
) -> str:
    """Set the session's branch in the store to a commit whose content is `rev`; its full id.

    That is `head` itself (`base` if there is none) where it holds all of `rev`, else one commit on
    top of it. The same arguments give the same commit. Raises Unusable.
    """
    with told("The result cannot be put on the session's branch"):
        kept = _opened(store)
        branch = f"refs/heads/loopwatch/{checked_ref(session_ref)}"
        with kept.locked():
            message = f"Uncommitted work at the end of {session_ref}"
            commit = _settled(kept, rev, head or base, Exclusions(leftovers), message)
            if kept.commit(branch) != commit:
                kept.set_refs({branch: commit})
            return commit


def landed(store: Path, session_ref: str) -> str:
    """The commit that the session's branch of the store is at, "" if there is none."""
    if not store.is_dir():
        return ""
    return Store(store).commit(f"refs/heads/loopwatch/{checked_ref(session_ref)}")


def commit_on_top(
    store: Path,
    rev: str,
    head: str,
    files: Mapping[str, str],
    author_name: str,
    author_email: str,
    message: str,
    *,
    subpath: str = "",
    extra_paths: Sequence[str] = (),
    leftovers: Sequence[str] = (),
) -> Tree:
    """A person's edit of the tree `rev` at `head`: new texts of files, by path from the root.

    What was not committed becomes a commit of its own first. Raises Refused with a sentence for a
    path that is not theirs to edit, Unusable when the store fails.
    """
    paths = Paths(subpath, extra_paths, Exclusions(leftovers))
    edits = {_checked(path, paths): _encoded(path, text) for path, text in files.items()}
    with told("The edit cannot be kept"):
        kept = _opened(store)
        with kept.locked():
            modes = {path: _mode(kept, rev, path) for path in edits}
            changed = _changed(kept, rev, edits)
            if not changed:
                raise Refused("Nothing is changed in these files; approve the result as it is.")
            under = _settled(kept, rev, head, paths.exclusions, "Uncommitted work")
            new_rev = _raw_tree(kept, rev, changed, modes)
            tree = _commit_tree(
                kept, under, [(path, modes[path], content) for path, content in changed.items()]
            )
            who = Who(author_name, author_email)
            commit = _commit(kept, tree, under, message, who)
            keeper = kept.keep(new_rev, [commit], "An edit by a person")
            kept.set_refs({f"refs/loopwatch/edits/{commit}": keeper})
            return Tree(new_rev, commit)


def text_of(store: Path, rev: str, path: str) -> str:
    """The text of a file in `rev`, as a person edits it; "" for a file that is not there. Raises
    Refused for what is no text file."""
    with told("The file cannot be read"):
        kept = _opened(store)
        name = _checked(path, Paths("", (), Exclusions()))
        _mode(kept, rev, name)
        found = kept.blobs(rev, [name])
        return _decoded(path, kept.contents(found.values())[found[name]]) if found else ""


def changed_files(store: Path, base_rev: str, rev: str) -> tuple[str, ...]:
    """Files of `rev` that differ from `base_rev` and whose text a person could edit by name."""
    with told("The changed files cannot be listed"):
        changes = _opened(store).changes(base_rev, rev)
    names = [shown(c.path) for c in changes if c.new_mode in REGULAR]
    there = {os.fsdecode(c.path) for c in changes}
    return tuple(name for name in names if name in there)  # not those shown with escapes


# --- what is committed ---------------------------------------------------------------------------


def _opened(store: Path) -> Store:
    if not (store / "loopwatch-ready").exists():
        raise Unusable(f"The project's store {store} is not there.")
    return Store(store)


def _settled(store: Store, rev: str, head: str, exclusions: Exclusions, message: str) -> str:
    """`head`, or a commit on top of it with what `rev` has more. Hold the store's lock."""
    if not store.commit(head):
        raise Unusable(f"The commit {head[:12]} is not in the project's store {store.path}.")
    changes = Paths("", (), exclusions).committable(store.changes(head, rev))
    if not changes:
        return head
    large: list[bytes] = []
    tree = _commit_tree(store, head, _contents(store, changes, large))
    if tree == store.tree_of(head):
        return head
    if large:
        names = ", ".join(shown(path) for path in large[:LARGE_NAMED])
        message += f"\n\nLeft out, over 50 MB: {names}" + (" ..." * (len(large) > LARGE_NAMED))
    date = store.git.text("log", "-1", "--format=%ct", head)
    who = Who("Loopwatch", "engine@loopwatch.invalid", f"@{date} +0000")
    return _commit(store, tree, head, message, who)


def _commit(store: Store, tree: str, parent: str, message: str, who: Who) -> str:
    args = ("commit-tree", "-p", parent, "-F", "-", tree)
    env = who.environment()
    return store.git(*args, data=f"{message.strip()}\n".encode(), env=env).decode().strip()


Write = tuple[bytes, str, bytes | None]  # path, mode, content (None: the file goes)


def _contents(store: Store, changes: Sequence[Change], large: list[bytes]) -> Iterable[Write]:
    """The new side of `changes`. Adds to `large` what has no content here."""
    for start in range(0, len(changes), BATCH):
        batch = changes[start : start + BATCH]
        found = store.contents(change.new_id for change in batch if not change.deleted)
        for change in batch:
            content = None if change.deleted else found[change.new_id]
            if content is not None and content.startswith(LARGE_MARK):
                large.append(change.path)
            else:
                yield change.path, change.new_mode, content


def _commit_tree(store: Store, onto: str, writes: Iterable[Write]) -> str:
    """The tree of the commit `onto` with these files as git itself would commit them.

    They are added from a scratch work tree that holds nothing else, so that attributes (its own,
    then those of `onto`) do to them what they would do in the clone; filters and hooks do not run.
    """
    with tempfile.TemporaryDirectory(dir=store.path.parent, prefix="landing.") as scratch:
        work = Path(scratch, "tree")
        work.mkdir()
        index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
        git = EngineGit(store.path, work_tree=work, extra_env=index)
        git("read-tree", onto)
        files = TreeFiles(work)
        gone: list[bytes] = []
        there: list[bytes] = []
        for path, mode, content in writes:
            if content is None:
                gone.append(path)
            else:
                files.write(path, mode, content)
                there.append(path)
        for paths in (gone, there):  # first what goes: a folder may take the place of a file
            listed = b"".join(path + b"\0" for path in paths)
            git("update-index", "-z", "--add", "--remove", "--replace", "--stdin", data=listed)
        return git.text("write-tree")


def _raw_tree(
    store: Store, rev: str, edits: Mapping[bytes, bytes], modes: Mapping[bytes, str]
) -> str:
    """`rev` with these files, byte by byte."""
    with tempfile.TemporaryDirectory(dir=store.path.parent, prefix="landing.") as scratch:
        git = EngineGit(store.path, extra_env={"GIT_INDEX_FILE": str(Path(scratch, "index"))})
        git("read-tree", rev)
        lines = b""
        for path, content in edits.items():
            oid = git.text("hash-object", "-w", "--stdin", data=content)
            lines += f"{modes[path]} {oid}\t".encode() + path + b"\0"
        git("update-index", "-z", "--index-info", data=lines)
        return git.text("write-tree")


# --- what a person may edit ----------------------------------------------------------------------


def _checked(path: str, paths: Paths) -> bytes:
    parts = path.split("/")
    if not path or "\0" in path or path.startswith("/") or {"", ".", ".."} & set(parts):
        raise Refused(
            f"“{shown(os.fsencode(path))}” is no path of a file in the repository: write it from "
            "the repository's root, without “..”."
        )
    if any(part.rstrip(" .").casefold() in (".git", "git~1") for part in parts):
        raise Refused(f"“{path}” belongs to git itself and cannot be edited.")
    name = os.fsencode(path)
    if not paths.allowed(name):
        raise Refused(f"“{path}” lies outside the project's paths; it cannot be edited here.")
    if name in paths.exclusions:
        raise Refused(f"“{path}” is never part of a result (a cache, or a leftover of checks).")
    return name


def _encoded(path: str, text: str) -> bytes:
    content = text.encode("utf-8", "surrogateescape")
    if len(content) > LONGEST_EDIT or b"\0" in content:
        raise Refused(f"The new text of “{path}” is over 5 MB, or no text.")
    return content


def _decoded(path: str, content: bytes) -> str:
    try:
        if len(content) <= LONGEST_EDIT and b"\0" not in content:
            return content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    raise Refused(f"“{path}” is no UTF-8 text of at most 5 MB; it cannot be edited here.")


def _mode(store: Store, rev: str, path: bytes) -> str:
    """Mode of the regular file at `path`, that of a new one if nothing is there."""
    parts = path.split(b"/")
    for depth in range(1, len(parts) + 1):
        name = b"/".join(parts[:depth])
        out = store.git("ls-tree", "-z", rev, "--", name)
        mode = out.split(b" ", 1)[0].decode()
        if not mode:
            return REGULAR[0]
        if depth < len(parts) and mode != "040000":
            raise Refused(f"“{shown(name)}” is no folder, so “{shown(path)}” cannot be there.")
        if depth == len(parts) and mode not in REGULAR:
            what = {"040000": "a folder", "120000": "a symbolic link"}.get(mode, "a repository")
            raise Refused(f"“{shown(path)}” is {what}; only the text of files can be edited.")
    return mode


def _changed(store: Store, rev: str, edits: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The edits that change something; Refused where what is there is no text."""
    found = store.blobs(rev, edits)
    try:
        now = store.contents(found.values()) if found else {}
    except GitFailed as lost:
        raise Unusable(f"The file cannot be read: {lost}.") from lost
    for path, oid in found.items():
        _decoded(shown(path), now[oid])
    return {p: new for p, new in edits.items() if p not in found or now[found[p]] != new}
