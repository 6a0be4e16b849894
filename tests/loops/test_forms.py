"""The form of a session refuses limits that are zero, empty or unsaid (RULES 1)."""

from __future__ import annotations

import pytest

from loops.session_forms import NewSessionForm

GOOD = {
    "project": "csvlane",
    "goal": "Detect encodings.",
    "scope": "all",
    "pattern": "single_thread",
    "worker": "a",
    "reviewer": "b",
    "review_every": "3",
    "coach_every": "8",
    "done_mode": "agent",
    "iterations": "40",
    "hours": "8",
    "no_progress": "6",
    "no_tokens": "on",
    "no_money": "on",
}


def fill(**changes):
    data = {name: value for name, value in (GOOD | changes).items() if value is not None}
    return NewSessionForm(
        data,
        projects=[("csvlane", "csvlane")],
        agents=[("a", "a"), ("b", "b")],
        requirements=[("R-1", "R-1")],
    )


def test_a_complete_form_is_accepted():
    assert fill().is_valid(), fill().errors


@pytest.mark.parametrize("limit", ["iterations", "hours", "no_progress"])
@pytest.mark.parametrize("value", ["0", "", "-1", None])
def test_mandatory_limits_are_positive_numbers(limit, value):
    assert limit in fill(**{limit: value}).errors


def test_a_limit_that_may_be_none_must_be_said_to_be_none():
    assert "tokens" in fill(no_tokens=None).errors
    assert fill(no_tokens=None, tokens="12").is_valid()


def test_a_number_beside_the_tick_no_limit_is_meant():
    form = fill(money="20")
    assert form.is_valid()
    assert form.cleaned_data["no_money"] is False


def test_a_session_about_nothing_is_refused():
    assert "goal" in fill(scope="none", goal=" ").errors
    assert "scope" in fill(scope="chosen").errors
    assert fill(scope="chosen", requirements=["R-1"], goal="").is_valid()


def test_done_by_script_needs_the_script():
    assert "script" in fill(done_mode="both").errors
    assert fill(done_mode="both", script="check.sh").is_valid()
