"""Agents one by one, and the demo that brings its own. Agents run programs on this machine, so all
of it needs the right to set everything up."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from loops import agent_services, demo, secrets, services
from loops.adapters import KINDS
from loops.agent_forms import AgentForm, initial_of
from loops.models import Agent, Secret
from loops.reading import links
from loops.reading.agent import agent_page, new_agent_page
from loops.views.places import local
from loops.views.settings import follow
from tracker.access import Right, acting, require
from tracker.errors import Conflict, DomainError


@require_http_methods(["GET", "HEAD", "POST"])
def new_agent(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    adapter = request.GET.get("adapter", "")
    chosen = adapter if adapter in KINDS else "command"
    name = agent_services.free_name(adapter) if adapter in KINDS and adapter != "command" else ""
    initial = {"adapter": chosen, "name": name}
    form = AgentForm(request.POST or None, secrets=_secrets(), initial=initial)
    if request.method == "POST" and form.is_valid() and _saved(request, form):
        return _after(request, form.cleaned_data["name"])
    page = new_agent_page(form, _back(request))
    status = 422 if form.errors else 200
    return render(request, "loops/settings/agent.html", {"page": page}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def agent(request: HttpRequest, name: str) -> HttpResponse:
    """Its settings: to look at, to replace."""
    require(request.user, Right.ADMINISTER, None)
    follow(request)
    found = agent_services.get_agent(name)
    form = AgentForm(
        request.POST or None, secrets=_secrets(), fixed=name, initial=initial_of(found.settings)
    )
    if request.method == "POST" and form.is_valid() and _saved(request, form, found):
        return _after(request, name)
    return _page(request, found, form, status=422 if form.errors else 200)


@require_POST
def try_agent(request: HttpRequest, name: str) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    try:
        agent_services.ask_to_try(name)
    except Conflict as refusal:
        messages.error(request, str(refusal))
    return redirect(_back(request) or links.AGENTS)


@require_POST
def remove(request: HttpRequest, name: str) -> HttpResponse:
    """The first time it asks; the second time, with "sure", it is done."""
    require(request.user, Right.ADMINISTER, None)
    found = agent_services.get_agent(name)
    if "sure" not in request.POST:
        form = AgentForm(secrets=_secrets(), fixed=name, initial=initial_of(found.settings))
        return _page(request, found, form, asks=True)
    agent_services.remove(name)
    messages.success(request, f"The agent {name} is gone. Sessions keep their copy of it.")
    return redirect(links.AGENTS)


def _page(
    request: HttpRequest, found: Agent, form: AgentForm, *, asks: bool = False, status: int = 200
) -> HttpResponse:
    page = agent_page(found, form, back=_back(request), asks=asks)
    return render(request, "loops/settings/agent.html", {"page": page}, status=status)


def _saved(request: HttpRequest, form: AgentForm, found: Agent | None = None) -> bool:
    """A name means one agent: it is not given twice by accident."""
    name = found.name if found else form.cleaned_data["name"]
    if found is None and Agent.objects.filter(name=name).exists():
        form.add_error("name", f"There is an agent {name}. Choose another name.")
        return False
    kept = dict(found.settings) if found else {}
    try:
        settings = _with_key(request, form, name)
        if found and form.adapter_now == found.adapter and kept.get("logins"):
            settings["logins"] = kept["logins"] if settings["logins"] else []
        services.save_agent(name, settings)
    except DomainError as refusal:
        form.add_error("name" if found is None else None, str(refusal))
        return False
    return True


def _with_key(request: HttpRequest, form: AgentForm, name: str) -> dict[str, object]:
    """The settings; a key that was typed is kept as a secret of its own first."""
    settings = form.settings()
    if value := form.cleaned_data.get("new_key", "").strip():
        settings["key"] = f"{name}-key"[:60]
        secrets.keep(settings["key"], value, by=str(acting(request.user).actor))
    return settings


def _after(request: HttpRequest, name: str) -> HttpResponse:
    if "and_try" in request.POST:
        return try_agent(request, name)
    messages.success(request, f"Agent {name} is saved.")
    return redirect(_back(request) or links.AGENTS)


def _secrets() -> list[str]:
    return list(Secret.objects.order_by("name").values_list("name", flat=True))


def _back(request: HttpRequest) -> str:
    return local(request.POST.get("back") or request.GET.get("back", ""))


@require_POST
def start_demo(request: HttpRequest) -> HttpResponse:
    """The demo's project, agents and session; a second time leads to the same session."""
    require(request.user, Right.ADMINISTER, None)
    session = demo.ensure_demo(acting(request.user))
    return redirect(links.session(session.pk))
