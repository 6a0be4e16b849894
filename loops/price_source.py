"""Prices from genai-prices: a maintained table, in its package, so that nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version
from typing import Any

from loops import ledger, moment
from loops.adapters import KINDS
from loops.models import Agent, Price

SOURCE = "genai-prices"


@dataclass(frozen=True, slots=True)
class Taken:
    """Names of models: with a new or another price, as they were (or a person's own), and those
    that the source does not know."""

    set: tuple[str, ...]
    kept: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Amounts:
    """Dollars per million tokens; the source's lowest step where a price has steps."""

    input: Decimal
    cached: Decimal
    output: Decimal


def name() -> str:
    """ "genai-prices 0.2.3": who set a price that was taken from it."""
    return f"{SOURCE} {version(SOURCE)}"


def take() -> Taken:
    """Fill in the prices of the models of all agents. What a person set stays."""
    set_, kept, unknown = [], [], []
    prices = Price.objects.in_bulk(field_name="model")
    for model, agent in _models():
        price = prices.get(model)
        if price is not None and not price.by.startswith(SOURCE):
            kept.append(model)
            continue
        found = look_up(model, agent, moment.now())
        if found is None:
            (kept if price else unknown).append(model)
        elif price is not None and _same(price, found):
            kept.append(model)
        else:
            ledger.set_price(
                model, input=found.input, cached=found.cached, output=found.output, by=name()
            )
            set_.append(model)
    return Taken(tuple(set_), tuple(kept), tuple(unknown))


def _models() -> Iterable[tuple[str, dict[str, Any]]]:
    """Each model that an agent names and is paid for by use, with one such agent's settings."""
    found: dict[str, dict[str, Any]] = {}
    for settings in Agent.objects.order_by("name").values_list("settings", flat=True):
        model = str(settings.get("model", "")).strip()
        if model and not settings.get("subscription"):
            found.setdefault(model, settings)
    return sorted(found.items())


def look_up(model: str, agent: dict[str, Any], at: datetime) -> Amounts | None:
    """The model's price there. agent: settings that say who serves it: another provider's price
    would be a guess, so an address that the source does not know has none."""
    from genai_prices import data_snapshot  # reads its table, which takes half a second

    where: tuple[str | None, str | None] = (None, None)
    vendor = KINDS[agent.get("adapter", "command")].vendor
    if agent.get("base_url"):
        where = (None, agent["base_url"])
    elif vendor in ("anthropic", "openai", "google"):
        where = (vendor, None)
    try:
        snapshot = data_snapshot.get_snapshot()
        _provider, known = snapshot.find_provider_model(model, None, *where)
        price = known.get_prices(at)
    except (LookupError, ValueError):
        return None
    input_, output = _lowest(price.input_mtok), _lowest(price.output_mtok)
    if input_ is None or output is None:
        return None
    return Amounts(input_, _lowest(price.cache_read_mtok) or input_, output)


def _lowest(price: Any) -> Decimal | None:
    """A price has steps where long prompts cost more; most calls stay on the first one."""
    return getattr(price, "base", price)


def _same(price: Price, found: Amounts) -> bool:
    return (price.input, price.cached, price.output) == (found.input, found.cached, found.output)
