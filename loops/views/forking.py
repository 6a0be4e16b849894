"""Fork a session: the form with its bound, and the fork itself."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from loops import forks, services
from loops.forks import Point
from loops.forms import ForkForm
from loops.models import Session
from loops.reading import asked, links
from loops.reading.forking import agents_of, fork_form, fork_page
from tracker.access import Right, acting, guarded
from tracker.errors import Conflict, Invalid
from tracker.models import Project


def _project_of(session: Session) -> Project:
    return session.project


guard = guarded("session", services.get_session, project_of=_project_of, reads=Right.OPERATE)


@require_http_methods(["GET", "HEAD", "POST"])
@guard
def fork(request: HttpRequest, session: Session) -> HttpResponse:
    point = _point(request, session)
    if request.method != "POST":
        return _page(request, session, point, fork_form(session))
    form = fork_form(session, request.POST.dict())
    if not form.is_valid():
        return _page(request, session, point, form, status=422)
    by = acting(request.user)
    number = point.iteration.number
    try:
        new = forks.fork(session, number, by, limits=form.limits(), agents=agents_of(form))
    except Invalid as fault:
        form.add_error(None, str(fault))
        return _page(request, session, point, form, status=422)
    except Conflict as fault:
        form.add_error(None, str(fault))
        return _page(request, session, point, form, status=409)
    messages.success(request, f"{new.ref} goes on from {session.ref} after {number}; it is queued.")
    return redirect(links.session(new.pk))


@require_POST
@guard
def before(request: HttpRequest, session: Session) -> HttpResponse:
    """The part beside the form, for the form as it stands."""
    page = fork_page(session, _point(request, session), fork_form(session, request.POST.dict()))
    return render(request, "loops/_before.html", {"page": page})


def _point(request: HttpRequest, session: Session) -> Point:
    return forks.point_of(session, asked.number(request, "at") or 0)


def _page(
    request: HttpRequest, session: Session, point: Point, form: ForkForm, status: int = 200
) -> HttpResponse:
    request.project = session.project  # type: ignore[attr-defined]
    page = fork_page(session, point, form)
    return render(request, "loops/fork.html", {"page": page}, status=status)
