"""What people type on the first run. Validation only; services do the rest."""

from __future__ import annotations

from django import forms

from tracker.forms import Inputs, lines, mono


class RepositoryForm(Inputs):
    """name, check, takes_over: only once the folder was looked at."""

    path = forms.CharField(
        label="Repository on this machine",
        max_length=2000,
        widget=mono(),
        help_text="Loops work in a clone of their own. Your checkout is never touched.",
    )
    name = forms.RegexField(
        r"^[a-z0-9][a-z0-9_-]{0,62}\Z",
        label="Name of the project",
        required=False,
        widget=mono(),
        error_messages={
            "invalid": "A name has lower case letters, digits and hyphens, at most 63."
        },
    )
    check = forms.CharField(
        label="Check",
        required=False,
        max_length=10_000,
        widget=mono(),
        help_text="Runs at the start, to see what fails already. Empty: none.",
    )
    takes_over = forms.BooleanField(required=False)


class GoalForm(Inputs):
    goal = forms.CharField(
        label="Goal",
        required=False,
        max_length=20_000,
        widget=lines(3),
        help_text="What shall be true at the end. Needed only without requirements.",
    )
