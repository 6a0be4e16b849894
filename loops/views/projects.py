"""Making a project."""

from __future__ import annotations

from pathlib import Path

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from loops.reading import links
from loops.views.places import urls_of
from loops.workspaces import look
from tracker import services
from tracker.access import Right, acting, require
from tracker.errors import Conflict, Invalid
from tracker.forms import ProjectForm
from tracker.models import Project
from tracker.pages.project import NewProjectPage


def new_project(request: HttpRequest) -> HttpResponse:
    """GET the form, POST makes the project: only who may set up all projects."""
    require(request.user, Right.ADMINISTER, None)
    form = ProjectForm(request.POST or None)
    if form.is_valid():
        project = _made(request, form)
        if project is not None:
            return redirect(urls_of(project).spec)
    page = NewProjectPage(form=form, post=links.NEW_PROJECT, index=links.INDEX)
    return render(
        request, "tracker/new_project.html", {"page": page}, status=422 if form.errors else 200
    )


def _made(request: HttpRequest, form: ProjectForm) -> Project | None:
    """Return the project, or None with a sentence on the form."""
    data = form.cleaned_data
    folder = Path(data["repo_path"])
    try:
        folder = folder.expanduser()
        if not folder.is_absolute():
            form.add_error("repo_path", f"{folder} is not a full path; it begins with /.")
            return None
        folder = folder.resolve()
        found = look(folder, data["subpath"])
    except (OSError, RuntimeError, ValueError) as fault:
        form.add_error("repo_path", f"{folder} cannot be read: {_words(fault)}.")
        return None
    for refusal in found.refusals:
        form.add_error("subpath" if "project's path" in refusal else "repo_path", refusal)
    if found.refusals:
        return None
    try:
        fields = {name: value for name, value in data.items() if name != "repo_path"}
        project = services.create_project(by=acting(request.user), repo_path=str(folder), **fields)
    except Conflict as refusal:
        form.add_error("name", str(refusal))
        return None
    except Invalid as refusal:
        form.add_error(None, str(refusal))
        return None
    messages.success(
        request,
        f"Project {project.name} is made. Write its first requirement, or start a session with a "
        "goal. " + " ".join(found.warnings),
    )
    return project


def _words(fault: Exception) -> str:
    return str(getattr(fault, "strerror", "") or fault).lower() or type(fault).__name__
