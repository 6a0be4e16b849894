"""The demo's repository: code that nobody here wrote, from a package that is installed anyway."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path

from tracker.errors import Invalid

PACKAGE = "amqp"  # Celery's AMQP client: 14 files, 5,500 lines, pure Python, BSD licence
_AT = "2026-01-01T00:00:00+00:00"
_WHO = "Loopwatch demo"
_MAIL = "demo@localhost"


def build(target: Path) -> None:
    """Make the repository at `target` with one commit, unless it is there already.

    The same package gives the same commit everywhere. Built beside its place and moved there, so
    that a start that is cut off leaves no half of it. Raises Invalid with a sentence.
    """
    if (target / ".git").is_dir():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=target.parent))
    try:
        _copy_source(draft)
        _commit(draft)
        draft.chmod(0o755)
        draft.rename(target)
    except OSError as error:
        raise Invalid(f"The demo's repository cannot be made at {target}: {error}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _copy_source(folder: Path) -> None:
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise Invalid(
            f"The demo is made from the package {PACKAGE}, which comes with Celery, and it is not "
            "installed here; install Loopwatch with its dependencies."
        ) from None
    for name in package.files or ():
        is_licence = "LICENSE" in name.name.upper()
        if is_licence or (name.parts[0] == PACKAGE and name.suffix == ".py"):
            copy = folder / ("LICENSE" if is_licence else name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(Path(str(name.locate())).read_bytes())
            copy.chmod(0o644)
    about = (
        f"# {PACKAGE} {package.version}\n\nA copy for Loopwatch's demo; the licence is beside it.\n"
    )
    (folder / "README.md").write_text(about, encoding="utf-8")


def _commit(folder: Path) -> None:
    # nothing of this machine's git may show in the commit: no config, no template, no clock
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{f"GIT_{role}_NAME": _WHO for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_EMAIL": _MAIL for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_DATE": _AT for role in ("AUTHOR", "COMMITTER")},
    }
    for arguments in (
        ("init", "-q", "--template=", "-b", "main"),
        ("add", "-A"),
        ("commit", "-q", "-m", f"Import {PACKAGE}"),
    ):
        done = subprocess.run(
            ("git", *arguments),
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Invalid(f"The demo's repository cannot be made: {done.stderr.strip()}.")
