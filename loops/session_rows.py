"""Rows of the new session's form: the workers of the pool and the verifiers, each in its order.

A row's inputs are called "pool-0-name"; adding and removing are submits that keep what was typed,
so that no script is needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django import forms

from loops.configuration import NAME
from tracker.forms import Inputs

MOST_ROWS = 20
_NAME_HINT = "small letters, digits and dashes, at most 60"
Choices = Sequence[tuple[str, str]]
R = TypeVar("R", bound="WorkerRow")


class WorkerRow(Inputs):
    """One worker of the pool. The plan and the verdicts call it by its name."""

    what = "worker"
    name = forms.CharField(label="Name", required=False, max_length=60)
    agent = forms.ChoiceField(label="Agent", required=False)

    def __init__(self, *args: Any, agents: Choices = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agent"].choices = list(agents)
        self.fields["name"].widget.attrs.update(
            {"class": "in mono", "spellcheck": "false", "autocomplete": "off"}
        )
        number = int(str(self.prefix).rpartition("-")[2]) + 1
        for name, field in self.fields.items():
            field.widget.attrs["aria-label"] = f"{self.what.capitalize()} {number}, {name}"

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"]).strip()
        if not name:
            raise forms.ValidationError(f"Name this {self.what}, or remove its row.")
        if not NAME.fullmatch(name):
            raise forms.ValidationError(f"{name!r} is no name: {_NAME_HINT}.")
        return name

    def clean_agent(self) -> str:
        agent = str(self.cleaned_data["agent"])
        if not agent:
            raise forms.ValidationError(f"Choose the agent that plays this {self.what}.")
        return agent

    def value(self, name: str) -> Any:
        """As it stands in the input, valid or not."""
        return self[name].value()

    def typed(self) -> dict[str, Any]:
        return {name: self.value(name) for name in self.fields}


class VerifierRow(WorkerRow):
    """One verifier. reserve: asked only when the others leave an attempt open."""

    what = "verifier"
    policy = forms.ChoiceField(
        label="Word",
        choices=(
            ("required", "Required"),
            ("advising", "Advising"),
            ("reserve", "Reserve"),
        ),
        initial="required",
    )
    mechanical = forms.BooleanField(label="Mechanical", required=False)


def rows_of(
    kind: type[R],
    prefix: str,
    data: Mapping[str, Any] | None,
    initial: Sequence[Mapping[str, Any]],
    agents: Choices,
) -> list[R]:
    """data: what was sent, None for a form that was not; then the rows are those of `initial`."""
    if data is None:
        return [
            kind(initial=dict(one), prefix=f"{prefix}-{number}", agents=agents)
            for number, one in enumerate(initial[:MOST_ROWS])
        ]
    return [
        kind(data, prefix=f"{prefix}-{number}", agents=agents) for number in indices(data, prefix)
    ]


def indices(data: Mapping[str, Any], prefix: str) -> list[int]:
    """Which rows were sent, in their order."""
    pattern = re.compile(rf"{prefix}-([0-9]{{1,4}})-(?:name|agent)")
    found = {int(match[1]) for key in data if (match := pattern.fullmatch(key))}
    return sorted(found)[:MOST_ROWS]


def typed_rows(data: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """The same as plain values, such as initial values for other rows."""
    columns = ("name", "agent", "policy") if prefix == "verifiers" else ("name", "agent")
    rows: list[dict[str, Any]] = []
    for number in indices(data, prefix):
        row: dict[str, Any] = {name: data.get(f"{prefix}-{number}-{name}", "") for name in columns}
        if prefix == "verifiers":
            row["mechanical"] = f"{prefix}-{number}-mechanical" in data
        rows.append(row)
    return rows
