"""A session's page, live or pinned to one iteration, and its parts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from escalations.frame import follow
from escalations.reading.session import PARTS, View, session_page
from loops import live, services
from loops.models import Iteration, OutputPiece, Session
from loops.reading import asked
from loops.reading.iteration import TABS, log_part
from loops.reading.reading import Reading
from loops.reading.still import one_moment
from tracker.access import Right, guarded, is_from_script, may
from tracker.errors import NotFound
from tracker.models import Project

LONGEST_RAW = 64 * 1024 * 1024  # characters


def project_of(session: Session) -> Project:
    return session.project


seen = guarded("session", services.get_session, project_of=project_of)


@require_safe
@seen
def session(request: HttpRequest, session: Session) -> HttpResponse:
    return _page(request, session)


@require_safe
@seen
def iteration(request: HttpRequest, session: Session, number: int) -> HttpResponse:
    """The page pinned to one iteration; older output lines alone when the page's script asks."""
    before = asked.number(request, "before")
    if is_from_script(request) and before is not None:
        log = log_part(find_iteration(session, number), before=before)
        return render(request, "loops/_log_rows.html", {"log": log})
    return _page(request, session, number)


@require_safe
@seen
def part(
    request: HttpRequest, session: Session, name: str, number: int | None = None
) -> HttpResponse:
    """A part of the page as the page includes it, or several: "status+rows"."""
    names = name.split("+")
    unknown = next((one for one in names if one not in PARTS), None)
    if unknown is not None:
        raise NotFound(f"A session's page has no part “{unknown}”.")
    with one_moment():
        reading, view = _now(session), _view(request, session, number)
        parts = [_part(request, one, reading, view) for one in dict.fromkeys(names)]
    return HttpResponse("".join(parts))


def _now(session: Session) -> Reading:
    """The guard read the session a moment earlier than the page reads its iterations."""
    return Reading(services.get_session(session.pk))


def _part(request: HttpRequest, name: str, reading: Reading, view: View) -> str:
    template, build = PARTS[name]
    return render_to_string(template, {name: build(reading, view)}, request)


@require_safe
@seen
def raw(request: HttpRequest, session: Session, number: int) -> HttpResponse:
    """An iteration's output as it was written, secrets removed; plain text, never a page."""
    pieces = OutputPiece.objects.filter(iteration=find_iteration(session, number)).order_by("seq")
    texts: list[str] = []
    room = LONGEST_RAW
    for text in pieces.values_list("text", flat=True).iterator():
        texts.append(text)
        room -= len(text)
        if room < 0:
            texts.append("\n(The rest is left out: the output is very long.)\n")
            break
    return HttpResponse("".join(texts), content_type="text/plain; charset=utf-8")


def _page(request: HttpRequest, session: Session, number: int | None = None) -> HttpResponse:
    request.project = session.project  # type: ignore[attr-defined]
    follow(request, live.session_topic(session.pk), f"/live/session/{session.pk}/")
    with one_moment():
        shown = session_page(_now(session), _view(request, session, number))
        return render(request, "loops/session.html", {"page": shown})


def find_iteration(session: Session, number: int) -> Iteration:
    found = session.iterations.filter(number=number).select_related("prompt").first()
    if found is None:
        count = session.iteration_count
        known = f"it has {count} so far" if count else "none has started yet"
        raise NotFound(f"{session.ref} has no iteration {number}; {known}.")
    found.session = session
    return found


def _view(request: HttpRequest, session: Session, number: int | None = None) -> View:
    return View(
        pinned=None if number is None else find_iteration(session, number),
        tab=asked.one_of(request, "show", TABS),  # type: ignore[arg-type]
        before=asked.number(request, "before"),
        rows_before=asked.number(request, "rows"),
        may_steer=may(request.user, Right.OPERATE, session.project),
    )
