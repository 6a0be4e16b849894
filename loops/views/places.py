"""What the tracker's views share: who reads, where things are, rows by the keys of URLs."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils import timezone

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
    topic = live.project_topic(project.pk)
    request.live = Live(  # type: ignore[attr-defined]
        socket=f"/live/project/{project.pk}/", catch_up="", seq=live.sequence(topic)
    )


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
