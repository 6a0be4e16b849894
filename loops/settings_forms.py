"""What people type about roles, prices and secrets. Validation only; services do the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms

from loops.agent_forms import NAME_SENTENCE
from loops.agent_settings import ENDPOINTS
from loops.engine.values import Role
from loops.ledger import MOST_PRICE
from tracker.forms import Inputs, mono


class RolesForm(Inputs):
    """Which agent a new session's form proposes for each role; agents(): role -> name or "".

    A model's endpoint has no tools, so it is offered for thinker and verifier only."""

    def __init__(self, *args: Any, agents: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        """agents: name -> adapter."""
        super().__init__(*args, **kwargs)
        for role in Role:
            names = [
                name
                for name, adapter in (agents or {}).items()
                if adapter not in ENDPOINTS or role in (Role.THINKER, Role.VERIFIER)
            ]
            choices = [("", "None"), *((name, name) for name in names)]
            self.fields[role.value] = forms.ChoiceField(
                label=role.value.capitalize(),
                choices=choices,
                required=False,
                widget=forms.Select(attrs={"class": "in"}),
            )

    def agents(self) -> dict[str, str]:
        return {role.value: self.cleaned_data[role.value] for role in Role}


class PricesForm(Inputs):
    """Prices of models, and of one more. prices(): model -> (input, cached, output) of what
    changed; cached None = as input. A model without any number stays without a price."""

    new = forms.CharField(label="Another model", max_length=100, required=False, widget=mono())

    def __init__(self, *args: Any, models: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._models = list(models)
        for index in range(len(self._models) + 1):
            for kind in ("input", "cached", "output"):
                self.fields[f"{kind}-{index}"] = self._field(index, kind)

    def _field(self, index: int, kind: str) -> forms.DecimalField:
        model = self._models[index] if index < len(self._models) else "another model"
        sentence = f"The price for {kind} of {model} is a number from 0 to {MOST_PRICE:,} dollars."
        attrs = {"class": "in in-n", "inputmode": "decimal", "aria-label": f"{model}, {kind}"}
        return forms.DecimalField(
            label=f"{model}, {kind}",
            required=False,
            min_value=Decimal(0),
            max_value=MOST_PRICE,
            max_digits=12,
            decimal_places=6,
            widget=forms.TextInput(attrs=attrs),
            error_messages=dict.fromkeys(
                ("invalid", "min_value", "max_value", "max_digits", "max_decimal_places"), sentence
            ),
        )

    def rows(self) -> Iterator[tuple[str, tuple[forms.BoundField, ...]]]:
        for index, model in enumerate(self._models):
            yield model, self._bound(index)

    def last(self) -> tuple[forms.BoundField, ...]:
        return self._bound(len(self._models))

    def _bound(self, index: int) -> tuple[forms.BoundField, ...]:
        return tuple(self[f"{kind}-{index}"] for kind in ("input", "cached", "output"))

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        named = [*self._models, str(data.get("new", "")).strip()]
        for index, model in enumerate(named):
            told = [data.get(f"{kind}-{index}") for kind in ("input", "cached", "output")]
            if any(value is not None for value in told) and not model:
                self.add_error("new", "Name the model that these prices are of.")
            for kind, value in zip(("input", "output"), (told[0], told[2]), strict=True):
                is_missing = value is None and f"{kind}-{index}" not in self.errors
                if is_missing and any(one is not None for one in told):
                    self.add_error(f"{kind}-{index}", f"{model}: the price for {kind} is missing.")
        if named[-1] in self._models:
            self.add_error("new", f"{named[-1]} stands above already.")
        return data

    def prices(self) -> dict[str, tuple[Decimal, Decimal | None, Decimal]]:
        changed, found = set(self.changed_data), {}
        for index, model in enumerate([*self._models, self.cleaned_data["new"].strip()]):
            names = [f"{kind}-{index}" for kind in ("input", "cached", "output")]
            told = [self.cleaned_data.get(name) for name in names]
            if changed & set(names) and told[0] is not None and told[2] is not None:
                found[model] = (told[0], told[1], told[2])
        return found


class SecretForm(Inputs):
    name = forms.SlugField(
        label="Name",
        max_length=60,
        widget=mono(),
        help_text="Small letters, digits and dashes.",
        error_messages={"invalid": NAME_SENTENCE},
    )
    value = forms.CharField(
        label="Value",
        max_length=100_000,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="Write only. It is never shown again, here or anywhere else.",
    )

    def __init__(self, *args: Any, fixed: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if fixed:
            del self.fields["name"]
