"""Handing a landed commit over: as a patch, or by a push of a new branch that is never forced."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from loops.workspaces.clone import CloneMaker
from loops.workspaces.engine_git import SAFE_CONFIG, EngineGit, config_flags, git_path
from loops.workspaces.processes import run
from loops.workspaces.source import Source
from loops.workspaces.store import Store
from loops.workspaces.told import told
from loops.workspaces.values import Unusable

PUSH_SECONDS = 180.0
COMMAND_SECONDS = 600.0
SAID_LIMIT = 8_000  # characters of a remote's or a command's words that are kept
# Lines of a commit's message that `git am` takes for the begin of a patch or of another mail.
_BREAKS = re.compile(rb"^(diff -|Index: |---|>*From )", re.MULTILINE)
_SECRET = re.compile(r"(?<=://)[^/@\s'\"]+@")
_FORMAT = ("--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color")
# Names of ours, and git's own that would point it at another repository.
_OURS = ("LOOPWATCH_", "DJANGO_", "DATABASE_URL", "REDIS_URL", "RUN_MARK", "CELERY_")
_GITS = ("GIT_SSH", "GIT_SSL_", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


@dataclass(frozen=True, slots=True)
class Remote:
    name: str
    url: str

    @property
    def shown(self) -> str:
        """Its address without what signs in."""
        return without_secrets(self.url)


@dataclass(frozen=True, slots=True)
class Pushed:
    """said: the last words of git and of the remote, without secrets."""

    ok: bool
    said: str


def without_secrets(text: str) -> str:
    """Addresses in a text without the name and password that sign in."""
    return _SECRET.sub("", text)


def installation_environment() -> dict[str, str]:
    """The environment of whoever runs Loopwatch, for acts of theirs: their HOME, their git
    configuration and ssh agent, nothing of Loopwatch's own. Nothing can ask at a terminal."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_OURS) and (not name.startswith("GIT_") or name.startswith(_GITS))
    }
    quiet = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "false",
        "SSH_ASKPASS_REQUIRE": "never",
        "LC_ALL": "C.UTF-8",
    }
    kept.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    return kept | quiet


# --- patch ---------------------------------------------------------------------------------------


def patch(store: Path, base_head: str, commit: str) -> bytes:
    """What `commit` has more than `base_head`: mails for `git am`, one per commit.

    One difference for `git apply` instead where mails could not say it: history with merges, or
    without the base, or messages that a mail reader would take for a patch. Empty: no difference.
    """
    with told("The patch cannot be made"):
        git = Store(store).git
        if not git("diff-tree", "-r", "--name-only", base_head, commit):
            return b""
        if _is_plain(git, base_head, commit):
            series = f"{base_head}..{commit}"
            return git("format-patch", "--stdout", "--no-signature", *_FORMAT, series)
        head = f"One difference, from {base_head} to {commit}. Take it with: git apply\n\n"
        return head.encode() + git("diff-tree", "-p", "-r", *_FORMAT, base_head, commit)


def _is_plain(git: EngineGit, base_head: str, commit: str) -> bool:
    if git.attempt("merge-base", "--is-ancestor", base_head, commit).code != 0:
        return False
    series = (commit, f"^{base_head}")
    if git("rev-list", "--merges", "-1", *series):
        return False
    return not _BREAKS.search(git("log", "--format=%B", *series))


# --- push ----------------------------------------------------------------------------------------


def remotes(source: Path) -> tuple[Remote, ...]:
    """Where the person's repository pushes to, by its own configuration; "origin" first."""
    asked = Source(source).attempt(
        *("config", "--local", "--null", "--get-regexp", r"^remote\..*\.(push)?url$")
    )
    found: dict[str, str] = {}
    pushes: dict[str, str] = {}
    for line in filter(None, asked.out.decode("utf-8", "replace").split("\0")):
        key, _, url = line.partition("\n")
        name, _, kind = key.removeprefix("remote.").rpartition(".")
        (pushes if kind == "pushurl" else found).setdefault(name, _absolute(source, url))
    listed = (Remote(name, url) for name, url in (found | pushes).items() if url)
    return tuple(sorted(listed, key=lambda remote: (remote.name != "origin", remote.name)))


