"""Compare two sessions that the person may see."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loops import services
from loops.models import Session
from loops.reading import asked
from loops.reading.compare import choose_page, compare_page
from tracker.access import Right, require, visible_projects


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    first, second = _asked(request, "a"), _asked(request, "b")
    projects = visible_projects(request.user)
    if first is None or second is None:
        page = choose_page(projects, first or second)
        return render(request, "loops/compare_choose.html", {"page": page})
    return render(request, "loops/compare.html", {"page": compare_page(projects, first, second)})


def _asked(request: HttpRequest, name: str) -> Session | None:
    number = asked.number(request, name)
    if number is None:
        return None
    session = services.get_session(number)
    require(request.user, Right.SEE, session.project)
    return session
