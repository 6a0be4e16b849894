"""Which decisions a question offers, and that each says what it does (RULES 6)."""

import pytest

from loops.engine.questions import effect, offered
from loops.engine.values import Choice, Kind

# Choice -> kinds that offer it in a single-threaded session; None = all (RULES 6).
RULES = {
    "approve": None,
    "edit": None,
    "reject": "",
    "replan": "",
    "reassign": "",
    "answer": "blocked disputed_fix",
    "allow": "gate quarantine",
    "deny": "gate quarantine",
    "grant": "limit no_progress review_stall",
    "change": "infrastructure auth review_stall limit",
    "retry": "infrastructure auth",
    "amend": None,
    "stop": None,
}


@pytest.mark.parametrize("choice", Choice)
@pytest.mark.parametrize("kind", Kind)
def test_each_decision_is_offered_for_its_kinds_only(kind, choice):
    kinds = RULES[choice.value]
    expected = kinds is None or kind.value in kinds.split()
    assert (choice in offered(kind, has_artefact=True)) is expected


@pytest.mark.parametrize("kind", Kind)
def test_only_an_artefact_can_be_approved(kind):
    without = set(offered(kind, has_artefact=False))
    assert set(offered(kind, has_artefact=True)) - without == {Choice.APPROVE, Choice.EDIT}


def test_a_blocked_entry_offers_answer_amend_stop():
    assert [c.value for c in offered(Kind.BLOCKED, has_artefact=False)] == [
        "answer",
        "amend",
        "stop",
    ]


@pytest.mark.parametrize("kind", Kind)
def test_each_offered_decision_says_what_it_does(kind):
    for choice in offered(kind, has_artefact=True):
        assert effect(kind, choice)[0].isupper()
        assert effect(kind, choice).endswith(".")


def test_what_is_not_offered_has_no_effect_to_tell():
    with pytest.raises(ValueError, match="grant"):
        effect(Kind.AUTH, Choice.GRANT)


def test_the_effect_of_a_grant_depends_on_the_question():
    kinds = (Kind.LIMIT, Kind.NO_PROGRESS, Kind.REVIEW_STALL)
    assert len({effect(kind, Choice.GRANT) for kind in kinds}) == 3
