"""What may be filed, what is refused, and what joins an entry that is there (RULES 5)."""

import pytest

from tracker import services
from tracker.errors import Conflict, Invalid, NotAllowed, NotFound
from tracker.models import Bug, Move, Project


def test_a_code_bug_keeps_its_citation_at_the_version_it_was_filed_against(file_bug):
    filed = file_bug()
    bug = services.get_bug(filed.bug.project, "b-1")
    assert not filed.merged
    assert (bug.key, bug.state, bug.requirement.key, bug.version.number, bug.line) == (
        "B-1",
        "OPEN",
        "R-1",
        1,
        2,
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quote": "Every import must go."}, "do not stand in R-1"),
        ({"quote": ""}, "Quote the words of R-1"),
        ({"cites": ""}, "needs the requirement that it contradicts"),
        ({"cites": "R-1.3"}, "do not stand in R-1.3"),
        ({"contradiction": " "}, "Say how the code contradicts"),
        ({"version": 7}, "R-1 is at version 1 now, you cite version 7"),
    ],
)
def test_a_citation_that_does_not_hold_is_refused(file_bug, changes, words):
    with pytest.raises(Invalid, match=words):
        file_bug(**changes)
    assert not Bug.objects.exists()


@pytest.mark.parametrize("changes", [{"quote": "Not there."}, {"cites": ""}, {"contradiction": ""}])
def test_who_cannot_cite_is_offered_a_spec_bug(file_bug, changes):
    with pytest.raises(Invalid, match="file a spec bug"):
        file_bug(**changes)


def test_words_of_an_older_version_cannot_be_quoted(project, ana, file_bug):
    services.edit_requirement(project, "R-1", text="Imports may be unused.", by=ana)
    with pytest.raises(Invalid, match="at version 2"):
        file_bug()


def test_a_removed_or_unknown_requirement_cannot_be_cited(project, ana, file_bug):
    with pytest.raises(NotFound, match="no R-9"):
        file_bug(cites="R-9")
    services.remove_requirement(project, "R-1", by=ana)
    with pytest.raises(Invalid, match="R-1 was removed"):
        file_bug()


def test_a_refused_filing_leaves_no_trace(project, file_bug):
    before = Project.objects.values_list("tracker_seq", "last_code").get()
    with pytest.raises(Invalid):
        file_bug(quote="Not there.")
    assert Project.objects.values_list("tracker_seq", "last_code").get() == before


def test_the_same_finding_again_is_counted_on_the_open_entry(file_bug):
    first = file_bug()
    again = file_bug(title="Another title", quote="import is used", contradiction="Still there")
    assert again.merged
    assert (again.bug.pk, again.bug.count) == (first.bug.pk, 2)
    assert "Still there" in services.history(first.bug)[-1].note


@pytest.mark.parametrize(
    "changes",
    [
        {"place": "app.py:2"},
        {"quote": "No line is longer than 100 characters."},
    ],
)
def test_another_place_or_line_is_another_entry(file_bug, changes):
    file_bug()
    filed = file_bug(**changes)
    assert not filed.merged
    assert filed.bug.key == "B-2"


def test_a_finding_joins_a_blocked_entry_so_that_the_question_is_not_asked_twice(
    file_bug, bug, worker
):
    services.block(bug, worker, "ruff cannot fix it")
    assert file_bug().merged


def test_a_finding_under_judgement_is_not_hidden_by_a_merge(file_bug, fixed):
    filed = file_bug()
    assert not filed.merged
    assert filed.bug.pk != fixed.pk


def test_an_accepted_exception_is_not_filed_again(file_bug, bug, ana):
    services.dismiss(bug, ana, "generated file", blob="b1")
    with pytest.raises(Conflict, match=r"B-1 .*ana dismissed it: generated file.*spec bug"):
        file_bug(blob="b1")
    assert Bug.objects.count() == 1


def test_an_exception_ends_when_the_file_changes(file_bug, bug, ana):
    services.dismiss(bug, ana, "generated file", blob="b1")
    assert file_bug(blob="b2").bug.key == "B-2"


def test_an_exception_given_without_a_look_at_the_tree_is_about_the_content_first_seen(
    file_bug, bug, ana
):
    services.dismiss(bug, ana, "generated file")
    for blob in ("b1", "", "b1"):
        with pytest.raises(Conflict, match="B-1"):
            file_bug(blob=blob)
    assert file_bug(blob="b2").bug.key == "B-2"


def test_an_exception_ends_when_the_cited_words_change(project, file_bug, bug, ana):
    services.dismiss(bug, ana, "generated file")
    services.edit_requirement(project, "R-1", text="Every import is used. Always.", by=ana)
    assert file_bug().bug.key == "B-2"


def test_an_exception_holds_while_only_other_lines_are_edited(project, file_bug, bug, ana):
    services.dismiss(bug, ana, "generated file")
    services.edit_requirement(project, "R-1", text="New first line\nEvery import is used.", by=ana)
    with pytest.raises(Conflict, match="B-1"):
        file_bug()


