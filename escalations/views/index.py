"""All loops."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from escalations.frame import follow
from escalations.reading.index import index_page
from loops import live
from loops.pages.index import IndexPage
from loops.reading.found import query_of
from loops.reading.still import one_moment
from tracker.access import Right, may, visible_projects


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    follow(request, live.ALL, "/live/")
    with one_moment():
        return render(request, "loops/index.html", {"page": _page(request)})


@require_safe
def index_part(request: HttpRequest) -> HttpResponse:
    with one_moment():
        return render(request, "loops/_index.html", {"page": _page(request)})


def _page(request: HttpRequest) -> IndexPage:
    may_set_up = may(request.user, Right.ADMINISTER, None)
    query = query_of(request.GET)
    return index_page(visible_projects(request.user), may_set_up=may_set_up, query=query)
