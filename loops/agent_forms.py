"""What people type about an agent. Validation only; services do the rest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms

from loops.adapters import KINDS
from loops.agent_settings import CLIS, ENDPOINTS, AgentConfig
from loops.forms import number
from tracker.forms import Inputs, lines, mono

NAME_SENTENCE = "A name has small letters, digits and dashes, at most 60."
# Which adapters have a field; what the others hold is ignored.
_ALL = tuple(KINDS)
FIELDS = {
    "command": ("command",),
    "prompt": ("command",),
    "extra": CLIS,
    "program": CLIS,
    "base_url": (*CLIS, *ENDPOINTS),
    "key": (*CLIS, *ENDPOINTS),
    "new_key": (*CLIS, *ENDPOINTS),
    "lend_login": CLIS,
    "subscription": (*CLIS, *ENDPOINTS),
    "instructions": CLIS,
    "context_tokens": (*CLIS, *ENDPOINTS),
    "retry_seconds": (*CLIS, *ENDPOINTS),
    "env": ("command", *CLIS),
    "secret_env": ("command", *CLIS),
    "memory_mb": ("command", *CLIS),
    "usage_input": ("command",),
    "usage_cached": ("command",),
    "usage_output": ("command",),
}
# Field of the settings -> the field of the form that shows what is wrong with it.
_SHOWN_AT = {
    "argv": "command",
    "logins": "lend_login",
    "usage": "usage_input",
    "wall_seconds": "wall_minutes",
    "silence_seconds": "silence_minutes",
}


def _pattern(label: str) -> forms.CharField:
    return forms.CharField(label=label, max_length=300, required=False, widget=mono())


class AgentForm(Inputs):
    """An agent of any adapter. settings(): what services.save_agent takes, of a valid form.
    new_key: an API key to keep as a secret of its own; never shown again, so never sent back."""

    adapter = forms.ChoiceField(
        label="What it is",
        widget=forms.RadioSelect,
        initial="command",
        required=False,
        choices=tuple((kind.name, kind.word) for kind in KINDS.values()),
    )
    name = forms.SlugField(
        label="Name",
        max_length=60,
        widget=mono(),
        help_text="Small letters, digits and dashes.",
        error_messages={"invalid": NAME_SENTENCE},
    )
    command = forms.CharField(
        label="Command",
        max_length=10_000,  # splitting takes quadratic time
        required=False,
        widget=mono(),
        help_text="Filled in: {workdir} {prompt_file} {session} {iteration} {role}.",
    )
    prompt = forms.ChoiceField(
        label="It reads its prompt from",
        initial="stdin",
        widget=forms.RadioSelect,
        choices=(("stdin", "Standard input"), ("file", "A file, {prompt_file}")),
        required=False,
    )
    model = forms.CharField(
        label="Model",
        max_length=100,
        required=False,
        widget=mono(),
        help_text="As the price table names it. Empty: its own default; an endpoint needs one.",
    )
    base_url = forms.CharField(
        label="Address of the model",
        max_length=500,
        required=False,
        widget=mono(),
        help_text="Empty: its vendor’s. An OpenAI-compatible one needs it, ending in /v1.",
    )
    key = forms.ChoiceField(label="API key", required=False)
    new_key = forms.CharField(
        label="Or a new key",
        required=False,
        max_length=10_000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="Kept encrypted as a secret of this agent and never shown again.",
    )
    lend_login = forms.BooleanField(label="Lend it my sign-in", required=False)
    subscription = forms.BooleanField(
        label="Paid by subscription: its calls are never priced", required=False
    )
    program = forms.CharField(
        label="Program",
        max_length=1000,
        required=False,
        widget=mono(),
        help_text="Empty: as found on PATH. Else its full path.",
    )
    extra = forms.CharField(
        label="Further arguments", max_length=10_000, required=False, widget=mono()
    )
    instructions = forms.ChoiceField(
        label="The repository’s instruction files",
        initial="by_role",
        required=False,
        choices=(
            ("by_role", "Workers and makers read them"),
            ("read", "It always reads them"),
            ("ignore", "It never reads them"),
        ),
    )
    context_tokens = number("Window", "tokens", 128_000, least=1000, most=100_000_000)
    env = forms.CharField(
        label="Environment",
        required=False,
        widget=lines(2, extra="mono"),
        help_text="NAME=value, one per line. No secrets here.",
    )
    secret_env = forms.CharField(
        label="Secrets in its environment",
        required=False,
        widget=lines(2, extra="mono"),
        help_text="NAME=name of a stored secret, one per line.",
    )
    usage_input = _pattern("Input tokens")
    usage_cached = _pattern("Cached ones")
    usage_output = _pattern("Output tokens")
    wall_minutes = number("Longest iteration", "minutes", 30, most=1440)
    silence_minutes = number("Longest silence", "minutes", 10, most=1440)
    retry_seconds = number("Own retries", "seconds", 90, most=86_400)
    memory_mb = number("Memory", "MB", None, least=64, most=1_000_000, required=False)

    def __init__(self, *args: Any, secrets: Sequence[str] = (), fixed: str = "", **kwargs: Any):
        """secrets: names of those that are stored. fixed: name of the agent that is changed."""
        super().__init__(*args, **kwargs)
        self.fields["key"].choices = [("", "None"), *((name, name) for name in secrets)]
        self._secrets, self._fixed = secrets, fixed
        if fixed:
            del self.fields["name"]
        for name in ("wall_minutes", "silence_minutes", "retry_seconds", "context_tokens"):
            self.fields[name].required = False  # empty: as the settings have it by themselves

    @property
    def adapter_now(self) -> str:
        value = self["adapter"].value()
        return value if value in KINDS else "command"

    def shown(self) -> Iterator[tuple[str, forms.BoundField]]:
        """(classes that show it with its adapters, field)."""
        for field in self:
            kinds = FIELDS.get(field.name)
            yield " ".join(["only", *(f"for-{one}" for one in kinds)]) if kinds else "", field

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name, kinds in FIELDS.items():
            if self.adapter_now not in kinds:
                self.errors.pop(name, None)
                data.pop(name, None)
        self._split(data)
        for name in ("env", "secret_env"):
            data[name] = self._pairs(name, data.get(name, ""))
        for name in set(data["secret_env"].values()) - set(self._secrets):
            self.add_error("secret_env", f"There is no secret {name}. Add it under Secrets first.")
        if not self.errors:
            self._check()
        if self.errors and data.get("new_key"):
            self.add_error("new_key", "Paste the key once more: it is not sent back to the page.")
        return data

    def _split(self, data: dict[str, Any]) -> None:
        source = "command" if self.adapter_now == "command" else "extra"
        data["argv"] = []
        try:
            data["argv"] = shlex.split(str(data.get(source) or ""))
        except ValueError:
            self.add_error(source, "A quotation mark is not closed.")
            return
        if self.adapter_now == "command" and not data["argv"] and "command" not in self.errors:
            self.add_error("command", "Give the program and its arguments.")

    def _pairs(self, name: str, text: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for line in filter(None, map(str.strip, str(text).splitlines())):
            left, equals, right = line.partition("=")
            if not (left and equals):
                self.add_error(name, f"{line[:60]!r} does not read NAME=value.")
            found[left.strip()] = right.strip()
        return found

    def _check(self) -> None:
        """What the settings refuse is said at its field."""
        try:
            AgentConfig.model_validate(self.settings())
        except ValueError as fault:
            for one in fault.errors():  # type: ignore[attr-defined]
                where = str(one["loc"][0]) if one["loc"] else ""
                field = _SHOWN_AT.get(where, where)
                sentence = str(one["msg"]).removeprefix("Value error, ")
                self.add_error(
                    field if field in self.fields else self._about(sentence),
                    f"{sentence[:1].upper()}{sentence[1:]}.",
                )

    def _about(self, sentence: str) -> str | None:
        """A rule over several fields names none of them."""
        for word, field in (("address", "base_url"), ("model:", "model"), ("command", "command")):
            if word in sentence:
                return field
        return None

    def settings(self) -> dict[str, Any]:
        data, kind = self.cleaned_data, KINDS[self.adapter_now]
        usage = {name: data.get(f"usage_{name}") for name in ("input", "cached", "output")}
        found = {
            "adapter": kind.name,
            "model": data["model"].strip(),
            "argv": data["argv"],
            "prompt": data.get("prompt") or "stdin",
            "base_url": data.get("base_url"),
            "key": data.get("key"),
            "logins": list(kind.logins) if data.get("lend_login") else [],
            "program": data.get("program"),
            "instructions": data.get("instructions"),
            "subscription": data.get("subscription"),
            "context_tokens": data.get("context_tokens"),
            "retry_seconds": data.get("retry_seconds"),
            "memory_mb": data.get("memory_mb"),
            "wall_seconds": (data.get("wall_minutes") or 0) * 60,
            "silence_seconds": (data.get("silence_minutes") or 0) * 60,
            "usage": {name: pattern for name, pattern in usage.items() if pattern},
            "env": data["env"],
            "secret_env": data["secret_env"],
        }
        return {name: value for name, value in found.items() if value not in (None, "", 0)}


def initial_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Initial values of the form for an agent that is there."""
    agent = AgentConfig.model_validate(dict(settings))
    argv = shlex.join(agent.argv)
    usage: Mapping[str, str] = agent.usage  # type: ignore[assignment]
    same = (
        *("adapter", "prompt", "model", "base_url", "key", "subscription", "program"),
        *("instructions", "context_tokens", "memory_mb"),
    )
    return {
        **{name: getattr(agent, name) for name in same},
        "command": argv if agent.adapter == "command" else "",
        "extra": "" if agent.adapter == "command" else argv,
        "lend_login": bool(agent.logins),
        "env": _lines(agent.env),
        "secret_env": _lines(agent.secret_env),
        **{f"usage_{name}": pattern for name, pattern in usage.items()},
        "wall_minutes": max(1, round(agent.wall_seconds / 60)),
        "silence_minutes": max(1, round(agent.silence_seconds / 60)),
        "retry_seconds": round(agent.retry_seconds),
    }


def _lines(pairs: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={value}" for name, value in pairs.items())
