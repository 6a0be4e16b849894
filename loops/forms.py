"""What people type about sessions. Validation only; services do the rest."""

from __future__ import annotations

import shlex
from typing import Any

from django import forms

from tracker.forms import Inputs, mono


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


class StopForm(Inputs):
    reason = forms.CharField(label="Reason, shown in the history", required=False, max_length=300)


class AgentForm(Inputs):
    """A program that plays roles. The command is split as a shell does it, but no shell runs."""

    name = forms.SlugField(
        label="Name", max_length=60, widget=mono(), help_text="Small letters, digits and dashes."
    )
    command = forms.CharField(
        label="Command",
        max_length=10_000,  # splitting takes quadratic time
        widget=mono(),
        help_text="Filled in: {workdir} {prompt_file} {session} {iteration} {role}.",
    )
    prompt = forms.ChoiceField(
        label="It reads its prompt from",
        initial="stdin",
        widget=forms.RadioSelect,
        choices=(("stdin", "Standard input"), ("file", "A file, {prompt_file}")),
    )
    wall_minutes = number("Longest iteration", "minutes", 30, most=1440)
    silence_minutes = number("Longest silence", "minutes", 10, most=1440)

    def clean_command(self) -> str:
        command = str(self.cleaned_data["command"])
        try:
            self.argv = shlex.split(command)
        except ValueError:
            raise forms.ValidationError("A quotation mark is not closed.") from None
        if not self.argv:
            raise forms.ValidationError("Give the program and its arguments.")
        return command

    def settings(self) -> dict[str, Any]:
        """The agent's settings as services.save_agent takes them; of a valid form."""
        return {
            "argv": self.argv,
            "prompt": self.cleaned_data["prompt"],
            "wall_seconds": self.cleaned_data["wall_minutes"] * 60,
            "silence_seconds": self.cleaned_data["silence_minutes"] * 60,
        }
