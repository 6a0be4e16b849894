"""New session: the form, a look at the repository beside it, a dry run, and the start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core import signing
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from loops import rehearsal, services, session_choices
from loops.models import Agent, Session
from loops.pages.new_session import DryRunPart, NoSessionPage, TemplatesPart
from loops.reading import links
from loops.reading.dry_run import dry_run_part
from loops.reading.new_session import new_session_form, new_session_page
from loops.reading.session_templates import found, templates_part
from loops.session_forms import NewSessionForm
from tracker.access import Right, acting, is_from_script, may, require, visible_projects
from tracker.errors import DomainError, Invalid
from tracker.models import Project
from tracker.pages.atoms import Act, Empty

LOOK_SECONDS = 1800  # an older look is no word about the repository any more
_SALT = "loops.look"
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
    kept, notes = found(request.GET.get("template", ""))
    initial = kept | session_choices.from_query(request.GET)
    form = new_session_form(projects, project, initial=initial)
    return _page(request, form, project, None, templates=templates_part(request, notes=notes))


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Bound and preflight for the form as it stands; looks at the repository when asked to, and
    adds or removes a row of it."""
    projects, project = posted(request)
    look = services.look_at(project) if "preview" in request.POST else _kept_look(request, project)
    data = session_choices.with_rows(request.POST)
    if data is request.POST:
        return _page(request, new_session_form(projects, project, data), project, look)
    # Nobody said yet that the form is complete, so nothing is called missing.
    form = new_session_form(projects, project, initial=session_choices.from_query(data))
    form.focus_on_new(request.POST.get("add", ""))
    return _page(request, form, project, look, is_whole=True)


@require_POST
def dry_run(request: HttpRequest) -> HttpResponse:
    """What a start would do. Starts nothing and keeps nothing."""
    projects, project = posted(request)
    form = new_session_form(projects, project, request.POST)
    look = _kept_look(request, project)
    if not form.is_valid():
        return _page(request, form, project, look, status=422)
    look = look or services.look_at(project)
    require(request.user, Right.OPERATE, project)
    try:
        rehearsed = rehearsal.rehearse(
            project,
            by=acting(request.user),
            config=session_choices.config_of(form),
            goal=form.cleaned_data["goal"],
            scope=session_choices.scope_of(form.cleaned_data),
            look=look,
        )
    except DomainError as refusal:
        form.add_error(None, str(refusal))
        return _page(request, form, project, look, status=422)
    return _page(request, form, project, look, rehearsed=dry_run_part(rehearsed))


@require_POST
def save_template(request: HttpRequest) -> HttpResponse:
    projects, project = posted(request)
    require(request.user, Right.OPERATE, project)
    form = new_session_form(projects, project, request.POST)
    look = _kept_look(request, project)
    if not session_choices.can_be_kept(form):
        return _page(request, form, project, look, status=422)
    try:
        kept = session_choices.keep(form, request.POST.get("template_name", ""), request.user)
    except DomainError as refusal:
        part = templates_part(request, error=str(refusal))
        fresh = new_session_form(projects, project, request.POST)
        return _page(request, fresh, project, look, status=422, templates=part)
    messages.success(request, f"The template {kept.name} is kept.")
    fresh = new_session_form(projects, project, request.POST)
    return _page(request, fresh, project, look, templates=templates_part(request, name=kept.name))


def posted(request: HttpRequest) -> tuple[QuerySet[Project], Project]:
    """(where the person may start a session, the project that the form is about)."""
    projects = _projects(request)
    _refuse_without(request, projects)
    return projects, _project(request, projects)


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
    if form.needs_a_word:  # that a verifier judges itself is for an admin to allow (RULES 3)
        require(request.user, Right.ADMINISTER, project)
    return services.launch(
        project,
        by=by,
        config=session_choices.config_of(form),
        goal=form.cleaned_data["goal"],
        scope=session_choices.scope_of(form.cleaned_data),
        look=look,
    )


def _page(
    request: HttpRequest,
    form: NewSessionForm,
    project: Project,
    look: Look | None,
    *,
    status: int = 200,
    is_whole: bool = False,
    rehearsed: DryRunPart | None = None,
    templates: TemplatesPart | None = None,
) -> HttpResponse:
    """is_whole: a script too gets the whole page, for its fields changed."""
    request.project = project  # type: ignore[attr-defined]
    token = "" if look is None else _signed(project, look)
    page = new_session_page(form, project, look=look, token=token)
    page = replace(page, rehearsed=rehearsed, templates=templates or templates_part(request))
    alone = request.method == "POST" and is_from_script(request) and not is_whole
    template = "loops/_preview.html" if alone else "loops/new_session.html"
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
