"""Adding an agent, and the demo that brings its own. Agents run programs on this machine, so both
need the right to set up everything."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST

from loops import demo, services
from loops.forms import AgentForm
from loops.models import Agent
from loops.pages.new_session import NewAgentPage
from loops.reading import links
from tracker.access import Right, acting, require
from tracker.errors import Invalid


@require_http_methods(["GET", "HEAD", "POST"])
def new_agent(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    form = AgentForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _saved(form):
        messages.success(request, f"Agent {form.cleaned_data['name']} is saved.")
        return redirect(_back(request) or links.NEW_SESSION)
    page = NewAgentPage(form=form, post=links.NEW_AGENT, index=links.INDEX, back=_back(request))
    status = 422 if form.is_bound else 200
    return render(request, "loops/new_agent.html", {"page": page}, status=status)


def _saved(form: AgentForm) -> bool:
    """Sessions that run keep their copy, but a name means one program: it is not given twice."""
    name = form.cleaned_data["name"]
    if Agent.objects.filter(name=name).exists():
        form.add_error("name", f"There is an agent {name}. Choose another name.")
        return False
    try:
        services.save_agent(name, form.settings())
    except Invalid as refusal:
        form.add_error("name", str(refusal))
        return False
    return True


def _back(request: HttpRequest) -> str:
    back = request.POST.get("back") or request.GET.get("back", "")
    return back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) else ""


@require_POST
def start_demo(request: HttpRequest) -> HttpResponse:
    """The demo's project, agents and session; a second time leads to the same session."""
    require(request.user, Right.ADMINISTER, None)
    session = demo.ensure_demo(acting(request.user))
    return redirect(links.session(session.pk))
