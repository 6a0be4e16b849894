"""The decision form hands over exactly what belongs to the choice made."""

from __future__ import annotations

from escalations.forms import DecisionForm
from loops.engine.values import Choice

OFFERED = (Choice.GRANT, Choice.AMEND, Choice.ANSWER, Choice.STOP)


def decide(**data):
    form = DecisionForm(
        {"version": "3", "evidence": "b21c", **data},
        offered=OFFERED,
        limit="iterations",
        requirements=[("R-1", "R-1 Names")],
        has_subject=True,
    )
    return form if form.errors else form.cleaned_data


def test_a_grant_names_its_limit_and_amount():
    word = decide(choice="grant", amount_grant="20", text_grant="Go on.", text_stop="left over")
    assert word["choice"] is Choice.GRANT
    assert word["grants"] == {"iterations": 20}
    assert (word["text"], word["version"], word["evidence"]) == ("Go on.", 3, "b21c")


def test_a_grant_of_nothing_is_refused_at_its_field():
    assert "amount_grant" in decide(choice="grant", amount_grant="").errors
    assert "amount_grant" in decide(choice="grant", amount_grant="0").errors


def test_an_answer_needs_words_and_carries_what_becomes_of_the_entry():
    assert "text_answer" in decide(choice="answer", text_answer=" ").errors
    word = decide(choice="answer", text_answer="Upper case counts.", disposition_answer="task")
    assert (word["text"], word["disposition"]) == ("Upper case counts.", "task")


def test_to_amend_takes_a_requirement_and_its_new_text():
    refused = decide(choice="amend").errors
    assert {"requirement_amend", "document_amend"} <= set(refused)
    word = decide(choice="amend", requirement_amend="R-1", document_amend="New text.")
    assert (word["requirement"], word["document"]) == ("R-1", "New text.")


def test_a_stop_needs_no_words_and_takes_none_of_the_other_fields():
    word = decide(choice="stop", amount_grant="20", document_amend="x")
    assert word["grants"] == {}
    assert word["text"] == ""


def test_a_choice_that_was_not_offered_or_not_made_is_refused():
    assert "choice" in decide(choice="approve").errors
    assert "choice" in decide().errors


def test_a_decision_without_the_version_seen_is_refused():
    assert "version" in decide(choice="stop", version="").errors
