"""Projects."""

from __future__ import annotations

import re
import shlex
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
    pull_request: str = "",
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
        pull_request=_command(pull_request),
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


def set_pull_request(project: Project, command: str, *, by: By) -> Project:
    """Store the command that asks for a merge, "" for none. Raises Invalid, NotAllowed."""
    allowed(rules.act(Verb.CREATE, by.party, "a project"))
    command = _command(command)
    with writing(project, by) as write:
        Project.objects.filter(pk=project.pk).update(pull_request=command)
        note = f"Pull-request command: {command or 'none'}"
        write.record(Verb.EDIT, subject=project.name[:24], note=note)
        write.project.pull_request = command
        return write.project


def get_project(name: str) -> Project:
    found = Project.objects.filter(name=name).first()
    if found is None:
        raise NotFound(f'There is no project "{name}". See: project list.')
    return found


def _command(text: str) -> str:
    """A command line that can be split into words; no shell reads it."""
    text = optional(text, "The pull-request command").strip()
    try:
        shlex.split(text)
    except ValueError:
        raise Invalid("A quotation mark of the pull-request command is not closed.") from None
    return text


def _inside(path: str) -> str:
    """Return a path in the repository in its plain form ("" for the repository itself)."""
    plain = PurePosixPath(optional(path, "A path"))
    if plain.is_absolute() or ".." in plain.parts:
        raise Invalid(f'"{path}" is no path in the repository: write it relative, without "..".')
    return "" if str(plain) == "." else str(plain)
