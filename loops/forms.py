"""What people type about sessions. Validation only; services do the rest."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from django import forms

from tracker.forms import Inputs, lines, mono

DONE_MODES = (
    ("agent", "Two done signals and a clean review"),
    ("script", "A script exits with 0"),
    ("both", "Both"),
)
Choices = Iterable[tuple[str, str]]


def _number(label: str, unit: str, initial: int | None, **kwargs: Any) -> forms.IntegerField:
    """Return a field for a positive number; `unit` stands behind it in the error's sentence."""
    widget = forms.NumberInput(attrs={"extra": "in-n", "inputmode": "numeric"})
    sentence = f"{label} ({unit}) is a whole number from 1; zero and nothing are refused."
    messages = dict.fromkeys(("min_value", "required", "invalid"), sentence)
    return forms.IntegerField(
        label=label, initial=initial, widget=widget, min_value=1, error_messages=messages, **kwargs
    )


# Another project has other requirements: the page comes anew with what was typed. Without a script
# "Look again" does it.
_OTHER_PROJECT = {
    "hx-get": "/sessions/new/",
    "hx-trigger": "change consume",
    "hx-include": "closest form",
    "hx-params": "not csrfmiddlewaretoken,look,base,scope,documents,requirements",
    "hx-target": "#main",
    "hx-select": "#main",
    "hx-swap": "outerHTML",
}


class NewSessionForm(Inputs):
    """One session of the single-threaded loop. tokens and money: empty together with the tick "no
    limit" is the explicit "none" of RULES 1; empty alone is refused.

    cleaned_data: as the fields; tokens in millions, money in dollars, hours as whole hours.
    """

    project = forms.ChoiceField(label="Project", widget=forms.Select(attrs=_OTHER_PROJECT))
    base = forms.ChoiceField(label="Start from", required=False)
    goal = forms.CharField(
        label="Goal",
        widget=lines(3),
        required=False,
        help_text="Becomes a requirement of this session. Needed only without requirements.",
    )
    scope = forms.ChoiceField(
        label="Requirements",
        initial="all",
        widget=forms.RadioSelect,
        choices=(("all", "All"), ("chosen", "Chosen"), ("none", "Goal only")),
    )
    documents = forms.MultipleChoiceField(
        required=False, label="Documents", widget=forms.CheckboxSelectMultiple
    )
    requirements = forms.MultipleChoiceField(
        required=False, label="Requirements", widget=forms.CheckboxSelectMultiple
    )
    worker = forms.ChoiceField(label="Worker")
    reviewer = forms.ChoiceField(label="Reviewer")
    coach = forms.ChoiceField(label="Coach", required=False)
    review_every = _number("Review after", "work turns", 3)
    coach_every = _number("Coach after", "worker turns", 8)
    done_mode = forms.ChoiceField(
        label="Done when", choices=DONE_MODES, initial="agent", widget=forms.RadioSelect
    )
    script = forms.CharField(
        label="Script",
        required=False,
        max_length=10_000,
        widget=mono(),
        help_text="Path in the repository. A copy is taken at the start; agents cannot change it.",
    )
    iterations = _number("Iterations", "at most", 40)
    hours = _number("Time", "hours", 8)
    no_progress = _number("Without a change", "in a row", 6)
    tokens = _number("Tokens", "million", None, required=False)
    money = _number("Money", "dollars", None, required=False)
    no_tokens = forms.BooleanField(label="No token limit", required=False, initial=True)
    no_money = forms.BooleanField(label="No money limit", required=False, initial=True)

    def __init__(
        self,
        *args: Any,
        projects: Choices = (),
        bases: Choices = (),
        agents: Sequence[tuple[str, str]] = (),
        documents: Choices = (),
        requirements: Choices = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].choices = list(projects)
        self.fields["base"].choices = list(bases)
        self.fields["documents"].choices = list(documents)
        self.fields["requirements"].choices = list(requirements)
        for role in ("worker", "reviewer"):
            self.fields[role].choices = list(agents)
        self.fields["coach"].choices = [("", "No coach"), *agents]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in ("tokens", "money"):
            self._one_of(data, name)
        if data.get("done_mode") in ("script", "both") and not data.get("script"):
            self.add_error("script", "Name the script that says when the loop is done.")
        if data.get("scope") == "none" and not str(data.get("goal", "")).strip():
            self.add_error("goal", "A session without requirements needs a goal.")
        chosen = data.get("documents") or data.get("requirements")
        if data.get("scope") == "chosen" and not chosen:
            self.add_error("scope", "Choose at least one document or requirement.")
        return data

    def _one_of(self, data: dict[str, Any], name: str) -> None:
        """A limit is a number or an explicit "none"; both and neither are refused."""
        has_limit, is_none = data.get(name) is not None, bool(data.get(f"no_{name}"))
        if has_limit and is_none:
            data[f"no_{name}"] = False  # a number typed beside the default tick is meant
        elif not has_limit and not is_none and name not in self.errors:
            self.add_error(name, "Give a number, or tick that there is no limit.")


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
    wall_minutes = _number("Longest iteration", "minutes", 30, max_value=1440)
    silence_minutes = _number("Longest silence", "minutes", 10, max_value=1440)

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
