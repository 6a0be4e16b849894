"""Where a session lives in the data folder, and what its agents may not see of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from loops.agents.base import Places
from loops.models import Session

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

    def places(self, player: str, subpath: str, socket_dir: Path) -> Places:
        return Places(
            clone=self.clone,
            workdir=self.clone / subpath,
            home=self.root / "home" / player,
            tmp=self.root / "tmp" / player,
            socket_dir=socket_dir,
            hidden=hidden_folders(),
            readable=(self.root / "bin", PACKAGES),
        )


def hidden_folders() -> tuple[Path, ...]:
    """What no agent may see: the data folder, and what other hosts reach of every project."""
    shared = settings.STORE_URL
    data = Path(settings.DATA)
    return (data, Path(shared)) if os.path.isabs(shared) else (data,)
