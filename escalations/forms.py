"""What people decide. Validation only; escalations.services holds the rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from django import forms

from escalations.word import MOST_ATTEMPTS
from loops.engine.values import Choice, LimitName
from tracker.forms import Inputs, lines

WORDS = {
    Choice.APPROVE: "Note",
    Choice.EDIT: "Note",
    Choice.AMEND: "Note",
    Choice.GRANT: "Guidance for the next step",
    Choice.CHANGE: "Guidance for the next step",
    Choice.RETRY: "Note",
    Choice.ANSWER: "Your answer, goes into the next prompt",
    Choice.REJECT: "Reason, goes into the next prompt",
    Choice.REPLAN: "What the new plan must heed",
    Choice.REASSIGN: "Guidance for its attempt",
    Choice.ALLOW: "Note",
    Choice.DENY: "Reason, the next step reads it",
    Choice.STOP: "Reason, shown in the history",
}
NEEDS_WORDS = (Choice.ANSWER, Choice.REJECT, Choice.REPLAN, Choice.DENY)
DISPOSITIONS = (
    ("reopen", "Back to the worker"),
    ("dismiss", "Dismiss it, the answer is the reason"),
    ("task", "Make it a task"),
)


@dataclass(frozen=True, slots=True)
class LimitField:
    """A limit to set anew. now: what it is, in the unit of the label, None = no limit. scale: units
    of the limit in one of the label's. may_be_none: it may be left empty."""

    name: str
    label: str
    now: float | None
    scale: int = 1
    may_be_none: bool = False


@dataclass(frozen=True, slots=True)
class Changeable:
    """What a person may change of a session. agents: (role, worker or verifier, its label); stored:
    names of stored agents."""

    agents: tuple[tuple[str, str], ...] = ()
    stored: tuple[str, ...] = ()
    limits: tuple[LimitField, ...] = ()


class DecisionForm(Inputs):
    """One decision on one question, bound to the evidence and version that was shown.

    Each choice has its own fields, named <field>_<choice>, so that the page works without script;
    cleaned_data holds those of the choice made under their plain names: choice, text, evidence,
    version, grants {limit: amount}, disposition, requirement, document, attempts, worker, agents
    {who: stored agent} and limits {limit: number in its own unit, None = none}, of which only what
    was changed.
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
        workers: Iterable[tuple[str, str]] = (),
        changeable: Changeable | None = None,
        **kwargs: Any,
    ) -> None:
        """limit: name to grant more of ("repeats" for review_stall). requirements: (key, label)
        that can be amended, document: the text of the first. has_subject: about an entry.
        workers: (name, label) of the pool. changeable: what may be set anew."""
        self.offered = tuple(offered)
        self.limit = limit
        self.changeable = changeable or Changeable()
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
        if Choice.REJECT in self.offered:
            self._add_attempts()
        if Choice.REASSIGN in self.offered:
            self._add_select("worker_reassign", "Worker", [("", "Choose a worker"), *workers])
        if Choice.CHANGE in self.offered:
            self._add_changes()

    def _add_attempts(self) -> None:
        attrs = {"class": "in in-n", "inputmode": "numeric", "data-says": "reject"}
        self.fields["attempts_reject"] = forms.IntegerField(
            label="How many more attempts",
            help_text="0 ends the session as exhausted; its best output is kept, not verified.",
            min_value=0,
            max_value=MOST_ATTEMPTS,
            required=False,
            initial=1,
            widget=forms.NumberInput(attrs=attrs),
        )

    def _add_select(self, name: str, label: str, choices: list[tuple[str, str]]) -> None:
        widget = forms.Select(attrs={"class": "in"})
        self.fields[name] = forms.ChoiceField(
            label=label, choices=choices, required=False, widget=widget
        )

    def _add_changes(self) -> None:
        stored = [(name, name) for name in self.changeable.stored]
        for who, label in self.changeable.agents:
            self._add_select(f"agent_{who}_change", label, [("", "As it is"), *stored])
        for one in self.changeable.limits:
            attrs = {"class": "in in-n", "inputmode": "decimal"}
            self.fields[f"limit_{one.name}_change"] = forms.FloatField(
                label=one.label,
                required=False,
                initial=None if one.now is None else f"{one.now:g}",
                widget=forms.TextInput(attrs=attrs),
                help_text="Empty: no limit." if one.may_be_none else "",
            )

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
            "attempts": data.get("attempts_reject") or 0,
            "worker": data.get("worker_reassign", ""),
            "agents": {},
            "limits": {},
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
        if choice is Choice.REJECT and data.get("attempts_reject") is None:
            self._refuse("attempts_reject", "Say how many more attempts to allow; 0 ends it.")
        if choice is Choice.REASSIGN and not word["worker"]:
            self._refuse("worker_reassign", "Choose the worker that makes the next attempt.")
        if choice is Choice.CHANGE:
            word |= self._changes(data)
        return word

    def _refuse(self, field: str, sentence: str) -> None:
        """Once per field: what Django says about it already is enough."""
        if field not in self.errors:
            self.add_error(field, sentence)

    def _changes(self, data: dict[str, Any]) -> dict[str, Any]:
        """Only what differs from what is in force."""
        agents = {who: data.get(f"agent_{who}_change") for who, _label in self.changeable.agents}
        agents = {who: name for who, name in agents.items() if name}
        limits = {}
        for one in self.changeable.limits:
            name = f"limit_{one.name}_change"
            if name not in self.data or name in self.errors:
                continue
            said = data.get(name)
            if said == one.now or (said is not None and f"{said:g}" == f"{one.now or 0:g}"):
                continue
            if said is None and not one.may_be_none:
                self.add_error(name, f"{one.label} needs a number above 0.")
            elif said is not None and (not isfinite(said) or said <= 0):
                self.add_error(name, f"{one.label} is a number above 0.")
            else:
                limits[one.name] = said and _in_own_unit(one, said)
        is_empty = not agents and not limits
        if is_empty and not any(name.endswith("_change") for name in self.errors):
            self.add_error(None, "Nothing would change: choose another agent or another limit.")
        return {"agents": agents, "limits": limits}


def _in_own_unit(one: LimitField, said: float) -> float:
    """Whole where the limit counts whole things."""
    return said if one.name == LimitName.MONEY.value else round(said * one.scale)


class EditForm(Inputs):
    """A person's edit of the result, then its approval. path, text: the file in the editor.
    kept_path, kept_text: those edited before, in the same order (lists of the POST)."""

    evidence = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=10**9)
    note = forms.CharField(
        label="Message of your commit", required=False, max_length=5_000, widget=lines(3)
    )
