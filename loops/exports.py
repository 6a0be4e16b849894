"""Export of one session: what was recorded, as lines of JSON, and what was changed, as a patch.

Everything is read in short queries and handed on piece by piece, so that a session of any length
takes the same memory. Outputs are as they are kept: secrets were taken out before they were.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from django.db.models import QuerySet

from loops import stage
from loops.models import LogEntry, OutputPiece, Session
from loops.workspaces import Unusable
from tracker.errors import Conflict, Invalid
from tracker.records import moment

PAGE = 200
CHUNK = 1 << 16
LEFT_OUT = "(not exported)"
Part = tuple[str, Iterable[bytes]]


def parts(session: Session, folder: Path) -> Iterator[Part]:
    """(name, content in pieces) of each file, in order. folder: takes the patch while it is made;
    the caller removes it."""
    patch, why_none = _patch(session, folder)
    yield "session.json", [_line(_about(session, why_none))]
    yield "log.jsonl", _lines(_pages(_log(session), "seq"), _entry)
    yield "iterations.jsonl", _lines(_pages(session.iterations.all(), "number"), _iteration)
    yield "transitions.jsonl", _lines(_pages(session.transitions.all(), "id"), _transition)
    yield "decisions.jsonl", _lines(_pages(_log(session).filter(kind="decided"), "seq"), _entry)
    yield "output.jsonl", _lines(_pieces(session), _piece)
    if patch is not None:
        yield "changes.patch", _chunks(patch)


def to_folder(session: Session, target: Path) -> None:
    """Into a folder that does not exist yet, or is empty. Raises Invalid."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Invalid(f"{target} is there already and is no empty folder; name another one.")
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in parts(session, Path(scratch)):
            with open(target / name, "wb") as file:
                file.writelines(content)


def to_zip(session: Session, target: Path) -> None:
    """Into a new file. Raises Invalid."""
    try:
        file = open(target, "xb")  # noqa: SIM115
    except OSError as fault:
        raise Invalid(f"{target} cannot be written: {fault.strerror}.") from None
    with file:
        file.writelines(zipped(session))


def zipped(session: Session) -> Iterator[bytes]:
    """The pieces of one zip file that holds a folder of the session's name."""
    sink = _Sink()
    with (
        tempfile.TemporaryDirectory() as scratch,
        zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, content in parts(session, Path(scratch)):
            with archive.open(f"{session.ref}/{name}", "w", force_zip64=True) as member:
                for piece in content:
                    member.write(piece)
                    yield from sink.taken()
    yield from sink.taken()


class _Sink(IO[bytes]):
    """A file that can only be written: what was written is taken out again at once."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def write(self, data: Any) -> int:
        self._held.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def tell(self) -> int:
        raise OSError("a stream")  # zipfile then counts by itself

    def taken(self) -> list[bytes]:
        held, self._held = self._held, []
        return held


def result_rev(session: Session) -> str:
    """The tree that the session ended with, else that of its last boundary, else its base."""
    if session.result_rev:
        return session.result_rev
    last = session.iterations.exclude(rev="").order_by("-number").values_list("rev", flat=True)
    return last.first() or session.base_rev


def public_config(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration without values that may be secret: those of environments are left out;
    secrets themselves are never in it, only their names."""
    return _without_env(config)


def _without_env(value: Any, name: str = "") -> Any:
    if isinstance(value, list):
        return [_without_env(item) for item in value]
    if not isinstance(value, dict):
        return value
    if name == "env":
        return dict.fromkeys(value, LEFT_OUT)
    return {key: _without_env(item, key) for key, item in value.items()}


def _about(session: Session, why_no_patch: str) -> dict[str, Any]:
    return {
        "session": session.ref,
        "project": session.project.name,
        "pattern": session.pattern,
        "state": session.state,
        "end_reason": session.end_reason,
        "end_sentence": session.end_sentence,
        "goal": session.goal,
        "scope": session.scope,
        "config": public_config(session.config),
        "base": {"rev": session.base_rev, "head": session.base_head},
        "result": {"rev": result_rev(session)},
        "forked_from": f"S-{session.forked_from_id}/{session.forked_at}"
        if session.forked_from_id
        else None,
        "own_log_after": session.own_log_after,
        "created_by": session.created_by,
        "created_at": _time(session.created_at),
        "started_at": _time(session.started_at),
        "ended_at": _time(session.ended_at),
        "no_patch_because": why_no_patch or None,
    }


def _patch(session: Session, folder: Path) -> tuple[Path | None, str]:
    result = result_rev(session)
    if not result or result == session.base_rev:
        return None, "The tree is the one that the session started from."
    path = folder / "changes.patch"
    try:
        if not stage.Folders.of(session).store.is_dir():
            raise Unusable("The project's store of recorded trees is not there.")
        stage.workspace_of(session).write_patch(session.base_rev, result, path)
    except (Unusable, Conflict) as fault:
        return None, str(fault)
    return path, ""


def _chunks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while piece := file.read(CHUNK):
            yield piece


def _log(session: Session) -> QuerySet[LogEntry]:
    """As far as it went when the export began."""
    return LogEntry.objects.filter(session=session.pk, seq__lte=session.log_seq)


def _pages(rows: QuerySet[Any], key: str) -> Iterator[Any]:
    """Rows in order of `key`, which is unique among them. No cursor stays open in between."""
    after: Any = None
    while True:
        more = rows if after is None else rows.filter(**{f"{key}__gt": after})
        found = list(more.order_by(key)[:PAGE])
        yield from found
        if len(found) < PAGE:
            return
        after = getattr(found[-1], key)


def _pieces(session: Session) -> Iterator[tuple[int, OutputPiece]]:
    for iteration in _pages(session.iterations.only("session", "number"), "number"):
        after = -1
        while True:  # few at a time: one piece may hold 64 KB
            rows = OutputPiece.objects.filter(iteration=iteration, seq__gt=after).order_by("seq")
            found = list(rows[:20])
            for piece in found:
                yield iteration.number, piece
            if len(found) < 20:
                break
            after = found[-1].seq


def _lines(rows: Iterable[Any], record: Callable[[Any], dict[str, Any]]) -> Iterator[bytes]:
    for row in rows:
        yield _line(record(row))


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _time(at: datetime | None) -> str | None:
    return None if at is None else moment(at)


def _entry(row: LogEntry) -> dict[str, Any]:
    return {"seq": row.seq, "kind": row.kind, "payload": row.payload, "at": _time(row.at)}


def _iteration(row: Any) -> dict[str, Any]:
    names = ("number", "role", "rule", "reason", "outcome", "rev", "head", "detail", "before")
    return {name: getattr(row, name) for name in names} | {
        "claimed_at_seq": row.claimed_at_seq,
        "started_at": _time(row.started_at),
        "ended_at": _time(row.ended_at),
    }


def _transition(row: Any) -> dict[str, Any]:
    names = ("before", "move", "after", "by", "note")
    return {name: getattr(row, name) for name in names} | {"at": _time(row.at)}


def _piece(numbered: tuple[int, OutputPiece]) -> dict[str, Any]:
    number, row = numbered
    return {"iteration": number, "seq": row.seq, "at": _time(row.at), "text": row.text}