def test_tasks_are_filed_only_by_people(project, ana, worker, reviewer, coach):
    for by in (worker, reviewer, coach):
        with pytest.raises(NotAllowed, match="may not file a task"):
            services.file_task(project, by=by, title="More tests")
    task = services.file_task(project, by=ana, title="More tests", cites="R-1.3", priority="P0")
    assert (task.key, task.priority, task.line) == ("T-1", "P0", 3)


def test_anyone_files_a_spec_bug(project, ana, worker, reviewer, coach):
    for by in (ana, worker, reviewer, coach):
        services.file_spec_bug(project, by=by, title="Unclear", text="Which imports?", cites="R-1")
    assert [bug.key for bug in services.bugs(project)] == ["Q-1", "Q-2", "Q-3", "Q-4"]


def test_a_worker_is_never_shown_spec_bugs(project, bug, coach):
    services.file_spec_bug(project, by=coach, title="Unclear", text="Which imports?")
    assert [b.key for b in services.bugs(project, role="worker")] == ["B-1"]


def test_a_worker_files_no_code_bug(file_bug, worker):
    with pytest.raises(NotAllowed, match="spec bug"):
        file_bug(by=worker)


def test_agents_of_other_projects_are_shut_out(project, bug, ana):
    other = services.create_project(name="other", repo_path="/srv/other", by=ana)
    stranger = services.agent(other, "worker", "S-9", "S-9/1")
    for write in (
        lambda: services.start(bug, stranger),
        lambda: services.comment(bug, stranger, "hello"),
        lambda: services.file_spec_bug(project, by=stranger, title="t", text="t"),
    ):
        with pytest.raises(NotAllowed, match="closed to agents of other projects"):
            write()


def test_a_sessions_goal_is_citable_only_there(project, ana, reviewer, file_bug):
    goal = "Every import is used."
    services.edit_requirement(project, None, text=goal, by=ana, session_ref="S-1")
    stranger = services.agent(project, "reviewer", "S-2", "S-2/1")
    with pytest.raises(NotFound, match="no R-2"):
        file_bug(by=stranger, cites="R-2")
    filed = file_bug(by=reviewer, cites="R-2")
    assert filed.bug.session_ref == "S-1"


def test_an_entry_of_a_session_is_closed_to_agents_of_another(project, file_bug):
    bug = file_bug(session_ref="S-1").bug
    stranger = services.agent(project, "worker", "S-2", "S-2/1")
    with pytest.raises(NotAllowed, match="belongs to another session"):
        services.start(bug, stranger)


def test_a_spec_bug_turned_into_a_task_becomes_work(project, ana, worker):
    doubt = services.file_spec_bug(project, by=worker, title="Docs?", text="Write?", cites="R-1")
    task = services.turn_into_task(doubt, ana, "Write the docs.")
    doubt.refresh_from_db()
    assert (doubt.state, task.key, task.text) == ("CLOSED", "T-1", "Write the docs.")
    assert task.requirement == doubt.requirement
    assert services.start(task, worker).state == "IN_PROGRESS"


def test_a_blocked_code_bug_turned_into_a_task_is_not_filed_again(file_bug, bug, ana, worker):
    services.block(bug, worker, "needs a decision")
    task = services.turn_into_task(bug, ana, "Decide by the list.")
    with pytest.raises(Conflict, match=f"turned into {task.key}"):
        file_bug()


def test_numbers_run_per_project_and_kind(project, ana, file_bug):
    other = services.create_project(name="other", repo_path="/srv/other", by=ana)
    assert services.file_task(other, by=ana, title="a").key == "T-1"
    assert services.file_task(project, by=ana, title="a").key == "T-1"
    assert file_bug().bug.key == "B-1"
    assert services.file_task(project, by=ana, title="b").key == "T-2"


@pytest.mark.parametrize(
    "title",
    [
        "<script>alert(1)</script>",
        "x" * 10_000,
        "\u202eabc\u202c",
        "🧵 日本語\ttab",
        "a\x00\ud800",
    ],
)
def test_odd_titles_are_kept_as_one_line_of_text(project, ana, title):
    task = services.file_task(project, by=ana, title=title)
    read = services.get_bug(project, task.key)
    assert read.title == task.title
    assert "\x00" not in read.title
    assert len(read.title.splitlines()) == 1


@pytest.mark.parametrize("title", ["", " \n ", "x" * 10_001, "\x00"])
def test_a_title_that_cannot_be_shown_is_refused(project, ana, title):
    with pytest.raises(Invalid, match="title"):
        services.file_task(project, by=ana, title=title)


def test_every_filing_is_in_the_history_with_its_iteration(file_bug, reviewer):
    file_bug()
    move = Move.objects.get(subject="B-1")
    assert (move.verb, move.to_state, move.reference, move.actor) == (
        "file",
        "OPEN",
        "S-1/3",
        reviewer.actor,
    )
