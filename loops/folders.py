"""Where a session lives in the data folder, and what agents may not see."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings

from loops.agents.base import Places
from loops.agents.cli.known import ADAPTERS
from loops.agents.confine import confine
from loops.models import Session
from loops.workspaces import Confine
from tracker.models import Project

PACKAGES = Path(__file__).resolve().parent  # agents of our own run from here, wherever it lies


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a session lives in the data folder."""

    root: Path
    store: Path

    @classmethod
    def of(cls, session: Session) -> Folders:
        data = Path(settings.DATA)
        return cls(
            root=data / "sessions" / str(session.pk),
            store=data / "projects" / str(session.project_id) / "store.git",
        )

    @property
    def clone(self) -> Path:
        return self.root / "clone"

    def places(
        self, player: str, subpath: str, socket_dir: Path, hidden: tuple[Path, ...]
    ) -> Places:
        return Places(
            clone=self.clone,
            workdir=self.clone / subpath,
            home=self.root / "home" / player,
            tmp=self.root / "tmp" / player,
            socket_dir=socket_dir,
            hidden=hidden,
            readable=(self.root / "bin", PACKAGES),
        )


# Where tools keep keys and sign-ins of the person who runs Loopwatch, under the HOME.
_KEYS = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh",
    ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".pgpass", ".password-store", ".vault-token",
)  # fmt: skip


def hidden_from(project: Project | None) -> tuple[Path, ...]:
    """What no agent may see, nor a program that an agent may have written: the data folder, what
    other hosts reach of every project, other projects' repositories (None: all of them), and keys
    and sign-ins of the person, also those of coding CLIs: agents get what they are lent. A query.
    """
    data, shared = Path(settings.DATA), settings.STORE_URL
    home = Path(os.path.expanduser("~"))
    logins = (name for adapter in ADAPTERS.values() for name in adapter.logins)
    return (
        data,
        *([Path(shared)] if os.path.isabs(shared) else []),
        *(home / name for name in (*_KEYS, *logins)),
        *_repositories_beside(project, data),
    )


def _repositories_beside(project: Project | None, data: Path) -> list[Path]:
    """One that holds this project's repository or the data folder would hide those too."""
    needed = [data, *([Path(project.repo_path)] if project else [])]
    others = Project.objects.exclude(pk=project.pk if project else None)
    found = map(Path, others.values_list("repo_path", flat=True))
    return [path for path in found if not any(one.is_relative_to(path) for one in needed)]


def confine_for(project: Project) -> Confine:
    """Like an agent of the project: what such a program may not see is hidden but for what is
    named. It may be one that an agent wrote, such as a filter in the clone's git."""

    @cache
    def hidden() -> tuple[Path, ...]:
        return hidden_from(project)

    def confined(
        argv: Sequence[str],
        *,
        cwd: Path,
        writable: Sequence[Path],
        readable: Sequence[Path],
        network: bool,
    ) -> list[str]:
        return confine(
            argv,
            cwd=cwd,
            writable=writable,
            readable=readable,
            hidden=hidden(),
            network=network,
        )

    return confined
