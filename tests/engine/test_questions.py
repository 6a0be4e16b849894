"""Which decisions a question offers in each pattern, and that each says what it does (RULES 6)."""

from itertools import product

import pytest

from loops.engine.question_texts import EFFECTS
from loops.engine.questions import effect, offered
from loops.engine.values import Choice, Kind, Pattern

ST, TWV, MV = Pattern.SINGLE_THREAD, Pattern.FEEDBACK, Pattern.MAKER_VERIFIER

# The table of RULES 6, row by row: decision -> (kinds, patterns); None = all.
RULES = {
    "approve": (None, None),
    "edit": (None, None),
    "reject": (None, (TWV, MV)),
    "replan": (None, (TWV,)),
    "reassign": (None, (TWV,)),
    "amend": (None, None),
    "grant": ("limit no_progress review_stall", None),
    "change": ("infrastructure auth review_stall limit", None),
    "retry": ("infrastructure auth", None),
    "answer": ("blocked disputed_fix", None),
    "allow": ("gate quarantine", None),
    "deny": ("gate quarantine", None),
    "stop": (None, None),
}


def by_rules(kind, pattern):
    return {
        Choice(choice)
        for choice, (kinds, patterns) in RULES.items()
        if (kinds is None or kind.value in kinds.split())
        and (patterns is None or pattern in patterns)
    }


@pytest.mark.parametrize("pattern", Pattern)
@pytest.mark.parametrize("kind", Kind)
def test_each_decision_is_offered_for_its_kinds_and_patterns_only(kind, pattern):
    assert set(offered(kind, pattern, has_artefact=True)) == by_rules(kind, pattern)


@pytest.mark.parametrize("pattern", Pattern)
@pytest.mark.parametrize("kind", Kind)
def test_only_an_artefact_that_was_shown_can_be_approved(kind, pattern):
    without = set(offered(kind, pattern, has_artefact=False))
    assert by_rules(kind, pattern) - without == {Choice.APPROVE, Choice.EDIT}


def test_the_rules_name_every_decision():
    assert set(RULES) == {choice.value for choice in Choice}


def test_the_form_shows_ends_first_and_stop_last():
    assert [c.value for c in offered(Kind.BLOCKED, ST, has_artefact=False)] == [
        "answer",
        "amend",
        "stop",
    ]
    assert [c.value for c in offered(Kind.CEILING, MV, has_artefact=True)] == [
        "approve",
        "edit",
        "reject",
        "amend",
        "stop",
    ]


@pytest.mark.parametrize("pattern", Pattern)
@pytest.mark.parametrize("kind", Kind)
def test_each_offered_decision_says_what_it_does(kind, pattern):
    for choice in offered(kind, pattern, has_artefact=True):
        said = effect(kind, choice, pattern)
        assert said[0].isupper()
        assert said.endswith(".")


@pytest.mark.parametrize("pattern", Pattern)
def test_what_is_not_offered_has_no_effect_to_tell(pattern):
    for kind, choice in product(Kind, Choice):
        if choice not in by_rules(kind, pattern):
            with pytest.raises(ValueError, match=choice.value):
                effect(kind, choice, pattern)


def test_no_sentence_is_there_for_a_decision_that_is_never_offered():
    for choice, kind, pattern in EFFECTS:
        kinds = Kind if kind is None else (kind,)
        patterns = Pattern if pattern is None else (pattern,)
        assert any(choice in by_rules(k, p) for k, p in product(kinds, patterns))


def test_the_effect_of_a_grant_depends_on_the_question():
    kinds = (Kind.LIMIT, Kind.NO_PROGRESS, Kind.REVIEW_STALL)
    assert len({effect(kind, Choice.GRANT, ST) for kind in kinds}) == 3


@pytest.mark.parametrize(
    ("pattern", "words"),
    [(ST, "two done signals"), (TWV, "replans, and one more"), (MV, "the criteria a new version")],
)
def test_the_effect_of_an_amendment_depends_on_the_pattern(pattern, words):
    for kind in Kind:
        assert words in effect(kind, Choice.AMEND, pattern)


@pytest.mark.parametrize(("pattern", "role"), [(TWV, "worker"), (MV, "maker")])
def test_a_rejection_says_who_gets_the_reason_and_what_no_attempts_mean(pattern, role):
    said = effect(Kind.CEILING, Choice.REJECT, pattern)
    assert f"the {role}'s next prompt" in said
    assert "ends as exhausted" in said


@pytest.mark.parametrize("choice", [Choice.REJECT, Choice.REPLAN, Choice.REASSIGN, Choice.AMEND])
def test_more_attempts_raise_no_limit_and_the_sentence_says_so(choice):
    assert "this question comes back" in effect(Kind.LIMIT, choice, TWV)
    assert "comes back" not in effect(Kind.UNCERTAIN, choice, TWV)
