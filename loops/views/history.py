"""A session's past: its state after any iteration, the replay of its log, all of it as a file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loops import exports, services
from loops.models import Session
from loops.reading import asked
from loops.reading.history import history_page, replay_page
from tracker.access import Right, guarded, may
from tracker.models import Project


def _project_of(session: Session) -> Project:
    return session.project


seen = guarded("session", services.get_session, project_of=_project_of)


@require_safe
@seen
def history(request: HttpRequest, session: Session) -> HttpResponse:
    request.project = session.project  # type: ignore[attr-defined]
    page = history_page(
        session,
        at=asked.number(request, "at"),
        before=asked.number(request, "before"),
        may_fork=may(request.user, Right.OPERATE, session.project),
    )
    return render(request, "loops/history.html", {"page": page})


@require_safe
@seen
def replay(request: HttpRequest, session: Session) -> HttpResponse:
    request.project = session.project  # type: ignore[attr-defined]
    return render(request, "loops/replay.html", {"page": replay_page(session)})


@require_safe
@seen
def export(request: HttpRequest, session: Session) -> StreamingHttpResponse:
    """One zip file, made while it is sent."""
    pieces = exports.zipped(session)
    answer = StreamingHttpResponse(
        _in_thread(pieces) if isinstance(request, ASGIRequest) else pieces,
        content_type="application/zip",
    )
    answer["Content-Disposition"] = f'attachment; filename="{session.ref}.zip"'
    return answer


async def _in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Piece by piece: given a plain iterator, Django would collect all of it first here."""
    take = sync_to_async(next)
    while (piece := await take(pieces, None)) is not None:
        yield piece
