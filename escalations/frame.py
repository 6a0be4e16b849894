"""Context processor: the frame around every page, with the count of open questions."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from escalations.models import Escalation, Status
from loops import hosts, live
from loops.models import Session
from loops.pages.frame import Frame, Live, NavEntry
from loops.reading import links
from tracker.access import Right, may, visible_projects
from tracker.models import Project

AGE_URL = "/health/engine/"


def frame(request: HttpRequest) -> dict[str, Any]:
    """Nothing is read until a template asks. A page that changes by itself sets `request.live`
    (loops.pages.frame.Live); one about a project that its URL does not name sets `request.project`.
    """
    return {"frame": SimpleLazyObject(lambda: _frame(request))}


def follow(request: HttpRequest, topic: str, socket: str) -> None:
    """Make the page live. Call it before its rows are read: a change in between is fetched again
    rather than missed."""
    request.live = Live(socket=socket, seq=live.sequence(topic))  # type: ignore[attr-defined]


def _frame(request: HttpRequest) -> Frame:
    user = getattr(request, "user", None)
    signed_in = user is not None and user.is_authenticated
    return Frame(
        nav=_nav(request) if signed_in else (),
        engine_age=hosts.age_seconds(),
        age_url=AGE_URL,
        viewer=user.get_username() if signed_in and user else "",
        account_url=links.ACCOUNT,
        live=getattr(request, "live", None),
    )


def _nav(request: HttpRequest) -> tuple[NavEntry, ...]:
    """Only pages that exist: tracker and specs need a project."""
    projects = visible_projects(request.user)
    waiting = Escalation.objects.filter(
        session__project__in=projects, status=Status.OPEN.value
    ).count()
    places = [("Loops", "loops", links.INDEX), ("Queue", "queue", "/queue/")]
    project = _project(request, projects)
    if project is not None:
        places += [
            ("Tracker", "board", links.tracker(project)),
            ("Specs", "doc", links.spec(project)),
        ]
    here = _here(request.path)
    entries = tuple(
        NavEntry(
            word=word,
            icon=icon,
            href=href,
            is_current=word == here,
            count=waiting if word == "Queue" else 0,
        )
        for word, icon, href in places
    )
    return (*entries, *_settings(request, here))


def _settings(request: HttpRequest, here: str) -> tuple[NavEntry, ...]:
    """For those who may set everything up; others could read none of it."""
    if not may(request.user, Right.ADMINISTER, None):
        return ()
    is_current = here == "Settings"
    return (
        NavEntry(
            word="Settings", icon="sliders", href=links.AGENTS, is_current=is_current, is_low=True
        ),
    )


def _here(path: str) -> str:
    parts = path.strip("/").split("/")
    if parts[0] == "queue":
        return "Queue"
    if parts[0] in ("settings", "agents", "welcome"):
        return "Settings"
    if parts[0] == "p" and len(parts) > 2:
        return {"tracker": "Tracker", "specs": "Specs"}.get(parts[2], "")
    return "Loops"


def _project(request: HttpRequest, projects: QuerySet[Project]) -> Project | None:
    """The project that the page is about, else that of the newest session, else the first."""
    known: Project | None = getattr(request, "project", None)
    if known is not None:
        return known
    match = request.resolver_match
    name = match.kwargs.get("project", "") if match else ""
    if isinstance(name, str) and name:
        named = projects.filter(name=name).first()
        if named is not None:
            return named
    newest = Session.objects.filter(project__in=projects).select_related("project").order_by("-pk")
    session = newest.first()
    return session.project if session else projects.first()
