"""What the tracker's views share: who reads, where things are, rows by the keys of URLs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from loops import live
from loops.pages.frame import Live
from loops.reading import effects, links
from tracker import services
from tracker.access import Right, may
from tracker.engine.citations import requirement_key
from tracker.errors import Invalid, NotFound
from tracker.models import Bug, Project, Requirement
from tracker.reading.reader import Reader
from tracker.reading.spec import Urls


def reader_of(request: HttpRequest, project: Project) -> Reader:
    loop = effects.active(effects.loops_of(project))
    return Reader(
        name=request.user.get_username(),
        session_ref=loop.ref if loop else "",
        now=timezone.now(),
    )


def urls_of(project: Project, key: str = "new") -> Urls:
    return Urls(links.tracker(project), links.spec(project), key)


def follow(request: HttpRequest, project: Project) -> None:
    """Make the page live. Call it before its rows are read: a change in between is fetched again
    rather than missed."""
    seq = live.sequence(live.project_topic(project.pk))
    socket = f"/live/project/{project.pk}/"
    request.live = Live(socket=socket, seq=seq)  # type: ignore[attr-defined]


def parts(
    request: HttpRequest, names: str, known: Mapping[str, str], context: dict[str, Any]
) -> HttpResponse:
    """Return the parts "board+entry" that this page has (name -> template). Others are left out:
    forms are parts too, and what is typed into them is never replaced."""
    wanted = [known[name] for name in dict.fromkeys(names.split("+")) if name in known]
    if not wanted:
        return HttpResponse("There is no such part.", status=404, content_type="text/plain")
    return HttpResponse("".join(render_to_string(name, context, request) for name in wanted))


def local(path: str) -> str:
    """A path on this host, such as where a page was opened from; else ""."""
    is_ours = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_ours else ""


def can_act(request: HttpRequest, project: Project) -> bool:
    return may(request.user, Right.OPERATE, project)


def bug_of(project: Project, key: str) -> Bug:
    try:
        return services.get_bug(project, key)
    except Invalid as wrong:
        raise NotFound(f"There is no entry {key[:40]} in {project}.") from wrong


def requirement_of(project: Project, key: str) -> Requirement:
    """Return a requirement, removed or not, the goal of any session too: people see them all."""
    pointer = requirement_key(key)
    found = None
    if pointer is not None:
        rows = project.requirements.select_related("current")
        found = rows.filter(number=pointer.number).first()
    if found is None:
        raise NotFound(f"There is no requirement {key[:40]} in {project}.")
    return found


def owner_of(project: Project, cites: str) -> str:
    """Return the session whose goal "R-5" or "R-5.2" is, "" for the spec of the project."""
    pointer = requirement_key(cites)
    if pointer is None:
        return ""
    rows = project.requirements.filter(number=pointer.number)
    return rows.values_list("session_ref", flat=True).first() or ""
