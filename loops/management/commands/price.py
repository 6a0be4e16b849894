"""What models cost, for limits and reports in money."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from loops import ledger, price_source
from loops.models import Price
from tracker.commands import Answer, Options, PersonCommand
from tracker.errors import Invalid


class Command(PersonCommand):
    help = "Keep the price table: dollars per million tokens, by model."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        put = verb("set", self.put, "Set or replace a model's price.")
        put.add_argument("model", help="as agents report it")
        put.add_argument("--input", required=True, metavar="DOLLARS")
        put.add_argument("--output", required=True, metavar="DOLLARS")
        put.add_argument("--cached", metavar="DOLLARS", help="cached input; default: as --input")
        verb("list", self.list, "List the prices.")
        verb(
            "import",
            self.take,
            "Take the prices of your agents' models from the genai-prices package; prices that a "
            "person set stay.",
        )

    def put(self, options: Options) -> Answer:
        cached = options["cached"]
        price = ledger.set_price(
            options["model"],
            input=_dollars(options["input"]),
            output=_dollars(options["output"]),
            cached=None if cached is None else _dollars(cached),
            by=str(self.by.actor),
        )
        return Answer(_row(price), f"{price} has its price; calls from now on are counted by it.")

    def take(self, options: Options) -> Answer:
        taken = price_source.take()
        words = (
            (taken.set, f"set from {price_source.name()}"),
            (taken.kept, "as before"),
            (taken.unknown, f"not known to {price_source.name()}: set it by hand"),
        )
        lines = [f"{model}  {said}" for models, said in words for model in models]
        data = {"set": taken.set, "kept": taken.kept, "unknown": taken.unknown}
        return Answer(data, "\n".join(lines) or "No agent names a model that is paid for by use.")

    def list(self, options: Options) -> Answer:
        rows = [_row(price) for price in Price.objects.order_by("model")]
        lines = [
            f"{r['model']}  input {r['input']}  cached {r['cached']}  output {r['output']}  "
            f"by {r['by']}"
            for r in rows
        ]
        return Answer(rows, "\n".join(lines) or "No model has a price.")


def _row(price: Price) -> dict[str, Any]:
    amounts = {name: float(getattr(price, name)) for name in ("input", "cached", "output")}
    return {"model": price.model, **amounts, "by": price.by, "at": price.at.isoformat()}


def _dollars(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise Invalid(f"{text!r} is no number of dollars.") from None
