"""Projects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from django.db import IntegrityError, transaction

from tracker.engine import rules
from tracker.engine.rules import Verb
from tracker.errors import Conflict, Invalid, NotFound
from tracker.models import Project
from tracker.services.actors import By
from tracker.services.writing import allowed, optional, writing

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def create_project(
    *,
    name: str,
    repo_path: str,
    by: By,
    subpath: str = "",
    extra_paths: Iterable[str] = (),
    prepare: str = "",
    check_command: str = "",
    accepted_leftovers: Iterable[str] = (),
    has_advisory_marks: bool = False,
) -> Project:
    """Create a project. Paths other than repo_path are relative to the repository.

    Raises Conflict if the name is taken, Invalid, NotAllowed for agents.
    """
    allowed(rules.act(Verb.CREATE, by.party, "a project"))
    if not _NAME.fullmatch(name):
        raise Invalid(
            f'"{name}" is no name of a project: use a-z, 0-9, "-" and "_", at most 63 characters.'
        )
    if not str(repo_path).strip():
        raise Invalid("Name the folder of the project's repository.")
    project = Project(
        name=name,
        repo_path=str(repo_path),
        subpath=_inside(subpath) if subpath else "",
        extra_paths=[_inside(path) for path in extra_paths],
        prepare=optional(prepare, "The prepare command"),
        check_command=optional(check_command, "The check command"),
        accepted_leftovers=[optional(glob, "A leftover") for glob in accepted_leftovers],
        has_advisory_marks=has_advisory_marks,
    )
    with transaction.atomic():
        try:
            with transaction.atomic():
                project.save(force_insert=True)
        except IntegrityError:
            raise Conflict(f"There is a project {name} already. Choose another name.") from None
        with writing(project, by) as write:
            write.record(Verb.CREATE, subject=name[:24])
            return write.project


def get_project(name: str) -> Project:
    found = Project.objects.filter(name=name).first()
    if found is None:
        raise NotFound(f'There is no project "{name}". See: project list.')
    return found


def _inside(path: str) -> str:
    """Return a path in the repository in its plain form ("" for the repository itself)."""
    plain = PurePosixPath(optional(path, "A path"))
    if plain.is_absolute() or ".." in plain.parts:
        raise Invalid(f'"{path}" is no path in the repository: write it relative, without "..".')
    return "" if str(plain) == "." else str(plain)
