"""What people type about sessions. Validation only; services do the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms

from tracker.forms import Inputs, mono

Choices = Iterable[tuple[str, str]]


def number(
    label: str, unit: str, initial: int | None, *, least: int = 1, most: int, **kwargs: Any
) -> forms.IntegerField:
    """A field for a whole number; `unit` stands behind it in the error's sentence. least: 1, or 0
    where nothing is a choice too."""
    widget = forms.NumberInput(attrs={"extra": "in-n", "inputmode": "numeric"})
    rest = "; zero and nothing are refused." if least else "; 0 means never."
    sentence = f"{label} ({unit}) is a whole number from {least}{rest}"
    messages = dict.fromkeys(("min_value", "required", "invalid"), sentence)
    messages["max_value"] = f"{label} ({unit}) is at most {most:,}."
    return forms.IntegerField(
        label=label,
        initial=initial,
        widget=widget,
        min_value=least,
        max_value=most,
        error_messages=messages,
        **kwargs,
    )


def one_of(form: forms.Form, data: dict[str, Any], name: str) -> None:
    """A limit is a number or an explicit "none"; both and neither are refused."""
    has_limit, is_none = data.get(name) is not None, bool(data.get(f"no_{name}"))
    if has_limit and is_none:
        data[f"no_{name}"] = False  # a number typed beside the default tick is meant
    elif not has_limit and not is_none and name not in form.errors:
        form.add_error(name, "Give a number, or tick that there is no limit.")


class ForkForm(Inputs):
    """What a fork changes of its parent's configuration: limits, and who plays each role.

    players: (name, words) of what an agent can be chosen for; the field of each is "agent_" + name
    and empty where it stays. settings(): what services take.
    """

    iterations = number("Iterations", "at most", None, most=10_000)
    minutes = number("Time", "minutes", None, most=44_640)
    no_progress = number("Without a change", "in a row", None, most=10_000)
    tokens = number("Tokens", "tokens", None, most=10**12, required=False)
    money = forms.FloatField(
        label="Money",
        required=False,
        min_value=0.01,
        widget=forms.NumberInput(attrs={"extra": "in-n", "inputmode": "decimal", "step": "any"}),
        error_messages=dict.fromkeys(("min_value", "invalid"), "Money (dollars) is above zero."),
    )
    no_tokens = forms.BooleanField(label="No token limit", required=False)
    no_money = forms.BooleanField(label="No money limit", required=False)

    def __init__(
        self,
        *args: Any,
        players: Sequence[tuple[str, str, str]] = (),
        agents: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        """players: (name, label, who plays it now)."""
        super().__init__(*args, **kwargs)
        self.players = [name for name, _label, _now in players]
        for name, label, now in players:
            field = forms.ChoiceField(label=label, required=False, widget=forms.Select())
            field.widget.attrs["class"] = "in"
            field.choices = [("", f"as before: {now}"), *agents]
            self.fields[f"agent_{name}"] = field

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in ("tokens", "money"):
            one_of(self, data, name)
        return data

    def limits(self) -> dict[str, float | None]:
        """Of a valid form: the limits that a person changed. What stands as it came keeps the
        parent's exact number, which the form may show rounded."""
        data, changed = self.cleaned_data, set(self.changed_data)
        found: dict[str, float | None] = {
            name: data[name] for name in ("iterations", "no_progress") if name in changed
        }
        if "minutes" in changed:
            found["wall_seconds"] = data["minutes"] * 60
        for name in ("tokens", "money"):
            if {name, f"no_{name}"} & changed:
                found[name] = None if data[f"no_{name}"] else data[name]
        return found

    def agents(self) -> dict[str, str]:
        """Of a valid form: player -> name of the stored agent that takes over."""
        chosen = {name: self.cleaned_data[f"agent_{name}"] for name in self.players}
        return {name: agent for name, agent in chosen.items() if agent}

    def agent_fields(self) -> list[forms.BoundField]:
        return [self[f"agent_{name}"] for name in self.players]


class StopForm(Inputs):
    reason = forms.CharField(label="Reason, shown in the history", required=False, max_length=300)


class PushForm(Inputs):
    """Where to push a result. cleaned_data["target"]: name or address of a repository."""

    remote = forms.ChoiceField(label="To", required=False)
    address = forms.CharField(
        label="Or another address",
        required=False,
        max_length=2_000,
        widget=mono(),
        help_text="A path or URL that git takes. It signs in as whoever runs Loopwatch.",
    )

    def __init__(self, *args: Any, remotes: Choices = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["remote"].choices = list(remotes)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        data["target"] = data.get("address", "").strip() or data.get("remote", "")
        if not data["target"] and not self.errors:
            self.add_error("address", "Say where to push.")
        return data


class MoveForm(Inputs):
    """hosts: names of those that live."""

    to = forms.ChoiceField(label="Host")

    def __init__(self, *args: Any, hosts: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["to"].choices = [(name, name) for name in hosts]
