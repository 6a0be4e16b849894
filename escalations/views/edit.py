"""Edit and approve: choose a file of the result, edit it, commit and approve. Works without script:
each button of the form sends what was typed, and the page comes back with it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from escalations import services
from escalations.models import Escalation, Status
from escalations.reading import queue
from escalations.reading.edit import Draft, draft_of, edit_form, edit_page
from escalations.word import Word, offered
from loops.engine.values import Choice
from tracker.access import Right, acting, guarded
from tracker.errors import Conflict, Invalid
from tracker.models import Project


def project_of(escalation: Escalation) -> Project:
    return escalation.session.project


guard = guarded("escalation", services.get_escalation, project_of=project_of, reads=Right.OPERATE)


@require_http_methods(["GET", "HEAD", "POST"])
@guard
def edit(request: HttpRequest, escalation: Escalation) -> HttpResponse:
    if escalation.status != Status.OPEN.value and request.method != "POST":
        return redirect(f"{queue.HREF}{escalation.pk}/")
    if Choice.EDIT not in offered(escalation):
        raise Invalid(f"{escalation} has no result that could be edited.")
    if request.method != "POST":
        draft = draft_of(escalation, None, request.GET.get("file", ""))
        return _page(request, escalation, draft)
    wanted = request.POST.get("open", "") or request.POST.get("path", "")
    draft = draft_of(escalation, request.POST, wanted)
    if "decide" not in request.POST:
        return _page(request, escalation, draft)
    return _decide(request, escalation, draft)


def _decide(request: HttpRequest, escalation: Escalation, draft: Draft) -> HttpResponse:
    """One decision, bound to the evidence of the page that the person edited on."""
    form = edit_form(escalation, request.POST)
    version = request.POST.get("version", "")
    if not form.is_valid():
        return _page(request, escalation, draft, status=422)
    word = Word(
        choice=Choice.EDIT,
        text=form.cleaned_data["note"],
        evidence=request.POST.get("evidence", "")[:64],
        version=int(version) if version.isascii() and version.isdigit() else 0,
        edits=draft.edits,
    )
    try:
        services.decide(escalation, word, acting(request.user))
    except Conflict as fault:
        now = services.get_escalation(escalation.pk)
        return _page(request, now, draft, changed=str(fault), status=409)
    except Invalid as fault:
        return _page(request, escalation, draft, error=str(fault), status=422)
    messages.success(
        request,
        f"{escalation} is decided: your commit is on top. S-{escalation.session_id} ends with it.",
    )
    return redirect(f"{queue.HREF}{escalation.pk}/")


def _page(
    request: HttpRequest,
    escalation: Escalation,
    draft: Draft,
    *,
    changed: str = "",
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    request.project = escalation.session.project  # type: ignore[attr-defined]
    form = edit_form(escalation, request.POST if request.method == "POST" else None)
    page = edit_page(escalation, draft, form, changed=changed, error=error)
    return render(request, "escalations/edit.html", {"page": page}, status=status)
