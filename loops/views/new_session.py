"""New session: the form, a look at the repository beside it, and the start."""

from __future__ import annotations

from typing import Any

from django.core import signing
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from loops import services
from loops.forms import NewSessionForm
from loops.models import Agent, Session
from loops.pages.new_session import NoSessionPage
from loops.reading import links
from loops.reading.new_session import new_session_form, new_session_page
from tracker.access import Right, acting, is_from_script, may, require, visible_projects
from tracker.errors import DomainError, Invalid
from tracker.models import Project
from tracker.pages.atoms import Act, Empty
from tracker.scope import Scope

LOOK_SECONDS = 1800  # an older look is no word about the repository any more
_SALT = "loops.look"
_KEPT = (
    "goal", "worker", "reviewer", "coach", "review_every", "coach_every", "done_mode", "script",
    "iterations", "hours", "no_progress", "tokens", "money",
)  # fmt: skip
_CANNOT_START = "It cannot start, see “Before the start”. Nothing was saved."

Look = dict[str, Any]


@require_http_methods(["GET", "HEAD", "POST"])
def new_session(request: HttpRequest) -> HttpResponse:
    projects = _projects(request)
    if request.method == "POST":
        _refuse_without(request, projects)
    missing = _missing(request, projects)
    if missing is not None:
        page = NoSessionPage(index=links.INDEX, empty=missing)
        return render(request, "loops/new_session.html", {"page": page})
    project = _project(request, projects)
    if request.method == "POST":
        return _start(request, projects, project)
    initial = {name: request.GET[name] for name in _KEPT if name in request.GET}
    return _page(request, new_session_form(projects, project, initial=initial), project, None)


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Bound and preflight for the form as it stands; looks at the repository when asked to."""
    projects = _projects(request)
    _refuse_without(request, projects)
    project = _project(request, projects)
    look = services.look_at(project) if "preview" in request.POST else _kept_look(request, project)
    form = new_session_form(projects, project, request.POST)
    return _page(request, form, project, look)


def _start(request: HttpRequest, projects: QuerySet[Project], project: Project) -> HttpResponse:
    form = new_session_form(projects, project, request.POST)
    look = _kept_look(request, project)
    if not form.is_valid():
        return _page(request, form, project, look, status=422)
    look = look or services.look_at(project)
    if look["refusals"]:
        form.add_error(None, _CANNOT_START)
        return _page(request, form, project, look, status=422)
    try:
        session = _create(request, form, project, look)
    except DomainError as refusal:
        form.add_error(None, str(refusal))
        return _page(request, form, project, look, status=422)
    return redirect(links.session(session.pk))


def _create(request: HttpRequest, form: NewSessionForm, project: Project, look: Look) -> Session:
    by = acting(request.user)
    require(request.user, Right.OPERATE, project)
    return services.launch(
        project,
        by=by,
        config=_config(form.cleaned_data),
        goal=form.cleaned_data["goal"],
        scope=_scope(form.cleaned_data),
        look=look,
    )


def _config(data: dict[str, Any]) -> dict[str, Any]:
    roles = [role for role in ("worker", "reviewer", "coach") if data[role]]
    tokens = data["tokens"]
    return {
        "agents": {role: services.agent_config(data[role]) for role in roles},
        "limits": {
            "iterations": data["iterations"],
            "wall_seconds": data["hours"] * 3600,
            "no_progress": data["no_progress"],
            "tokens": tokens * 1_000_000 if tokens else None,
            "money": data["money"],
        },
        "review_every": data["review_every"],
        "coach_every": data["coach_every"],
        "done_mode": data["done_mode"],
        "script": data["script"],
    }


def _scope(data: dict[str, Any]) -> Scope:
    if data["scope"] == "chosen":
        return Scope(tuple(data["documents"]), tuple(data["requirements"]))
    return Scope(everything=data["scope"] == "all")


def _page(
    request: HttpRequest,
    form: NewSessionForm,
    project: Project,
    look: Look | None,
    status: int = 200,
) -> HttpResponse:
    request.project = project  # type: ignore[attr-defined]
    token = "" if look is None else _signed(project, look)
    page = new_session_page(form, project, look=look, token=token)
    alone = request.method == "POST" and is_from_script(request)
    template = "loops/_before.html" if alone else "loops/new_session.html"
    return render(request, template, {"page": page}, status=status)


def _signed(project: Project, look: Look) -> str:
    return signing.dumps({"project": project.pk, "look": look}, salt=_SALT, compress=True)


def _kept_look(request: HttpRequest, project: Project) -> Look | None:
    """What an earlier look found, as this form carries it; only our own word counts."""
    try:
        kept = signing.loads(request.POST.get("look", ""), salt=_SALT, max_age=LOOK_SECONDS)
    except signing.BadSignature:
        return None
    look: Look = kept["look"]
    return look if kept["project"] == project.pk else None


def _projects(request: HttpRequest) -> QuerySet[Project]:
    """Where the person may start a session."""
    seen = visible_projects(request.user)
    mine = [one.pk for one in seen if may(request.user, Right.OPERATE, one)]
    return seen.filter(pk__in=mine)


def _project(request: HttpRequest, projects: QuerySet[Project]) -> Project:
    """The one that is asked for; else the one of the newest session, else the first."""
    asked = request.POST.get("project") or request.GET.get("project", "")
    named = projects.filter(name=asked[:63]).first()
    newest = Session.objects.filter(project__in=projects).order_by("-pk").first()
    found = named or (newest.project if newest else projects.first())
    assert found is not None
    return found


def _refuse_without(request: HttpRequest, projects: QuerySet[Project]) -> None:
    """Who may operate nowhere may not even look; the refusal names the project that was meant."""
    if not projects.exists():
        meant = visible_projects(request.user).filter(name=request.POST.get("project", "")[:63])
        require(request.user, Right.OPERATE, meant.first())
        raise Invalid("There is no project to start a session in.")


def _missing(request: HttpRequest, projects: QuerySet[Project]) -> Empty | None:
    """What has to be there before a session can be made; None when it is."""
    may_set_up = may(request.user, Right.ADMINISTER, None)
    demo = (Act(text="Try the demo", post=links.DEMO, icon="play"),) if may_set_up else ()
    if not projects.exists() and visible_projects(request.user).exists():
        sentence = "Starting a loop needs the role operator in a project. An admin can grant it."
        return Empty(icon="lock", fact="You may look at loops, not start them", sentence=sentence)
    if not projects.exists():
        act = (Act(text="New project", href=links.NEW_PROJECT, primary=True),) if may_set_up else ()
        sentence = (
            "A loop works on a project: a repository with requirements. Admins make projects."
        )
        return Empty(icon="folder", fact="There is no project to start in", sentence=sentence,
                     acts=(*act, *demo))  # fmt: skip
    if not Agent.objects.exists():
        sentence = "An agent is a program that plays a role, for example a command line tool."
        back = f"{links.NEW_AGENT}?back={links.NEW_SESSION}"
        act = (Act(text="Add an agent", href=back, primary=True),) if may_set_up else ()
        return Empty(
            icon="cpu", fact="There is no agent yet", sentence=sentence, acts=(*act, *demo)
        )
    return None
