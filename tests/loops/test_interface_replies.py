"""What a thinker and a verifier hand in: kept when it is right, refused with where and what."""

import json

import pytest

from loops.engine.contracts import Criterion
from loops.engine.values import Action, Role, Verdict
from tests.loops.interface_kit import desk, new_project

pytestmark = pytest.mark.django_db

POOL = ("coder", "writer")
PLAN = {
    "summary": "Two steps.",
    "decomposition": ["one", "two"],
    "success_criteria": [{"text": "R-1 holds", "traces": "R-1"}, "It reads well"],
    "risks": [],
    "selected_worker": "coder",
    "alternative_workers": ["writer", "writer"],
    "requires_self_call": False,
    "thinker_notes": "",
}
REPORT = {
    "status": "FAIL",
    "score": 4,
    "feedback": "Line 3 answers 500.",
    "evidence": [{"criterion": "C-1", "status": "FAIL", "evidence": "src/api.py:3"}],
    "failure_type": "quality",
    "recommended_action": "REASSIGN",
    "recommended_worker": "writer",
}


@pytest.fixture
def thinker(db):
    return desk(new_project(), Role.THINKER, pool=POOL, goal="R-2")


@pytest.fixture
def verifier(db):
    criteria = (Criterion("C-1", "R-1 holds", "R-1"),)
    return desk(new_project(), Role.VERIFIER, pool=POOL, criteria=criteria)


def submit(at, what, value):
    text = value if isinstance(value, str) else json.dumps(value)
    return at.ok(what, "submit", "-", stdin=text)


def refused(at, what, value):
    text = value if isinstance(value, str) else json.dumps(value)
    return at.refused(what, "submit", "-", stdin=text)


def test_a_plan_is_kept_with_its_criteria_keyed_and_traced(thinker):
    submit(thinker, "plan", PLAN)
    plan = thinker.collected().plan
    assert plan.selected_worker == "coder"
    assert plan.alternative_workers == ("writer",)
    assert plan.success_criteria == (
        Criterion("C-1", "R-1 holds", "R-1"),
        Criterion("C-2", "It reads well", ""),
    )


def test_the_goal_may_be_traced_to_by_its_word(thinker):
    submit(thinker, "plan", PLAN | {"success_criteria": [{"text": "x", "traces": "goal"}]})
    assert thinker.collected().plan.success_criteria[0].traces == "R-2"


def test_the_last_plan_counts(thinker):
    submit(thinker, "plan", PLAN)
    submit(thinker, "plan", PLAN | {"summary": "Another."})
    assert thinker.collected().plan.summary == "Another."


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "Nothing came on standard input"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no JSON object"),
        (PLAN | {"selected_worker": "hacker"}, "the pool is coder, writer"),
        (PLAN | {"alternative_workers": ["hacker"]}, "the pool is coder, writer"),
        (PLAN | {"colour": "red"}, "colour"),
        (PLAN | {"success_criteria": []}, "success_criteria"),
        (PLAN | {"success_criteria": [{"text": "x", "traces": "R-99"}]}, "no requirement in scope"),
        (PLAN | {"summary": ""}, "summary"),
        ({k: v for k, v in PLAN.items() if k != "selected_worker"}, "selected_worker"),
        (PLAN | {"decomposition": ["x"] * 1000}, "decomposition"),
        (PLAN | {"thinker_notes": "x" * 100_000}, "thinker_notes"),
    ],
)
def test_a_plan_that_cannot_be_used_is_refused_with_where_and_what(thinker, value, says):
    assert says in refused(thinker, "plan", value)
    assert thinker.collected().plan is None


def test_a_verdict_is_kept(verifier):
    submit(verifier, "verdict", REPORT)
    report = verifier.collected().report
    assert (report.status, report.score) == (Verdict.FAIL, 4)
    assert report.recommended_action is Action.REASSIGN
    assert report.recommended_worker == "writer"


def test_an_ok_without_evidence_is_told_that_it_may_not_count(verifier):
    said = submit(verifier, "verdict", {"status": "OK", "score": 9})
    assert "C-1" in said


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (REPORT | {"status": "PASS"}, "status"),
        (REPORT | {"score": 0}, "score"),
        (REPORT | {"score": 11}, "score"),
        (REPORT | {"recommended_worker": "hacker"}, "the pool is"),
        (REPORT | {"evidence": [{"criterion": "C-9", "status": "OK"}]}, "no criterion 'C-9'"),
        (REPORT | {"feedback": " ", "evidence": []}, "concrete reason"),
        (REPORT | {"recommended_action": "PANIC"}, "recommended_action"),
        (REPORT | {"extra": 1}, "extra"),
    ],
)
def test_a_verdict_that_cannot_be_used_is_refused_with_where_and_what(verifier, value, says):
    assert says in refused(verifier, "verdict", value)
    assert verifier.collected().report is None


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.THINKER])
def test_only_the_thinker_plans(role):
    assert "Only the thinker may" in refused(desk(new_project(), role, pool=POOL), "plan", PLAN)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.VERIFIER])
def test_only_the_verifier_judges(role):
    assert "Only the verifier may" in refused(desk(new_project(), role), "verdict", REPORT)


def test_control_characters_do_not_reach_the_plan(thinker):
    submit(thinker, "plan", PLAN | {"summary": "red \x1b[31m\x00 alert"})
    assert thinker.collected().plan.summary == "red [31m alert"
