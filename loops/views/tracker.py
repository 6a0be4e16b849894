"""The tracker's board, filing, and one entry with its moves."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from loops.reading import effects
from loops.reading.board import board_page
from loops.views.places import bug_of, can_act, follow, owner_of, parts, reader_of, urls_of
from tracker import services
from tracker.access import acting, guarded
from tracker.engine.rules import Kind, Party, Verb, is_human_event
from tracker.errors import Conflict, Invalid
from tracker.forms import KINDS, FileForm
from tracker.models import Bug, Project
from tracker.pages.board import BoardPage
from tracker.pages.filing import FilingPart
from tracker.reading import moves
from tracker.reading.board import Wanted
from tracker.reading.citable import citable, subjects
from tracker.reading.entry import entry as entry_part

TEMPLATE = "tracker/board.html"
PARTS = {"board": "tracker/_board.html", "entry": "tracker/_entry.html"}
_project = guarded("project", services.get_project)


@require_safe
@_project
def board(request: HttpRequest, *, project: Project) -> HttpResponse:
    follow(request, project)
    return render(request, TEMPLATE, {"page": _board(request, project)})


@require_safe
@_project
def board_part(request: HttpRequest, *, project: Project, name: str) -> HttpResponse:
    known = {"board": PARTS["board"]}
    return parts(request, name, known, {"page": _board(request, project)})


@require_POST
@_project
def file(request: HttpRequest, *, project: Project) -> HttpResponse:
    form = _filing_form(project, request.POST)
    if "as_spec" in request.POST:
        return _again(request, project, _filing_form(project, initial=form.as_spec_bug()), 200)
    if form.is_valid():
        try:
            return _filed(request, project, form.cleaned_data)
        except (Invalid, Conflict) as refusal:
            form.add_error(None, str(refusal))
    return _again(request, project, form, 422)


@require_safe
@_project
def entry(request: HttpRequest, *, project: Project, key: str) -> HttpResponse:
    follow(request, project)
    page = _entry(request, project, bug_of(project, key))
    return render(request, TEMPLATE, {"page": page})


@require_safe
@_project
def entry_fragment(request: HttpRequest, *, project: Project, key: str, name: str) -> HttpResponse:
    page = _entry(request, project, bug_of(project, key))
    return parts(request, name, PARTS, {"page": page, "entry": page.entry})


@_project
def move(request: HttpRequest, *, project: Project, key: str, slug: str) -> HttpResponse:
    """GET shows the entry with that move unfolded, POST makes it."""
    offer = moves.offer(slug)
    bug = bug_of(project, key)
    if request.method != "POST":
        follow(request, project)
        page = _entry(request, project, bug, unfolded=slug)
        return render(request, TEMPLATE, {"page": page})
    form = offer.form(bug, request.POST, slug)
    if form.is_valid():
        try:
            changed = offer.act(bug, acting(request.user), form.cleaned_data)
        except (Invalid, Conflict) as refusal:
            form.add_error(None, str(refusal))
        else:
            _say_moved(request, project, bug, changed, offer)
            return redirect(f"{urls_of(project).tracker}{key}/")
    page = _entry(request, project, bug_of(project, key), unfolded=slug, refused=form)
    return render(request, TEMPLATE, {"page": page}, status=422)


def _board(request: HttpRequest, project: Project, filing: FilingPart | None = None) -> BoardPage:
    may_act = can_act(request, project)
    kind = request.GET.get("file", "")
    if filing is None and kind in dict(KINDS) and may_act:
        initial = {"kind": kind, "about": request.GET.get("about", "")}
        filing = _filing(project, _filing_form(project, initial=initial))
    return board_page(
        project,
        Wanted.from_query(request.GET),
        reader_of(request, project),
        urls_of(project),
        can_act=may_act,
        filing=filing,
    )


def _entry(
    request: HttpRequest,
    project: Project,
    bug: Bug,
    *,
    unfolded: str = "",
    refused: BaseForm | None = None,
) -> BoardPage:
    reader, urls, may_act = reader_of(request, project), urls_of(project), can_act(request, project)
    part = entry_part(
        bug,
        reader,
        effects.entry_effect(effects.loops_of(project), bug),
        base=urls.tracker,
        specs=urls.spec,
        can_act=may_act,
        unfolded=unfolded,
        refused=refused,
    )
    wanted = Wanted.from_query(request.GET)
    return board_page(project, wanted, reader, urls, can_act=may_act, entry=part)


def _filing_form(project: Project, data: Any = None, **kwargs: Any) -> FileForm:
    return FileForm(data, citable=citable(project), requirements=subjects(project), **kwargs)


def _filing(project: Project, form: FileForm) -> FilingPart:
    urls = urls_of(project)
    return FilingPart(
        form=form,
        project=project.name,
        post=f"{urls.tracker}file/",
        close=urls.tracker,
        next_lines=effects.filing_lines(effects.loops_of(project)),
        spec_lines=effects.spec_bug_lines(),
        offers_spec_bug=bool(form.errors) and form.data.get("kind") == "code",
    )


def _again(request: HttpRequest, project: Project, form: FileForm, status: int) -> HttpResponse:
    page = _board(request, project, _filing(project, form))
    return render(request, TEMPLATE, {"page": page}, status=status)


def _filed(request: HttpRequest, project: Project, data: dict[str, Any]) -> HttpResponse:
    """Raises Invalid or Conflict; nothing is filed then."""
    bug, said = _file(request, project, data)
    counts = is_human_event(Verb.FILE, Kind(bug.kind), Party.PERSON)
    told = effects.happened(effects.loops_of(project), bug, counts=counts) if counts else ""
    messages.success(request, f"{said} {told}".strip())
    return redirect(f"{urls_of(project).tracker}#{bug.key}")


def _file(request: HttpRequest, project: Project, data: dict[str, Any]) -> tuple[Bug, str]:
    by = acting(request.user)
    common = {"by": by, "title": data["title"], "cites": data["cites"]}
    common["session_ref"] = owner_of(project, data["cites"])
    if data["kind"] == "task":
        bug = services.file_task(project, text=data["text"], priority=data["priority"], **common)
    elif data["kind"] == "spec":
        bug = services.file_spec_bug(project, text=data["text"], **common)
        return bug, f"{bug.key} filed. It waits on this board for a person; no loop reads it."
    else:
        fields = ("quote", "version", "contradiction", "place", "priority")
        filed = services.file_code_bug(project, **common, **{name: data[name] for name in fields})
        if filed.merged:
            return filed.bug, f"{filed.bug.key} is this finding; it was counted once more."
        bug = filed.bug
    return bug, f"{bug.key} filed."


def _say_moved(
    request: HttpRequest, project: Project, before: Bug, after: Bug, offer: moves.Offer
) -> None:
    said = offer.done.format(before.key)
    if after.key != before.key:
        said += f" {after.key} is filed for it."
    counts = is_human_event(offer.verb, Kind(before.kind), Party.PERSON)
    told = ""
    if after.kind != Kind.SPEC:
        told = effects.happened(effects.loops_of(project), after, counts=counts)
    messages.success(request, f"{said} {told}".strip())
