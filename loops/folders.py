"""Where a session lives in the data folder, and what its agents may not see of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from loops.agents.base import Places
from loops.agents.cli.known import ADAPTERS
from loops.models import Session
from tracker.models import Project

PACKAGES = Path(__file__).resolve().parent  # agents of our own run from here, wherever it lies


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a session lives in the data folder. elsewhere: repositories of other projects."""

    root: Path
    store: Path
    elsewhere: tuple[Path, ...] = ()

    @classmethod
    def of(cls, session: Session) -> Folders:
        data = Path(settings.DATA)
        return cls(
            root=data / "sessions" / str(session.pk),
            store=data / "projects" / str(session.project_id) / "store.git",
            elsewhere=_other_projects(session, data),
        )

    @property
    def clone(self) -> Path:
        return self.root / "clone"

    def places(self, player: str, subpath: str, socket_dir: Path) -> Places:
        return Places(
            clone=self.clone,
            workdir=self.clone / subpath,
            home=self.root / "home" / player,
            tmp=self.root / "tmp" / player,
            socket_dir=socket_dir,
            hidden=(*hidden_folders(), *secrets_of_the_person(), *self.elsewhere),
            readable=(self.root / "bin", PACKAGES),
        )


# Where tools keep keys and sign-ins of the person who runs Loopwatch, under the HOME.
_KEYS = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh",
    ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".pgpass", ".password-store", ".vault-token",
)  # fmt: skip


def secrets_of_the_person() -> tuple[Path, ...]:
    """Agents get only what they are lent: no keys, no sign-ins of coding CLIs."""
    home = Path(os.path.expanduser("~"))
    logins = (name for adapter in ADAPTERS.values() for name in adapter.logins)
    return tuple(home / name for name in (*_KEYS, *logins))


def _other_projects(session: Session, data: Path) -> tuple[Path, ...]:
    """One that holds this project's repository or the data folder would hide those too."""
    own = Path(session.project.repo_path)
    others = Project.objects.exclude(pk=session.project_id).values_list("repo_path", flat=True)
    found = (Path(path) for path in others)
    return tuple(
        path for path in found if not (own.is_relative_to(path) or data.is_relative_to(path))
    )


def hidden_folders() -> tuple[Path, ...]:
    """What no agent may see: the data folder, and what other hosts reach of every project."""
    shared = settings.STORE_URL
    data = Path(settings.DATA)
    return (data, Path(shared)) if os.path.isabs(shared) else (data,)
