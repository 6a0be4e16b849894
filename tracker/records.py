"""Rows as plain data: the one shape that every door's JSON has."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tracker.models import Bug, Move, Project, Requirement
from tracker.services.actors import described


def project_record(project: Project) -> dict[str, Any]:
    return {
        "id": project.pk,
        "name": project.name,
        "repo_path": project.repo_path,
        "subpath": project.subpath,
        "extra_paths": project.extra_paths,
        "prepare": project.prepare,
        "check_command": project.check_command,
        "pull_request": project.pull_request,
        "accepted_leftovers": project.accepted_leftovers,
        "has_advisory_marks": project.has_advisory_marks,
        "created_at": moment(project.created_at),
    }


def requirement_record(requirement: Requirement) -> dict[str, Any]:
    return {
        "key": requirement.key,
        "version": requirement.current.number,
        "document": requirement.document,
        "session": requirement.session_ref or None,
        "text": requirement.current.text,
        "is_removed": requirement.removed_at is not None,
    }


def bug_record(bug: Bug) -> dict[str, Any]:
    """Return an entry without its history. cites is None where nothing is cited."""
    return {
        "key": bug.key,
        "kind": bug.kind,
        "state": bug.state,
        "priority": bug.priority,
        "title": bug.title,
        "text": bug.text,
        "cites": _citation(bug),
        "quote": bug.quote,
        "contradiction": bug.contradiction,
        "place": bug.place,
        "count": bug.count,
        "session": bug.session_ref or None,
        "commit": bug.commit or None,
        "reopen_count": bug.reopen_count,
        "is_disputed": bug.is_disputed,
        "dismiss_reason": bug.dismiss_reason or None,
        "filed_by": described(bug.filed_by, bug.reference),
        "reference": bug.reference or None,
        "created_at": moment(bug.created_at),
    }


def move_record(move: Move) -> dict[str, Any]:
    return {
        "seq": move.seq,
        "verb": move.verb,
        "from": move.from_state or None,
        "to": move.to_state or None,
        "note": move.note,
        "commit": move.commit or None,
        "by": described(move.actor, move.reference),
        "reference": move.reference or None,
        "at": moment(move.at),
    }


def moment(at: datetime) -> str:
    """Return a time in UTC, to the millisecond: "2026-11-30T17:12:00.123Z"."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _citation(bug: Bug) -> dict[str, Any] | None:
    if bug.requirement is None or bug.version is None:
        return None
    return {"key": bug.requirement.key, "version": bug.version.number, "line": bug.line}
