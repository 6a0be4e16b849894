"""The forms of the tracker refuse what the rules refuse, with the fix in the sentence."""

from __future__ import annotations

from tracker.forms import FileForm, ProjectForm
from tracker.pages.filing import Citable

LINES = (Citable("R-12.3", "A line break is kept.", 4),)


def file(**data):
    form = FileForm({"priority": "P2", **data}, citable=LINES, requirements=[("R-1", "R-1")])
    return form if form.errors else form.cleaned_data


def test_a_code_bug_without_a_citation_is_refused_with_the_offer_of_a_spec_bug():
    errors = file(kind="code", title="Lost CR", contradiction="It is removed.").errors
    assert "spec bug" in errors["cites"][0]


def test_a_code_bug_quotes_the_line_that_it_cites():
    data = file(kind="code", title="Lost CR", cites="R-12.3@4", contradiction="Removed.", text="no")
    assert (data["cites"], data["quote"], data["text"]) == ("R-12.3", "A line break is kept.", "")


def test_a_citation_that_is_no_line_of_the_spec_is_refused():
    assert "cites" in file(kind="code", title="x", cites="R-99.1", contradiction="y").errors


def test_a_task_takes_its_text_and_may_name_a_requirement():
    data = file(kind="task", title="Add auto", text="It is true.", about="R-1", place="left over")
    assert (data["text"], data["cites"], data["place"]) == ("It is true.", "R-1", "")
    assert "text" in file(kind="task", title="Add auto").errors


def test_a_spec_bug_asks_a_question():
    data = file(kind="spec", title="Unclear", question="How many?", text="of the other kind")
    assert data["text"] == "How many?"
    assert "question" in file(kind="spec", title="Unclear").errors


def test_a_missing_title_is_named():
    assert file(kind="task", text="x").errors["title"] == ["“Title” is missing."]


def test_lists_of_a_project_are_one_entry_per_line():
    form = ProjectForm(
        {"name": "csvlane", "repo_path": "/r", "extra_paths": " a.lock \n\nb.lock\n"}
    )
    assert form.is_valid(), form.errors
    assert form.cleaned_data["extra_paths"] == ("a.lock", "b.lock")
