"""What people decide. Validation only; escalations.services holds the rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms

from loops.engine.values import Choice
from tracker.forms import Inputs, lines

WORDS = {
    Choice.APPROVE: "Note",
    Choice.EDIT: "Note",
    Choice.AMEND: "Note",
    Choice.GRANT: "Guidance for the next step",
    Choice.CHANGE: "Note",
    Choice.RETRY: "Note",
    Choice.ANSWER: "Your answer, goes into the next prompt",
    Choice.REJECT: "Reason, goes into the next prompt",
    Choice.REPLAN: "What the new plan must heed",
    Choice.REASSIGN: "Note",
    Choice.ALLOW: "Note",
    Choice.DENY: "Reason",
    Choice.STOP: "Reason, shown in the history",
}
NEEDS_WORDS = (Choice.ANSWER, Choice.REJECT)
DISPOSITIONS = (
    ("reopen", "Back to the worker"),
    ("dismiss", "Dismiss it, the answer is the reason"),
    ("task", "Make it a task"),
)


class DecisionForm(Inputs):
    """One decision on one question, bound to the evidence and version that was shown.

    Each choice has its own fields, named <field>_<choice>, so that the page works without script;
    cleaned_data holds those of the choice made under their plain names: choice, text, evidence,
    version, grants {limit: amount}, disposition, requirement, document.
    """

    choice = forms.ChoiceField(widget=forms.RadioSelect, label="Your decision")
    evidence = forms.CharField(widget=forms.HiddenInput, required=False)
    version = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        offered: Sequence[Choice],
        limit: str = "",
        limit_label: str = "",
        requirements: Iterable[tuple[str, str]] = (),
        document: str = "",
        has_subject: bool = False,
        **kwargs: Any,
    ) -> None:
        """limit: name to grant more of ("repeats" for review_stall). requirements: (key, label)
        that can be amended, document: the text of the first. has_subject: about an entry."""
        self.offered = tuple(offered)
        self.limit = limit
        super().__init__(*args, **kwargs)
        self.fields["choice"].choices = [(choice.value, choice.value) for choice in self.offered]
        for choice in self.offered:
            if choice is not Choice.EDIT:  # it has a page of its own
                self._add(f"text_{choice}", WORDS[choice], widget=lines(3))
        if Choice.GRANT in self.offered and limit:
            self._add_amount(limit_label or limit)
        if Choice.ANSWER in self.offered and has_subject:
            self._add_disposition()
        if Choice.AMEND in self.offered:
            self._add_requirement(list(requirements), document)

    def _add_amount(self, label: str) -> None:
        attrs = {"class": "in in-n", "inputmode": "numeric", "data-says": "grant"}
        self.fields["amount_grant"] = forms.IntegerField(
            label=label,
            min_value=1,
            required=False,
            initial=10,
            widget=forms.NumberInput(attrs=attrs),
        )

    def _add_disposition(self) -> None:
        self.fields["disposition_answer"] = forms.ChoiceField(
            label="The entry",
            choices=DISPOSITIONS,
            initial="reopen",
            required=False,
            widget=forms.RadioSelect,
        )

    def _add_requirement(self, requirements: list[tuple[str, str]], document: str) -> None:
        self.fields["requirement_amend"] = forms.ChoiceField(
            label="Requirement",
            choices=requirements,
            required=False,
            widget=forms.Select(attrs={"class": "in"}),
        )
        self._add("document_amend", "Its new text", widget=lines(8, extra="mono"))
        self.fields["document_amend"].initial = document

    def _add(self, name: str, label: str, widget: forms.Textarea) -> None:
        widget.attrs["class"] = f"in {widget.attrs.pop('extra', '')}".strip()
        self.fields[name] = forms.CharField(label=label, widget=widget, required=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if "choice" not in data:
            return data
        choice = Choice(data["choice"])
        word = {
            "choice": choice,
            "evidence": data.get("evidence", ""),
            "version": data.get("version"),
            "text": data.get(f"text_{choice}", ""),
            "grants": {},
            "disposition": data.get("disposition_answer") or "reopen",
            "requirement": data.get("requirement_amend", ""),
            "document": data.get("document_amend", ""),
        }
        if choice in NEEDS_WORDS and not word["text"].strip():
            self.add_error(f"text_{choice}", "Write it down: the next step reads these words.")
        if choice is Choice.GRANT and self.limit:
            amount = data.get("amount_grant")
            if amount:
                word["grants"] = {self.limit: amount}
            else:
                self.add_error("amount_grant", "Say how many more to allow.")
        if choice is Choice.AMEND and not word["requirement"]:
            self.add_error("requirement_amend", "Choose the requirement to amend.")
        if choice is Choice.AMEND and not word["document"].strip():
            self.add_error("document_amend", "Give the requirement's new text.")
        return word


class EditForm(Inputs):
    """A person's edit of the result, then its approval. path, text: the file in the editor.
    kept_path, kept_text: those edited before, in the same order (lists of the POST)."""

    evidence = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=10**9)
    note = forms.CharField(
        label="Message of your commit", required=False, max_length=5_000, widget=lines(3)
    )
