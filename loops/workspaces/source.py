"""Reading the person's own repository: nothing in it is ever written."""

from __future__ import annotations

import os
from pathlib import Path

from loops.workspaces.engine_git import SAFE_CONFIG, config_flags, git_path, scrubbed_environment
from loops.workspaces.processes import Finished, run

SECONDS = 60.0


class Source:
    """path: root of a work tree, or of a bare repository.

    It may belong to another user: git is told that it is safe for these reads only, and that it
    must run neither hooks nor a file watcher nor another transport than the file system.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def attempt(self, *args: str, timeout: float = SECONDS) -> Finished:
        argv = [git_path(), "--no-optional-locks", *config_flags(SAFE_CONFIG)]
        argv += ["-c", "safe.directory=*", *args]
        return run(argv, cwd=self.path, env=scrubbed_environment(), timeout=timeout)

    def text(self, *args: str) -> str:
        """Output of one call, "" if it failed."""
        done = self.attempt(*args)
        return done.out.decode("utf-8", "replace").strip() if done.code == 0 else ""

    def why_not(self) -> str:
        """A sentence if no session can start from it, else ""."""
        if not self.path.is_dir():
            return f"{self.path} is not a folder; give the path of a git repository."
        done = self.attempt("rev-parse", "--is-bare-repository")
        if done.code != 0:
            return f"{self.path} is not a git repository ({done.words}); run `git init` there."
        top = "" if done.out.strip() == b"true" else self.text("rev-parse", "--show-toplevel")
        if not top and done.out.strip() != b"true":
            return f"{self.path} is the inside of a repository; give the folder that holds it."
        if top and not os.path.samefile(top, self.path):
            return (
                f"{self.path} lies inside the repository {top}; give {top} as the repository "
                "and the rest as the project's path."
            )
        if not self.text("rev-parse", "-q", "--verify", "HEAD^{commit}"):
            return f"{self.path} has no commit yet; make a first commit, then start the session."
        if self.text("rev-parse", "--is-shallow-repository") == "true":
            return (
                f"{self.path} is a shallow clone: with its history cut nobody can tell which "
                "commits a branch holds; run `git fetch --unshallow` there first."
            )
        if self.text("config", "--get-regexp", r"^remote\..*\.promisor$"):
            return (
                f"{self.path} is a partial clone, which cannot be copied without its remote; "
                "run `git fetch --refetch --no-filter` there, or clone it in full."
            )
        return ""

    def object_format(self) -> str:
        return self.text("rev-parse", "--show-object-format") or "sha1"

    def fetch_environment(self, folder: Path) -> dict[str, str]:
        """Additions to the environment of a fetch from it; `folder` takes a small file. The
        serving side drops `-c` options, so the exemption must come as a configuration file."""
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "source.gitconfig"
        config.write_text("[safe]\n\tdirectory = *\n")
        return {"GIT_CONFIG_GLOBAL": str(config)}
