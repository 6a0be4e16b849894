"""A person's edit of a session's result: their commit on top of the tree that they were shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.contrib.auth import get_user_model

from loops import stage
from loops.engine.values import Snapshot
from loops.models import Session
from loops.snapshots import Fold
from loops.workspaces import Refused, Unusable, commit_on_top, landing
from tracker.errors import Conflict, Invalid, NotAllowed
from tracker.services import By


def edit(session: Session, rev: str, files: Mapping[str, str], *, message: str, by: By) -> Snapshot:
    """Commit new texts of files (by path from the repository's root) on top of the tree `rev`.

    Runs git, so never inside a transaction; the session itself is not changed. Raises Invalid for
    what may not be edited.
    """
    if not by.is_person:
        raise NotAllowed("Only people edit a result.")
    shown, project = snapshot_of(session, rev), session.project
    with _told():
        tree = commit_on_top(
            stage.Folders.of(session).store,
            shown.rev,
            shown.head,
            files,
            _printable(by.actor.name),
            _email(by.actor.name),
            message,
            subpath=project.subpath,
            extra_paths=tuple(project.extra_paths),
            leftovers=tuple(project.accepted_leftovers),
        )
    return Snapshot(tree.rev, tree.head)


def snapshot_of(session: Session, rev: str) -> Snapshot:
    """The recorded tree with that content, and the commit it stands on."""
    question = Fold.load(session).state.question
    if question is not None and question.shown is not None and question.shown.rev == rev:
        return Snapshot(question.shown.rev, question.shown.head)
    heads = session.iterations.filter(rev=rev).order_by("-number").values_list("head", flat=True)
    head = heads.first()
    if not head:
        raise Conflict(f"{session.ref} has no recorded tree {rev[:12]}; look at it again.")
    return Snapshot(rev, head)


def files(session: Session, rev: str) -> tuple[str, ...]:
    """The files that the session changed and that a person may edit."""
    with _told():
        return landing.changed_files(stage.Folders.of(session).store, session.base_rev, rev)


def text_of(session: Session, rev: str, path: str) -> str:
    """The text of one file of the tree. Raises Invalid where it is no text."""
    with _told():
        return landing.text_of(stage.Folders.of(session).store, rev, path)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except Refused as refusal:
        raise Invalid(str(refusal)) from None
    except Unusable as fault:
        raise Conflict(str(fault)) from fault


def _printable(name: str) -> str:
    return "".join(c for c in name if c.isprintable() and c not in "<>") or "person"


def _email(name: str) -> str:
    known = get_user_model().objects.filter(username=name).values_list("email", flat=True).first()
    return (
        known or f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name).strip('-') or 'person'}@loopwatch.invalid"
    )
