"""The first run. Each step is kept when it is done; all of it needs the right to set up."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from loops import agent_services, first_run, services
from loops.adapters import KINDS
from loops.first_run import Repository
from loops.models import Agent
from loops.reading import links
from loops.reading.agent import logins_there
from loops.reading.welcome import found_part, newest_project, welcome_page
from loops.views.places import parts
from loops.views.settings import follow
from loops.welcome_forms import GoalForm, RepositoryForm
from tracker.access import Right, acting, require
from tracker.errors import Conflict, DomainError

_PART = {"agents": "loops/_found_agents.html"}


@require_safe
def welcome(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    follow(request)
    return _page(request, RepositoryForm(), GoalForm())


@require_safe
def part(request: HttpRequest, names: str) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    return parts(request, names, _PART, {"agents": found_part()})


@require_POST
def try_agent(request: HttpRequest, name: str) -> HttpResponse:
    """A coding CLI by its name, or an agent of one; an agent is made of it where there is none."""
    require(request.user, Right.ADMINISTER, None)
    agent = Agent.objects.filter(name=name).first() or agent_services.add_found(name)
    if "asks_logins" in request.POST:
        lent = logins_there(KINDS[agent.adapter]) if "lend_login" in request.POST else ()
        agent = services.save_agent(agent.name, {**agent.settings, "logins": list(lent)})
    try:
        agent_services.ask_to_try(agent.name)
    except Conflict as refusal:
        messages.error(request, str(refusal))
    return redirect(links.WELCOME)


@require_POST
def repository(request: HttpRequest) -> HttpResponse:
    """Look at a folder; with "make", make the project of it."""
    require(request.user, Right.ADMINISTER, None)
    form = RepositoryForm(request.POST)
    if not form.is_valid():
        return _page(request, form, GoalForm(), status=422)
    found = first_run.inspect(form.cleaned_data["path"])
    if found.refusal:
        form.add_error("path", found.refusal)
        return _page(request, form, GoalForm(), status=422)
    if "make" in request.POST and _made(request, form, found):
        return redirect(links.WELCOME)
    if "make" not in request.POST:
        form = RepositoryForm(initial=_proposed(found))
    return _page(request, form, GoalForm(), found, status=422 if form.errors else 200)


def _proposed(found: Repository) -> dict[str, object]:
    return {
        "path": str(found.path),
        "name": first_run.free_name(found.path),
        "check": found.checks,
        "takes_over": True,
    }


def _made(request: HttpRequest, form: RepositoryForm, found: Repository) -> bool:
    data = form.cleaned_data
    try:
        project = first_run.make_project(
            found,
            name=data["name"] or first_run.free_name(found.path),
            check=data["check"],
            takes_over=data["takes_over"],
            by=acting(request.user),
        )
    except DomainError as refusal:
        form.add_error("name", str(refusal))
        return False
    messages.success(request, f"Project {project.name} is made.")
    return True


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """The first session, as the page says it."""
    require(request.user, Right.ADMINISTER, None)
    form = GoalForm(request.POST)
    if form.is_valid():
        project, players = newest_project(), first_run.team()
        try:
            first_run.refuse_unready(project, players)
            assert project is not None
            assert players is not None
            session = services.launch(
                project,
                by=acting(request.user),
                config=first_run.config_of(players),
                goal=form.cleaned_data["goal"],
            )
            return redirect(links.session(session.pk))
        except DomainError as refusal:
            form.add_error("goal", str(refusal))
    return _page(request, RepositoryForm(), form, status=422)


def _page(
    request: HttpRequest,
    repository: RepositoryForm,
    goal: GoalForm,
    found: Repository | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    page = welcome_page(repository, goal, found)
    return render(request, "loops/welcome.html", {"page": page}, status=status)
