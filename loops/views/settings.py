"""Settings: agents and prices, roles, secrets. All of it needs the right to set everything up."""

from __future__ import annotations

from decimal import Decimal

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from loops import agent_services, ledger, live, price_source, secrets
from loops.models import Agent, Price, Program, Secret
from loops.pages.frame import Live
from loops.pages.settings import PricesPage, SecretPage
from loops.reading import links
from loops.reading.agent import CRUMBS
from loops.reading.agents import agents_page, agents_part, price_rows
from loops.settings_forms import PricesForm, RolesForm, SecretForm
from loops.views.places import local, parts
from tracker.access import Right, acting, require
from tracker.errors import Conflict, DomainError
from tracker.pages.words import listed

_PART = {"agents": "loops/settings/_agents.html"}


@require_safe
def agents(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    follow(request)
    return _agents(request, _roles())


@require_safe
def part(request: HttpRequest, names: str) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    return parts(request, names, _PART, {"agents": agents_part()})


@require_POST
def propose(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    form = _roles(request)
    if not form.is_valid():
        return _agents(request, form, status=422)
    agent_services.propose(form.agents())
    messages.success(request, "The form of a new session proposes these agents from now on.")
    return redirect(f"{links.AGENTS}#roles")


@require_POST
def look(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    there = [one for one in agent_services.look_again() if one.path]
    names = listed([one.name for one in there], 6)
    messages.success(request, f"On this machine: {names}." if names else "No coding CLI is here.")
    return redirect(local(request.POST.get("back", "")) or links.AGENTS)


# --- prices ----------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
def prices(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    form = _prices(request)
    if request.method == "POST" and form.is_valid():
        by = str(acting(request.user).actor)
        changed = form.prices()
        for model, (input_, cached, output) in changed.items():
            ledger.set_price(model, input=input_, cached=cached, output=output, by=by)
        messages.success(request, _priced(list(changed)))
        return redirect(f"{links.AGENTS}#prices")
    page = PricesPage(
        form=form, post=links.PRICES, take=links.TAKE_PRICES, source=price_source.name(),
        crumbs=CRUMBS,
    )  # fmt: skip
    return render(
        request, "loops/settings/prices.html", {"page": page}, status=422 if form.errors else 200
    )


@require_POST
def take_prices(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER, None)
    taken = price_source.take()
    said = [_priced(list(taken.set))] if taken.set else []
    if taken.kept:
        said.append(f"As before: {listed(list(taken.kept), 6)}.")
    if taken.unknown:
        unknown = listed(list(taken.unknown), 6)
        said.append(f"Not known to {price_source.name()}: {unknown}. Set these by hand.")
    messages.success(request, " ".join(said) or "No agent names a model that is paid for by use.")
    return redirect(f"{links.AGENTS}#prices")


def _priced(models: list[str]) -> str:
    if not models:
        return "No price changed."
    return f"{listed(models, 6)}: calls from now on are counted by the new price."


def _prices(request: HttpRequest) -> PricesForm:
    models = [row.model for row in price_rows("")]
    known = Price.objects.in_bulk(models, field_name="model")
    initial = {
        f"{kind}-{index}": _plain(getattr(known[model], kind))
        for index, model in enumerate(models)
        if model in known
        for kind in ("input", "cached", "output")
    }
    return PricesForm(request.POST or None, models=models, initial=initial)


def _plain(amount: Decimal) -> Decimal:
    """3.000000 -> 3, 100 -> 100 and not 1E+2."""
    return Decimal(f"{amount.normalize():f}")


# --- secrets ---------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
def secret(request: HttpRequest, name: str = "") -> HttpResponse:
    """A new one, or another value for the one of that name."""
    require(request.user, Right.ADMINISTER, None)
    if name:
        secrets.find(name)
    form = SecretForm(request.POST or None, fixed=name)
    if request.method == "POST" and form.is_valid() and _kept(request, form, name):
        return redirect(f"{links.AGENTS}#secrets")
    return _secret(request, form, name, status=422 if form.errors else 200)


def _kept(request: HttpRequest, form: SecretForm, name: str) -> bool:
    called = name or form.cleaned_data["name"]
    try:
        if not name and Secret.objects.filter(name=called).exists():
            raise Conflict(f"There is a secret {called}. Replace it, or choose another name.")
        value = form.cleaned_data["value"].rstrip("\r\n")
        secrets.keep(called, value, by=str(acting(request.user).actor))
    except DomainError as refusal:
        form.add_error("value" if name else "name", str(refusal))
        return False
    messages.success(request, f"The secret {called} is kept. Calls from now on get it.")
    return True


@require_POST
def remove_secret(request: HttpRequest, name: str) -> HttpResponse:
    """The first time it asks; the second time, with "sure", it is done."""
    require(request.user, Right.ADMINISTER, None)
    if "sure" not in request.POST:
        secrets.find(name)
        return _secret(request, SecretForm(fixed=name), name, asks=True)
    try:
        secrets.remove(name)
    except Conflict as refusal:
        messages.error(request, str(refusal))
        return redirect(links.secret(name))
    messages.success(request, f"The secret {name} is gone.")
    return redirect(f"{links.AGENTS}#secrets")


def _secret(
    request: HttpRequest, form: SecretForm, name: str, *, asks: bool = False, status: int = 200
) -> HttpResponse:
    page = SecretPage(
        form=form,
        post=links.secret(name) if name else links.SECRETS,
        crumbs=CRUMBS,
        name=name,
        users=tuple(secrets.users(name)) if name else (),
        remove=f"{links.secret(name)}remove/" if name else "",
        asks=asks,
    )
    return render(request, "loops/settings/secret.html", {"page": page}, status=status)


# --- shared ----------------------------------------------------------------------------------


def follow(request: HttpRequest) -> None:
    """Make the page live, and have a worker look for programs if nobody ever did. Call it before
    its rows are read."""
    request.live = Live(  # type: ignore[attr-defined]
        socket="/live/", seq=live.sequence(live.ALL)
    )
    if not Program.objects.exists():
        agent_services.ask_to_look()


def _roles(request: HttpRequest | None = None) -> RolesForm:
    agents = dict(Agent.objects.order_by("name").values_list("name", "adapter"))
    data = request.POST if request is not None else None
    return RolesForm(data, agents=agents, initial=agent_services.proposals())


def _agents(request: HttpRequest, roles: RolesForm, status: int = 200) -> HttpResponse:
    page = agents_page(roles, request.user.get_username())
    return render(request, "loops/settings/agents.html", {"page": page}, status=status)
