"""Push a result, ask for its merge, or download it as a patch: one POST each."""

from __future__ import annotations

from io import BytesIO

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from loops import deliveries, services
from loops.models import Delivery, Session
from loops.reading import links
from loops.reading.deliver import push_form
from tracker.access import acting, guarded
from tracker.errors import Invalid
from tracker.models import Project


def _project_of(session: Session) -> Project:
    return session.project


guard = guarded("session", services.get_session, project_of=_project_of)


@require_POST
@guard
def push(request: HttpRequest, session: Session) -> HttpResponse:
    form = push_form(session, request.POST.dict())
    if not form.is_valid():
        raise Invalid(" ".join(error for errors in form.errors.values() for error in errors))
    target = form.cleaned_data["target"]
    done = deliveries.deliver(session, acting(request.user), Delivery.Kind.PUSH, target)
    return _back(request, session, done.row, f"{deliveries.branch(session)} is pushed.")


@require_POST
@guard
def request(request: HttpRequest, session: Session) -> HttpResponse:
    done = deliveries.deliver(session, acting(request.user), Delivery.Kind.PULL_REQUEST)
    return _back(request, session, done.row, "The pull-request command ran.")


@require_POST
@guard
def patch(request: HttpRequest, session: Session) -> HttpResponseBase:
    """The patch as a file; its bytes may be of any encoding, so none is claimed."""
    done = deliveries.deliver(session, acting(request.user), Delivery.Kind.PATCH)
    if not done.row.ok:
        return _back(request, session, done.row, "")
    return FileResponse(
        BytesIO(done.patch),
        as_attachment=True,
        filename=deliveries.patch_name(session),
        content_type="text/x-patch",
    )


def _back(request: HttpRequest, session: Session, row: Delivery, said: str) -> HttpResponse:
    if row.ok:
        messages.success(request, said)
    else:
        words = row.said.strip().splitlines() or ["it said nothing"]
        messages.error(request, f"Not delivered: {words[-1]}")
    return redirect(f"{links.session(session.pk)}#deliver")
