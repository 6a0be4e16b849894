"""What people type about projects, specs and the tracker. Validation only; services do the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms

from tracker.pages.filing import Citable

_CITED = re.compile(r"(?P<key>R-\d{1,9}\.\d{1,9})@(?P<version>\d{1,9})")
_LABEL = 160  # characters of a line that the list shows
KINDS = (("task", "Task"), ("code", "Code bug"), ("spec", "Spec bug"))
PRIORITIES = (("P0", "P0 now"), ("P1", "P1 next"), ("P2", "P2 normal"), ("P3", "P3 later"))


class Inputs(forms.Form):
    """A form whose inputs carry the class of the design."""

    use_required_attribute = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            widget = field.widget
            if field.label:
                field.error_messages["required"] = f"“{field.label}” is missing."
            if isinstance(widget, forms.RadioSelect | forms.CheckboxInput | forms.HiddenInput):
                continue
            widget.attrs.setdefault("class", f"in {widget.attrs.pop('extra', '')}".strip())


def lines(rows: int, **attrs: str) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, **attrs})


def mono() -> forms.TextInput:
    return forms.TextInput(attrs={"extra": "mono", "spellcheck": "false", "autocomplete": "off"})


class LineField(forms.ChoiceField):
    """A line of a requirement and the version it was read at, "R-12.3@4"."""

    def valid_value(self, value: str) -> bool:
        return _CITED.fullmatch(value) is not None


class FileForm(Inputs):
    """File a task, code bug or spec bug. A code bug cites a line of a requirement.

    cleaned_data has for every kind: kind, title, text, cites, version, quote, contradiction, place,
    priority; what the kind does not use is empty (version: None). A cited line is sent with the
    version that was read; whether that is still the present one is for the service to say.
    """

    kind = forms.ChoiceField(choices=KINDS, widget=forms.RadioSelect, initial="task")
    title = forms.CharField(label="Title", max_length=200)
    text = forms.CharField(
        label="What must be true when it is finished",
        help_text="The worker and the reviewer both read this text.",
        widget=lines(4),
        required=False,
    )
    question = forms.CharField(
        label="What is unclear, missing or contradictory?",
        help_text="Agents never work on spec bugs. A person answers by editing a requirement, "
        "filing a task, or dismissing it.",
        widget=lines(4),
        required=False,
    )
    cites = LineField(label="Which requirement does the code contradict?", required=False)
    about = forms.ChoiceField(label="Requirement", required=False)
    contradiction = forms.CharField(
        label="How does it contradict it?", widget=lines(3), required=False
    )
    place = forms.CharField(label="Where, or how to see it", widget=mono(), required=False)
    priority = forms.ChoiceField(choices=PRIORITIES, widget=forms.RadioSelect, initial="P2")

    def __init__(
        self,
        *args: Any,
        citable: Sequence[Citable] = (),
        requirements: Iterable[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        """citable: lines that a code bug may cite. requirements: (key, label) for the others."""
        self.base_fields["cites"].widget.attrs["data-picker"] = "Find a line"
        super().__init__(*args, **kwargs)
        self._quotes = {f"{line.key}@{line.version}": line.text for line in citable}
        self.fields["cites"].choices = [("", "Choose a line")] + [
            (f"{line.key}@{line.version}", f"{line.key} {_short(line.text)} v{line.version}")
            for line in citable
        ]
        self.fields["about"].choices = [("", "None"), *requirements]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        kind = data.get("kind", "")
        if kind == "code":
            self._need(
                data,
                "cites",
                "A code bug needs the requirement it contradicts. If none fits, file a spec bug.",
            )
            self._need(data, "contradiction", "Say how the code contradicts that line.")
            return data | {"text": ""} | self._citation(str(data.get("cites", "")))
        if kind == "task":
            self._need(data, "text", "Say what must be true when it is finished.")
        if kind == "spec":
            self._need(data, "question", "Say what is unclear, missing or contradictory.")
            data["text"] = data.get("question", "")
        about = data.get("about", "")
        unused = {"version": None, "quote": "", "contradiction": "", "place": ""}
        return data | {"cites": about} | unused

    def _citation(self, chosen: str) -> dict[str, Any]:
        """An edit since the page was opened leaves no words to quote; the service then says so."""
        cited = _CITED.fullmatch(chosen)
        if cited is None:
            return {"cites": "", "version": None, "quote": ""}
        quote = self._quotes.get(chosen, "")
        return {"cites": cited["key"], "version": int(cited["version"]), "quote": quote}

    def as_spec_bug(self) -> dict[str, str]:
        """Return initial values for the same finding as a spec bug: nothing is typed twice."""
        cited = _CITED.fullmatch(self.data.get("cites", ""))
        words = self.data.get("contradiction") or self.data.get("question", "")
        place = self.data.get("place", "")
        return {
            "kind": "spec",
            "title": self.data.get("title", ""),
            "question": "\n".join(filter(None, (words, place))),
            "about": cited["key"].partition(".")[0] if cited else self.data.get("about", ""),
        }

    def _need(self, data: Mapping[str, Any], name: str, sentence: str) -> None:
        if not str(data.get(name, "")).strip() and name not in self.errors:
            self.add_error(name, sentence)


class WordsForm(Inputs):
    """Reword an entry. Counts as a human event (RULES 4)."""

    title = forms.CharField(label="Title", max_length=200)
    text = forms.CharField(label="Text", widget=lines(5), required=False)


class PriorityForm(Inputs):
    priority = forms.ChoiceField(choices=PRIORITIES, widget=forms.RadioSelect)


class ReasonForm(Inputs):
    """One text that goes with a move: a reason, an answer, a comment."""

    reason = forms.CharField(label="Reason", widget=lines(3))

    def __init__(self, *args: Any, label: str = "Reason", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].label = label


class QuoteForm(Inputs):
    """Confirm a stale entry against the present text. quote: needed if the old words are gone."""

    quote = forms.CharField(
        label="Words of the present text that are contradicted",
        widget=lines(2),
        required=False,
        help_text="Empty keeps the old quote, if it still stands there.",
    )
    note = forms.CharField(label="Note", required=False)


class TextForm(Inputs):
    """A text that may stay empty: what a task says, why something is closed."""

    text = forms.CharField(label="Text", widget=lines(4), required=False)

    def __init__(self, *args: Any, label: str = "Text", hint: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["text"].label = label
        self.fields["text"].help_text = hint


class RequirementForm(Inputs):
    """A requirement's text. based_on: version that the person started from (0 = new one).

    confirm: keys of citing code bugs that still contradict the new text.
    """

    document = forms.CharField(label="Document", max_length=120, required=False)
    text = forms.CharField(label="Text", strip=False, widget=forms.Textarea)
    based_on = forms.IntegerField(widget=forms.HiddenInput, min_value=0, initial=0)
    confirm = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, citing: Sequence[str] = (), **kwargs: Any) -> None:
        self.base_fields["text"].widget.attrs.update(
            {"class": "editor", "wrap": "off", "spellcheck": "true", "data-editor": "", "rows": 12}
        )
        super().__init__(*args, **kwargs)
        self.fields["confirm"].choices = [(key, key) for key in citing]


_NAME_HINT = "Lower case letters, digits and hyphens, at most 63."


class ProjectForm(Inputs):
    """A repository and how the loop prepares and checks it. Lists are one entry per line."""

    name = forms.RegexField(
        r"^[a-z0-9][a-z0-9_-]{0,62}\Z",
        label="Name",
        help_text=_NAME_HINT,
        widget=mono(),
        error_messages={"invalid": f"That is no name of a project. {_NAME_HINT}"},
    )
    repo_path = forms.CharField(
        label="Repository",
        widget=mono(),
        help_text="Full path of a git repository on this machine. Nothing in it is ever changed: "
        "each session works in its own clone.",
    )
    subpath = forms.CharField(
        label="Path inside it",
        required=False,
        widget=mono(),
        help_text="Only files under it may change. Empty means all of the repository.",
    )
    extra_paths = forms.CharField(
        label="Other paths that may change",
        required=False,
        widget=lines(2, extra="mono"),
        help_text="One per line, for example a lockfile at the root.",
    )
    prepare = forms.CharField(
        label="Prepare",
        required=False,
        widget=mono(),
        help_text="Runs before checks, with network. Its result is never evidence.",
    )
    check_command = forms.CharField(
        label="Check",
        required=False,
        widget=mono(),
        help_text="For example: pytest -q",
    )
    pull_request = forms.CharField(
        label="Pull request",
        required=False,
        max_length=10_000,
        widget=mono(),
        help_text="Run only when a person says so, on an ended session's branch. Filled in: "
        "{branch} {base} {title}.",
    )
    accepted_leftovers = forms.CharField(
        label="Files that checks leave behind",
        required=False,
        widget=lines(2, extra="mono"),
        help_text="One pattern per line. The loop ignores them.",
    )

    def clean_extra_paths(self) -> tuple[str, ...]:
        return _entries(self.cleaned_data["extra_paths"])

    def clean_accepted_leftovers(self) -> tuple[str, ...]:
        return _entries(self.cleaned_data["accepted_leftovers"])


def _short(text: str) -> str:
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"


def _entries(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
