"""Signing in and out."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from loops.pages.plain import NoLinkPage


@login_not_required
@never_cache
@require_safe
def no_link(request: HttpRequest) -> HttpResponse:
    """Where strangers end up: how to get a link."""
    page = NoLinkPage(
        headline="You are signed out", sentence="Signing in needs a link that works once."
    )
    return render(request, "login/none.html", {"page": page})