def head_branch(source: Path) -> str:
    """The branch that the person's repository is on, "" if it is on none."""
    return Source(source).text("symbolic-ref", "--quiet", "--short", "HEAD")


def _absolute(source: Path, url: str) -> str:
    """A relative path in a repository's configuration is relative to it."""
    is_path = "://" not in url and not url.startswith("/") and ":" not in url.split("/", 1)[0]
    return os.path.normpath(source / url) if url and is_path else url


def why_no_address(url: str) -> str:
    """A sentence if nothing can be pushed there, else ""."""
    if not url.strip() or url.startswith("-") or not url.isprintable():
        return "Give the address of a git repository, or the name of a remote."
    if re.match(r"[A-Za-z0-9+.-]+::", url):
        return f"“{url}” would run a helper program; give a path, or an address with ssh or https."
    return ""


def push(
    store: Path, commit: str, remote: str, branch: str, *, timeout: float = PUSH_SECONDS
) -> Pushed:
    """Push `commit` as `branch` to the address `remote`: never by force, without hooks of ours, as
    whoever runs Loopwatch. The remote's refusal is in what is returned; raises Unusable only when
    git itself is missing."""
    refusal = why_no_address(remote)
    if refusal:
        return Pushed(False, refusal)
    # The address goes through the environment: it may hold a token, and argv is for all to see.
    address = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "remote.delivery.url",
        "GIT_CONFIG_VALUE_0": remote,
        "GIT_DIR": str(store),
        "GIT_ALLOW_PROTOCOL": "file:ssh:https:http:git",
    }
    done = run(
        [
            *(
                git_path(),
                *config_flags((*SAFE_CONFIG, "advice.pushUpdateRejected=false")),
                "push",
                "--no-verify",
                "--no-progress",
            ),
            *("--no-force", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"),
            *("delivery", f"{commit}:refs/heads/{branch}"),
        ],
        cwd=store.parent,
        env=installation_environment() | address,
        timeout=timeout,
        limit=1 << 20,
        tail=True,
    )
    if done.timed_out:
        return Pushed(False, f"The remote did not answer within {timeout:.0f} s.")
    return Pushed(done.code == 0, bounded(done.out))


def bounded(out: bytes) -> str:
    """Last words for a row and a page: text, without secrets and carriage returns, bounded."""
    text = out.decode("utf-8", "replace").replace("\0", "").replace("\r", "\n")
    return without_secrets(text).strip()[-SAID_LIMIT:]


# --- the pull-request command --------------------------------------------------------------------


def checkout(store: Path, branch: str, folder: Path, known: tuple[Remote, ...]) -> None:
    """A fresh repository of a person's own in `folder`: the branch checked out, with the remotes
    of the source, no hooks."""
    kept = Store(store)
    with told("The branch cannot be checked out"):
        with kept.locked():
            CloneMaker(kept).make(folder, ref=f"refs/heads/{branch}", branch=branch)
        git = EngineGit(folder / ".git", work_tree=folder)
        for name in ("user.name", "user.email"):  # the agent's; commits made here are a person's
            git("config", "--unset-all", name)
        for remote in known:
            git("config", f"remote.{remote.name}.url", remote.url)
            refs = f"+refs/heads/*:refs/remotes/{remote.name}/*"
            git("config", f"remote.{remote.name}.fetch", refs)


def run_in_checkout(
    argv: list[str], folder: Path, env: dict[str, str], *, timeout: float = COMMAND_SECONDS
) -> Pushed:
    """Run a person's own command there, as whoever runs Loopwatch; its output is kept."""
    if not folder.is_dir():
        raise Unusable(f"The folder {folder} is not there.")
    done = run(
        argv,
        cwd=folder,
        env=installation_environment() | env,
        timeout=timeout,
        limit=4 * SAID_LIMIT,
        tail=True,
    )
    said = bounded(done.out or done.err)
    if done.timed_out:
        said = f"{said}\nKilled at its time limit of {timeout:.0f} s.".strip()
    elif done.code != 0:
        code = "could not start" if done.code is None else f"exit code {done.code}"
        said = f"{said}\n({code})".strip()
    return Pushed(done.code == 0, said)
