"""Start, pause, resume, step, stop and move: one POST each, then back to the session's page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from loops import moving, services
from loops.forms import StopForm
from loops.models import Session
from loops.reading import links
from tracker.access import acting, guarded
from tracker.errors import Invalid
from tracker.models import Project

VERBS = {
    "start": (services.start, "{} is queued."),
    "pause": (services.pause, "{} pauses after the iteration that runs now."),
    "resume": (services.resume, "{} goes on."),
    "step": (services.step, "{} runs one iteration, then it is paused again."),
}


def _project_of(session: Session) -> Project:
    return session.project


@require_POST
@guarded("session", services.get_session, project_of=_project_of)
def steer(request: HttpRequest, session: Session, verb: str) -> HttpResponse:
    act, said = VERBS[verb]
    act(session, acting(request.user))
    messages.success(request, said.format(session.ref))
    return redirect(links.session(session.pk))


@require_POST
@guarded("session", services.get_session, project_of=_project_of)
def stop(request: HttpRequest, session: Session) -> HttpResponse:
    form = StopForm(request.POST)
    if not form.is_valid():
        raise Invalid("The reason is too long: 300 characters at most. Nothing was stopped.")
    services.stop(session, acting(request.user), reason=form.cleaned_data["reason"])
    messages.success(request, f"{session.ref} is stopping; what it changed stays on its branch.")
    return redirect(links.session(session.pk))


@require_POST
@guarded("session", services.get_session, project_of=_project_of)
def move(request: HttpRequest, session: Session) -> HttpResponse:
    """Go on on another host that lives."""
    to = request.POST.get("to", "")
    moving.move(session, to, str(acting(request.user).actor))
    messages.success(request, f"{session.ref} goes on on host {to}.")
    return redirect(links.session(session.pk))
