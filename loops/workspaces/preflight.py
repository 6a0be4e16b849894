"""What is said before a session starts: can it, and what will it meet?"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from loops.workspaces.commands import run_command
from loops.workspaces.paths import clean
from loops.workspaces.source import Source
from loops.workspaces.values import Confine, Ran, Unusable, shown
from loops.workspaces.workspace import Workspace

INSTRUCTION_FILES = (
    *("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENT.md", "GEMINI.md", "QWEN.md", "CRUSH.md"),
    *("CONVENTIONS.md", ".cursorrules", ".windsurfrules", ".clinerules", ".goosehints"),
    *(".github/copilot-instructions.md", ".junie/guidelines.md", ".cursor/rules", ".claude"),
)
COMMAND_SECONDS = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """refusals: why no session can start (then nothing else is filled). warnings: what is done
    with an unusual repository. prepare, check: how they went at base, None if not run. leftovers:
    files that they leave behind and that nothing ignores, to be accepted by a person."""

    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    head: str = ""
    instruction_files: tuple[str, ...] = ()
    prepare: Ran | None = None
    check: Ran | None = None
    leftovers: tuple[str, ...] = ()

    @property
    def check_failures(self) -> tuple[Ran, ...]:
        """What fails already at base, before any agent ran."""
        return tuple(ran for ran in (self.prepare, self.check) if ran and not ran.passed)


def preflight(
    source: Path,
    subpath: str = "",
    prepare: str = "",
    check: str = "",
    *,
    scratch: Path,
    confine: Confine,
    leftovers: tuple[str, ...] = (),
    timeout: float = COMMAND_SECONDS,
) -> Preflight:
    """Look at `source` without writing to it; run `prepare` (with network) and then `check`
    (without) in a clean checkout of its HEAD, each for at most `timeout` seconds.

    scratch: a folder of our own, emptied before and removed after.
    """
    found = look(source, subpath)
    if found.refusals or not (prepare or check):
        return found
    try:
        trial = _Trial(source, clean(subpath), scratch, confine, leftovers, timeout)
        prepared, checked, left, more = trial.run(prepare, check)
    except Unusable as error:
        return Preflight(refusals=(str(error),))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return replace(
        found,
        warnings=(*found.warnings, *more),
        prepare=prepared,
        check=checked,
        leftovers=left,
    )


def look(source: Path, subpath: str = "") -> Preflight:
    """Look at `source` without running anything of it: is it a repository to start from? Quick."""
    repository = Source(source)
    refusal = repository.why_not() or _subpath_refusal(repository, subpath)
    if refusal:
        return Preflight(refusals=(refusal,))
    return Preflight(
        warnings=tuple(_warnings(repository)),
        head=repository.text("rev-parse", "HEAD"),
        instruction_files=_instruction_files(repository, clean(subpath)),
    )


def _subpath_refusal(source: Source, subpath: str) -> str:
    if not subpath.strip() or subpath.strip() in (".", "./"):
        return ""
    path = clean(subpath)
    kind = source.text("cat-file", "-t", f"HEAD:{path}") if path else ""
    if kind == "tree":
        return ""
    if not path:
        return f"The project's path {subpath} leads out of the repository; give a path in it."
    what = "is a file, a link or a submodule" if kind else "does not exist"
    return f"The project's path {path} {what} in the last commit of {source.path}; give a folder."


def _warnings(source: Source) -> list[str]:
    found: list[str] = []
    owner = os.stat(source.path).st_uid
    foreign = owner != os.geteuid()
    if foreign:
        found.append(
            f"{source.path} belongs to another user (id {owner}). It is only read, with git's "
            "ownership check waived for these reads and its hooks and programs never run."
        )
    if source.text("rev-parse", "--is-bare-repository") == "true":
        found.append("The repository is bare; the session starts from what its HEAD names.")
    elif foreign:
        found.append(
            "Whether it has uncommitted changes was not looked at; they do not come along."
        )
    else:
        found += _dirty(source)
    if not source.text("symbolic-ref", "-q", "HEAD"):
        found.append("HEAD is detached; the session starts from that commit, on its own branch.")
    found += _submodules_and_lfs(source)
    return found


def _dirty(source: Source) -> list[str]:
    done = source.attempt("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all")
    if done.code != 0:
        return [f"Uncommitted changes could not be looked for ({done.words})."]
    lines = [line for line in done.out.split(b"\0") if line]
    if not lines:
        return []
    names = ", ".join(shown(line[3:]) for line in lines[:5])
    more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
    return [f"Your uncommitted changes are not in the session: {names}{more}."]


def _submodules_and_lfs(source: Source) -> list[str]:
    found: list[str] = []
    lines = source.attempt("ls-tree", "-r", "-z", "HEAD").out.split(b"\0")
    links = [line.split(b"\t", 1)[1] for line in lines if line.startswith(b"160000 ")]
    if links:
        names = ", ".join(shown(path) for path in links[:5])
        found.append(
            f"Submodules stay empty folders, they are not initialised ({names}); `prepare` can "
            "fetch them, and what agents change in them is not part of the session's commits."
        )
    attributes = [line.split() for line in lines if line.endswith(b".gitattributes")]
    blobs = [words[2].decode() for words in attributes]
    if any("filter=lfs" in source.text("cat-file", "blob", blob) for blob in blobs):
        found.append(
            "Files in Git LFS are pointers in the session, their contents are not fetched; "
            "checks that need them fail."
        )
    return found


def _instruction_files(source: Source, subpath: str) -> tuple[str, ...]:
    """Files that a worker's agent loads by itself, at the root and along the project's path."""
    folders = [""]
    for part in filter(None, subpath.split("/")):
        folders.append(f"{folders[-1]}{part}/")
    names = [folder + name for folder in folders for name in INSTRUCTION_FILES]
    done = source.attempt("ls-tree", "-z", "--name-only", "HEAD", "--", *names)
    return tuple(shown(name) for name in done.out.split(b"\0") if name)


class _Trial:
    """`prepare` and `check` in a clean checkout, and what they leave."""

    def __init__(
        self,
        source: Path,
        subpath: str,
        scratch: Path,
        confine: Confine,
        leftovers: tuple[str, ...],
        timeout: float,
    ) -> None:
        shutil.rmtree(scratch, ignore_errors=True)
        self._clone = scratch / "trial" / "clone"
        self._workdir = self._clone / subpath
        self._own = scratch / "trial" / "commands"
        self._confine = confine
        self._timeout = timeout
        self._workspace = Workspace(
            scratch / "store.git",
            self._clone,
            source,
            "preflight",
            leftovers=leftovers,
            confine=confine,
        )

    def run(
        self, prepare: str, check: str
    ) -> tuple[Ran | None, Ran | None, tuple[str, ...], list[str]]:
        base = self._workspace.open()
        prepared = self._command(prepare, network=True) if prepare else None
        checked = None
        warnings: list[str] = []
        if prepared and not prepared.passed:
            warnings.append("`prepare` fails at base, so `check` was not run.")
        elif check:
            checked = self._command(check, network=False)
        after = self._workspace.stamp()
        left, changed = self._workspace.added_and_changed(base.rev, after.rev)
        if changed:
            warnings.append(
                f"`prepare` or `check` change files of the repository: {', '.join(changed[:10])}; "
                "a worker will have to commit or undo that."
            )
        return prepared, checked, left, warnings

    def _command(self, command: str, *, network: bool) -> Ran:
        return run_command(
            command,
            confine=self._confine,
            clone=self._clone,
            workdir=self._workdir,
            own=self._own,
            network=network,
            timeout=self._timeout,
        )
