"""What calls used and what that cost: one row for each call that said so (RULES 1, limits).

Prices are people's: dollars per million tokens, by model. A call of a model without a price is
unpriced, and stays so: it is never counted as $0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from loops import moment
from loops.agents.base import Reply
from loops.configuration import SessionConfig
from loops.in_flight import InFlight
from loops.interface import Used
from loops.models import LedgerEntry, Price
from tracker.errors import Invalid

MILLION = Decimal(1_000_000)
MOST_PRICE = Decimal(100_000)


def set_price(
    model: str, *, input: Decimal, output: Decimal, cached: Decimal | None, by: str
) -> Price:
    """Dollars per million tokens. cached: of input that the provider had; None = as input."""
    name = model.strip()
    if not name or len(name) > 100:
        raise Invalid("Name the model, in at most 100 characters.")
    amounts = {"input": input, "output": output, "cached": input if cached is None else cached}
    for kind, amount in amounts.items():
        if not amount.is_finite() or not 0 <= amount <= MOST_PRICE:
            raise Invalid(f"The price for {kind} is a number from 0 to {MOST_PRICE:,} dollars.")
    price, _ = Price.objects.update_or_create(
        model=name, defaults={**amounts, "by": by, "at": moment.now()}
    )
    return price


def are_priced(config: SessionConfig) -> bool:
    """Every agent of the session names a model that has a price."""
    members = [member.agent for member in (*config.pool, *config.verifiers)]
    agents = (*config.agents.values(), *members)
    if any(agent.subscription for agent in agents):
        return False
    models = {agent.model for agent in agents}
    return Price.objects.filter(model__in=models).count() == len(models)


def priced(used: Iterable[Used]) -> tuple[Used, ...]:
    """The calls with what they cost at today's prices, read once: the log's sum and the ledger's
    rows are of the same moment."""
    calls = tuple(used)
    prices = Price.objects.in_bulk({one.model for one in calls}, field_name="model")
    return tuple(replace(one, money=_cost(one, prices.get(one.model))) for one in calls)


def _cost(used: Used, price: Price | None) -> Decimal | None:
    if price is None or used.by_subscription:
        return None
    fresh = (used.input - used.cached) * price.input
    return (fresh + used.cached * price.cached + used.output * price.output) / MILLION


def added_to(reply: Reply, calls: tuple[Used, ...]) -> Reply:
    """The reply with what its calls (at least one) used; one unpriced call makes its money
    unknown."""
    costs = [one.money for one in calls]
    money = None if None in costs else float(sum(cost for cost in costs if cost is not None))
    return replace(reply, tokens=sum(one.input + one.output for one in calls), money=money)


def keep(iteration: InFlight, used: Iterable[Used], at: datetime) -> None:
    """In the record's transaction: counted once, whatever is killed before or after it."""
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            session_id=iteration.session_id,
            iteration=iteration.number,
            call=number,
            role=iteration.role.value,
            agent=iteration.agent,
            model=one.model,
            input=one.input,
            cached=one.cached,
            output=one.output,
            reasoning=one.reasoning,
            money=one.money,
            reported=one.reported,
            by_subscription=one.by_subscription,
            at=at,
        )
        for number, one in enumerate(used, 1)
    )
