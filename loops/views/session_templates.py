"""Deleting a template of the new session's form; its second step stands on that page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from loops import session_templates
from loops.reading import links
from loops.reading.session_templates import may_delete
from loops.views.new_session import posted
from tracker.errors import NotAllowed


@require_POST
def delete(request: HttpRequest, template: int) -> HttpResponse:
    posted(request)
    found = session_templates.get_template(template)
    if not may_delete(request, found):
        raise NotAllowed(f"Deleting the template {found} is for {found.by}, or for an admin.")
    session_templates.delete(found)
    messages.success(request, f"The template {found.name} is deleted.")
    return redirect(links.NEW_SESSION)
