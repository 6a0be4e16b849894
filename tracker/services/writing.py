"""The one way to write to a tracker: lock, count, record, tell."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F

from tracker import signals
from tracker.engine import rules
from tracker.engine.citations import clean
from tracker.engine.rules import Kind, State, Verb
from tracker.errors import Conflict, Invalid, NotAllowed, NotFound
from tracker.models import Bug, Move, Project, Requirement, RequirementVersion
from tracker.services.actors import By

TEXT_LIMIT = 64 * 1024  # bytes of UTF-8: entries, comments, goals
REQUIREMENT_LIMIT = 2 * 1024 * 1024
TITLE_LIMIT = 10_000


@dataclass(frozen=True)
class Write:
    """One write in progress. project: the locked row, with the tracker_seq of this write."""

    project: Project
    by: By

    def number(self, counter: str) -> int:
        """Return the next number of a kind of key. counter: a `last_*` column of the project."""
        number = getattr(self.project, counter) + 1
        setattr(self.project, counter, number)
        self.project.save(update_fields=[counter])
        return number

    def current(self, bug: Bug) -> Bug:
        """Return the entry as it is now, under the lock; refuse those of another session."""
        now = Bug.objects.select_related("requirement", "version", "started_by").get(pk=bug.pk)
        if not self.by.is_person and now.session_ref not in ("", self.by.session_ref):
            raise NotAllowed(f"{now.key} belongs to another session, {now.session_ref}.")
        now.project = self.project
        return now

    def change(self, bug: Bug, verb: Verb, to: State | None = None, **changes: Any) -> Bug:
        """Write `changes` to the entry and return it as it is then.

        Conditional on the state that was judged: the database, not this process, has the last word.
        `note`, `commit_missing` go to the history only.
        """
        note = changes.pop("note", "")
        commit_missing = changes.pop("commit_missing", False)
        before, state = bug.state, str(to or bug.state)
        if not Bug.objects.filter(pk=bug.pk, state=before).update(state=state, **changes):
            raise Conflict(f"{bug.key} was changed by somebody else. Look at it again.")
        changed = self.current(bug)
        self.record(
            verb,
            subject=bug.key,
            bug=changed,
            from_state=before,
            to_state=state,
            note=note,
            commit=changes.get("commit", ""),
            is_commit_missing=commit_missing,
        )
        self.tell(changed, verb)
        return changed

    def record(self, verb: Verb, *, subject: str = "", **fields: Any) -> Move:
        return Move.objects.create(
            project=self.project,
            seq=self.project.tracker_seq,
            subject=subject,
            verb=verb.value,
            actor=self.by.actor,
            reference=self.by.reference,
            **fields,
        )

    def tell(self, bug: Bug, verb: Verb) -> None:
        signals.bug_changed.send(
            sender=Project,
            project=self.project,
            bug=bug,
            change=verb.value,
            by=self.by,
            counts=rules.is_human_event(verb, Kind(bug.kind), self.by.party),
        )

    def tell_requirement(self, requirement: Requirement, version: RequirementVersion) -> None:
        signals.requirement_changed.send(
            sender=Project,
            project=self.project,
            requirement=requirement,
            version=version,
            by=self.by,
        )


@contextmanager
def writing(project: Project, by: By) -> Iterator[Write]:
    """Open the transaction of one write, with the project's row locked before anything is read.

    The UPDATE is the lock: on PostgreSQL it takes the row as SELECT FOR UPDATE would, on SQLite the
    transaction has begun IMMEDIATE. A refused write takes its count back with everything else.
    """
    if by.actor.project_id not in (None, project.pk):
        raise NotAllowed(f"The tracker of {project} is closed to agents of other projects.")
    with transaction.atomic():
        found = Project.objects.filter(pk=project.pk).update(
            tracker_seq=F("tracker_seq") + 1, write_mark=secrets.randbits(62)
        )
        if not found:
            raise NotFound(f"There is no project {project} any more.")
        yield Write(Project.objects.get(pk=project.pk), by)


def allowed(refused: rules.Refused | None) -> None:
    """Raise what a refusal of the rules means at a door."""
    if refused is not None:
        raise (NotAllowed if refused.lacks_right else Conflict)(refused.sentence)


def given(text: str, what: str, *, limit: int = TEXT_LIMIT) -> str:
    """Return a text that has to be there, storable by every database."""
    text = optional(text, what, limit=limit)
    if not text.strip():
        raise Invalid(f"{what} is missing.")
    return text


def optional(text: str, what: str, *, limit: int = TEXT_LIMIT) -> str:
    text = clean(text)
    size = len(text.encode())
    if size > limit:
        raise Invalid(f"{what} has {_size(size)}; at most {_size(limit)} are kept. Shorten it.")
    return text


def _size(size: int) -> str:
    mega = 1024 * 1024
    return f"{size / mega:.3g} MiB" if size >= mega else f"{size / 1024:.3g} KiB"


def title_of(title: str) -> str:
    """Return a title as one line."""
    return " ".join(given(title, "The title", limit=TITLE_LIMIT).split())
