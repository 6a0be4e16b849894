"""Real repositories for the workspace tests: a source, a session on it, and an agent's git."""

import hashlib
import os
import subprocess
from pathlib import Path

from loops.workspaces import Workspace

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Person",
    "GIT_AUTHOR_EMAIL": "person@example.invalid",
    "GIT_COMMITTER_NAME": "Person",
    "GIT_COMMITTER_EMAIL": "person@example.invalid",
}


def unconfined(argv, *, cwd, writable, readable, network):
    return list(argv)


def git(folder, *args, data=None, check=True):
    done = subprocess.run(
        ["git", *args], cwd=folder, env=ENV, input=data, capture_output=True, check=False
    )
    if check and done.returncode:
        raise AssertionError(f"git {args}: {done.stderr.decode()}")
    return done.stdout.decode("utf-8", "replace").strip()


def make_source(folder: Path, files=None) -> Path:
    """A repository with one commit on `main`."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for name, text in (files or {"a.txt": "one\n", "src/b.txt": "two\n"}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    return folder


class Session:
    """A workspace and what an agent does in its clone."""

    def __init__(self, folder: Path, source: Path, ref="S-1", confine=unconfined, **settings):
        self.folder = folder
        self.store = folder / "project" / "store.git"
        self.clone = folder / ref / "clone"
        self.workspace = Workspace(self.store, self.clone, source, ref, confine=confine, **settings)

    def write(self, name, content="text\n"):
        path = self.clone / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def git(self, *args, **options):
        return git(self.clone, *args, **options)

    def commit(self, message="work"):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def boundary(self, before, number=1, may_change=True, done_signalled=False):
        return self.workspace.boundary(
            before, number=number, may_change=may_change, done_signalled=done_signalled
        )

    def paths(self, rev):
        """Paths in a stamped tree."""
        out = subprocess.run(
            ["git", "ls-tree", "-r", "-z", "--name-only", rev],
            cwd=self.store,
            env=ENV,
            capture_output=True,
            check=True,
        ).stdout
        return set(filter(None, out.split(b"\0")))

    def content(self, rev, name):
        return git(self.store, "cat-file", "blob", f"{rev}:{name}")


def fingerprint(folder: Path) -> str:
    """Every name, mode, time and byte below a folder."""
    digest = hashlib.sha256()
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted([*names, *folders]):
            path = Path(parent, name)
            found = path.lstat()
            digest.update(os.fsencode(f"{path}|{found.st_mode}|{found.st_mtime_ns}"))
            if path.is_file() and not path.is_symlink():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def is_alive(pid):
    """Not counting what was killed and only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] not in "ZX"
    except OSError:
        return False
