"""Settings: agents and prices."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils import timezone

from loops import price_source, programs, secrets
from loops.adapters import KINDS, outside, range_words
from loops.agent_settings import CLIS
from loops.engine.values import Role, State
from loops.independence import family
from loops.models import Agent, Price, Program, Secret, Session
from loops.pages.settings import (
    AgentRow,
    AgentsPage,
    AgentsPart,
    Entry,
    PriceRow,
    SecretRow,
    Unused,
)
from loops.pages.states import role_word
from loops.reading import links
from loops.reading.confined import confined
from loops.reading.judges import judge_rows
from loops.reading.trials import tried
from loops.settings_forms import RolesForm
from loops.trying import is_built_in
from tracker.pages.atoms import CheckLine
from tracker.pages.words import listed, moment, plural

MAY_READ = (
    ("Thinker", "goal, requirements, verdicts"),
    ("Worker", "goal, requirements, bugs, guidance"),
    ("Reviewer", "requirements, tree, own test run"),
    ("Verifier", "criteria, output, own evidence"),
    ("Coach", "log, outcomes, bugs"),
)


def entries(current: str) -> tuple[Entry, ...]:
    """The pages of the settings; current: address of the one that is shown."""
    places = (
        ("Agents and prices", "cpu", links.AGENTS),
        ("First run", "play", links.WELCOME),
        ("Your account", "person", links.ACCOUNT),
    )
    return tuple(Entry(word, icon, href, href == current) for word, icon, href in places)


def agents_page(roles: RolesForm, viewer: str) -> AgentsPage:
    part = agents_part()
    return AgentsPage(
        entries=entries(links.AGENTS),
        summary=_summary(part.rows),
        agents=part,
        roles=roles,
        prices=price_rows(viewer),
        source=price_source.name(),
        secrets=secret_rows(viewer),
        judges=judge_rows(),
        changes=_changes(),
        may_read=MAY_READ,
        parts_url=links.SETTINGS_PARTS,
        add=links.NEW_AGENT,
        look=links.LOOK,
        propose=links.PROPOSE,
        change_prices=links.PRICES,
        take_prices=links.TAKE_PRICES,
        add_secret=links.SECRETS,
    )


def agents_part() -> AgentsPart:
    found = programs.known()
    agents = list(Agent.objects.order_by("name"))
    used = uses(agents)
    rows = tuple(agent_row(one, found, used.get(one.name, "")) for one in agents)
    taken = {one.adapter for one in agents}
    unused = tuple(
        _unused(name, found[name])
        for name in CLIS
        if name not in taken and name in found and found[name].path
    )
    seen = max((row.seen_at for row in found.values()), default=None)
    now = timezone.localtime()
    looked = f"looked {moment(timezone.localtime(seen), now)}" if seen else "not looked yet"
    is_busy = seen is None or any(row.tried.is_under_way for row in rows)
    return AgentsPart(rows=rows, unused=unused, looked=looked, is_busy=is_busy)


def agent_row(agent: Agent, found: dict[str, Program], used: str) -> AgentRow:
    version, warning = version_words(agent, found)
    return AgentRow(
        name=agent.name,
        href=links.agent(agent.name),
        version=version,
        warning=warning,
        used=used or "not used",
        tried=tried(agent),
        confined=confined(agent.adapter),
        post="" if is_built_in(agent) else links.try_agent(agent.name),
    )


def version_words(agent: Agent, found: dict[str, Program]) -> tuple[str, str]:
    """("Claude Code 2.1.332, in range", how it lies outside the tested range)."""
    kind, settings = KINDS[agent.adapter], agent.settings
    model = settings.get("model", "")
    if not kind.is_cli:
        what = settings.get("base_url", "") if kind.is_endpoint else ""
        return " · ".join(filter(None, (kind.word, model, what))), ""
    program = programs.program_of(settings, found)
    known = program_words(agent.adapter, program)
    note = outside(program.version, kind.tested) if program else ""
    return " · ".join(filter(None, (f"{kind.word} {known}", model))), _warning(kind.name, note)


def program_words(adapter: str, program: Program | None) -> str:
    if program is None:
        return "not looked for yet"
    if not program.path:
        return "not found on this machine"
    if not program.version:
        return "version not known"
    is_outside = outside(program.version, KINDS[adapter].tested)
    return f"{program.version}, {'out of range' if is_outside else 'in range'}"


def _warning(adapter: str, note: str) -> str:
    if not note:
        return ""
    tested = range_words(KINDS[adapter].tested)
    return f"This version is {note}. It can be used, but only {tested} was tested."


def _unused(name: str, program: Program) -> Unused:
    kind = KINDS[name]
    note = _warning(name, outside(program.version, kind.tested))
    version = program_words(name, program)
    return Unused(kind.word, version, note, f"{links.NEW_AGENT}?adapter={name}")


def _summary(rows: Iterable[AgentRow]) -> str:
    every = tuple(rows)
    if not every:
        return "no agent yet"
    answer = sum(row.tried.chip.tone == "ok" for row in every)
    return f"{answer} of {len(every)} answered when tried"


def uses(agents: Iterable[Agent]) -> dict[str, str]:
    """Agent -> where it plays in sessions that have not ended: "Worker and Coach in S-41"."""
    every = list(agents)
    found: dict[str, list[str]] = {}
    for session in Session.objects.exclude(state=State.ENDED.value).order_by("pk"):
        for name, roles in _players(session.config, every).items():
            found.setdefault(name, []).append(f"{' and '.join(roles)} in {session.ref}")
    return {name: listed(places, 2) for name, places in found.items()}


def _players(config: dict[str, Any], agents: list[Agent]) -> dict[str, list[str]]:
    played = [(role_word(Role(role)), frozen) for role, frozen in config["agents"].items()]
    for kind, word in (("pool", "Worker"), ("verifiers", "Verifier")):
        played += [(word, one["agent"]) for one in config.get(kind, ())]
    found: dict[str, list[str]] = {}
    for word, frozen in played:
        for agent in agents:
            if agent.settings and agent.settings.items() <= frozen.items():
                roles = found.setdefault(agent.name, [])
                roles += [] if word in roles else [word]
                break
    return found


# --- prices and secrets ----------------------------------------------------------------------


def price_rows(viewer: str) -> tuple[PriceRow, ...]:
    """Every model that has a price or that an agent names."""
    prices = Price.objects.in_bulk(field_name="model")
    paid: dict[str, bool] = dict.fromkeys(prices, False)
    for settings in Agent.objects.values_list("settings", flat=True):
        if model := settings.get("model", "").strip():
            monthly = bool(settings.get("subscription"))
            paid[model] = paid.get(model, True) and monthly
    return tuple(_price(one, prices.get(one), viewer, paid[one]) for one in sorted(paid))


def _price(model: str, price: Price | None, viewer: str, is_monthly: bool) -> PriceRow:
    since = who_and_when(price.by, price.at, viewer) if price else ""
    if is_monthly:
        return PriceRow(
            model=model, family=family(model), note="subscription, not priced", since=since
        )
    if price is None:
        return PriceRow(model=model, family=family(model), note="not priced")
    return PriceRow(
        model=model,
        family=family(model),
        input=dollars(price.input),
        cached=dollars(price.cached),
        output=dollars(price.output),
        since=since,
    )


def dollars(amount: Any) -> str:
    """At least two places; more only where they say something: $0.075."""
    whole, _, part = f"{amount:f}".partition(".")
    return f"${int(whole):,}.{part.rstrip('0').ljust(2, '0')}"


def secret_rows(viewer: str) -> tuple[SecretRow, ...]:
    now = timezone.localtime()
    return tuple(
        SecretRow(
            name=one.name,
            users=listed(secrets.users(one.name)) or "no agent",
            set=who_and_when(one.by, one.at, viewer),
            used=moment(timezone.localtime(one.used_at), now) if one.used_at else "never",
            href=links.secret(one.name),
        )
        for one in Secret.objects.order_by("name")
    )


def who_and_when(by: str, at: datetime | None, viewer: str) -> str:
    """ "you, 14 Nov"; "" where it was not kept."""
    day = f"{timezone.localtime(at):%-d %b}" if at else ""
    who = by.rpartition(":")[2] if by else ""
    return ", ".join(filter(None, ("you" if who and who == viewer else who, day)))


def _changes() -> tuple[CheckLine, ...]:
    newest = Session.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    active = Session.objects.exclude(state=State.ENDED.value).count()
    frozen = f"{plural(active, 'active one')} frozen as started" if active else "none is active now"
    return (
        CheckLine(
            tone="off", icon="clock", text="New sessions use it", fact=f"from S-{newest + 1}"
        ),
        CheckLine(tone="off", icon="lock", text="Sessions that run keep theirs", sub=frozen),
        CheckLine(
            tone="warn",
            icon="warn",
            text="A version out of range",
            sub="warns here, and is noted on each iteration that it ran",
        ),
    )
