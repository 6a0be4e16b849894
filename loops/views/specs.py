"""A project's spec: list, reading, writing, versions, removing."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from loops.reading import editor, effects
from loops.reading.editor import Desk
from loops.views.places import bug_of, can_act, follow, parts, reader_of, requirement_of, urls_of
from tracker import services
from tracker.access import acting, guarded
from tracker.errors import Conflict, DomainError, Invalid, NotFound
from tracker.forms import RequirementForm
from tracker.models import Project, RequirementVersion
from tracker.pages.atoms import Act, Empty
from tracker.pages.spec import EditorPart
from tracker.reading.spec import spec_page, version_of

TEMPLATE = "tracker/requirement.html"
_project = guarded("project", services.get_project)


@require_safe
@_project
def index(request: HttpRequest, *, project: Project) -> HttpResponse:
    follow(request, project)
    may_edit, urls = can_act(request, project), urls_of(project)
    page = spec_page(project, urls, can_edit=may_edit)
    if not page.count:
        acts = (Act(text="Write the first one", href=page.new, primary=True),) if may_edit else ()
        empty = Empty(
            icon="doc",
            fact="No requirement is written yet",
            sentence="A requirement is one statement that must hold. The reviewer marks each one, "
            "or files a bug that cites it.",
            acts=acts,
        )
        page = replace(page, empty=empty)
    return render(request, TEMPLATE, {"page": page})


@require_safe
@_project
def list_part(request: HttpRequest, *, project: Project, name: str, key: str = "") -> HttpResponse:
    """The list; key: of the requirement that is open beside it."""
    page = spec_page(project, urls_of(project), current=key, can_edit=can_act(request, project))
    known = {"list": "tracker/_requirement_list.html"}
    return parts(request, name, known, {"page": page})


@_project
def requirement(request: HttpRequest, *, project: Project, key: str) -> HttpResponse:
    """GET reads or (?write=1) opens the editor; POST saves a version. key "new": a new one."""
    if request.method == "POST":
        return _save(request, _desk(request, project, key))
    follow(request, project)
    desk = _desk(request, project, key)
    is_new = desk.requirement is None
    if is_new or (desk.can_edit and "write" in request.GET):
        form = desk.blank()
        if is_new:
            form.initial["document"] = request.GET.get("document", "")
        return _shown(request, desk, editor.writing(desk, form))
    part = editor.reading(
        desk, compare=_number(request.GET, "compare"), is_removing="remove" in request.GET
    )
    return _shown(request, desk, part)


@require_POST
@_project
def preview(request: HttpRequest, *, project: Project, key: str) -> HttpResponse:
    """What saving the draft would do; a part for scripts, the whole page without."""
    desk = _desk(request, project, key)
    form = _unbound_copy(desk, request.POST)
    part = editor.writing(desk, form)
    if "HX-Request" in request.headers:
        context = {"saving": part.saving, "form": form, "preview": part.preview}
        return render(request, "tracker/_saving.html", context)
    return _shown(request, desk, part)


@require_POST
@_project
def restore(request: HttpRequest, *, project: Project, key: str) -> HttpResponse:
    """Save the text of an older version as a new one."""
    found = requirement_of(project, key)
    number = _number(request.POST, "version") or 0
    old = version_of(found, number)
    if old is None:
        raise NotFound(f"{found.key} has no version {number}.")
    based_on = _number(request.POST, "based_on")
    made = services.edit_requirement(
        project, found.key, text=old.text, by=acting(request.user), based_on=based_on
    )
    return _saved(request, project, made, f"with the text of v{number}")


@require_POST
@_project
def remove(request: HttpRequest, *, project: Project, key: str) -> HttpResponse:
    found = requirement_of(project, key)
    told = effects.saved(project, found, "the spec without it")
    services.remove_requirement(project, found.key, by=acting(request.user))
    messages.success(request, f"{found.key} was removed. {told}".strip())
    return redirect(urls_of(project).spec)


def _desk(request: HttpRequest, project: Project, key: str) -> Desk:
    found = None if key == "new" else requirement_of(project, key)
    may_edit = can_act(request, project)
    if found is None and not may_edit:
        raise NotFound("Only people with the role operator write requirements.")
    return Desk(
        project=project,
        requirement=found,
        urls=urls_of(project, found.key if found else "new"),
        reader=reader_of(request, project),
        can_edit=may_edit,
    )


def _shown(request: HttpRequest, desk: Desk, part: EditorPart, status: int = 200) -> HttpResponse:
    page = spec_page(desk.project, desk.urls, current=part.key, can_edit=desk.can_edit)
    return render(request, TEMPLATE, {"page": replace(page, editor=part)}, status=status)


def _save(request: HttpRequest, desk: Desk) -> HttpResponse:
    form = desk.bound(request.POST)
    if not form.is_valid():
        return _shown(request, desk, editor.writing(desk, form), 422)
    data = form.cleaned_data
    try:
        made = services.edit_requirement(
            desk.project,
            desk.requirement.key if desk.requirement else None,
            text=data["text"],
            by=acting(request.user),
            document=data["document"],
            based_on=data["based_on"] if desk.requirement else None,
        )
    except Invalid as refusal:
        form.add_error("text", str(refusal))
        return _shown(request, desk, editor.writing(desk, form), 422)
    except Conflict as refusal:
        return _lost(request, desk, data["based_on"], str(refusal))
    _confirm(request, desk.project, data["confirm"])
    if desk.requirement and made.number == desk.version:
        messages.success(
            request, f"Nothing was changed: {desk.requirement.key} stays at v{made.number}."
        )
        return redirect(desk.urls.page)
    return _saved(request, desk.project, made)


def _lost(request: HttpRequest, desk: Desk, based_on: int, refusal: str) -> HttpResponse:
    """Somebody saved first: show both texts; saving again puts this one on top, knowingly."""
    fresh = _desk(request, desk.project, desk.urls.key)
    if fresh.requirement is None or fresh.requirement.removed_at is not None:
        part = editor.writing(fresh, fresh.bound(request.POST), notice=refusal)
        return _shown(request, fresh, part, 409)
    form = _unbound_copy(fresh, request.POST, based_on=fresh.version)
    return _shown(request, fresh, editor.writing(fresh, form, lost_to=based_on), 409)


def _unbound_copy(desk: Desk, data: QueryDict, based_on: int | None = None) -> RequirementForm:
    """Return the form with what was typed, unchecked. based_on: the version it stands on now."""
    typed = {
        "text": data.get("text", ""),
        "document": data.get("document", ""),
        "confirm": data.getlist("confirm"),
        "based_on": based_on if based_on is not None else _number(data, "based_on") or 0,
    }
    return RequirementForm(initial=typed, citing=[bug.key for bug in desk.citing()])


def _saved(
    request: HttpRequest, project: Project, made: RequirementVersion, how: str = ""
) -> HttpResponse:
    found = made.requirement
    told = effects.saved(project, found, f"v{made.number}")
    words = " ".join(filter(None, (f"{found.key} saved as v{made.number}", how)))
    messages.success(request, f"{words}. {told}".strip())
    return redirect(urls_of(project, found.key).page)


def _confirm(request: HttpRequest, project: Project, keys: list[str]) -> None:
    """Each entry by itself: the requirement is saved already, a refusal is told."""
    for key in keys:
        try:
            services.confirm(bug_of(project, key), acting(request.user))
        except DomainError as refusal:
            messages.error(request, f"{key} is not confirmed. {refusal}")


def _number(data: QueryDict, name: str) -> int | None:
    text = data.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
