"""Requirements, guidance and marks: versions that never change, nothing lost."""

import pytest

from tracker import services
from tracker.errors import Conflict, Invalid, NotAllowed, NotFound
from tracker.models import Project, Requirement


def test_only_people_edit_requirements(project, worker, reviewer, coach):
    for by in (worker, reviewer, coach):
        with pytest.raises(NotAllowed, match="only a person may"):
            services.edit_requirement(project, "R-1", text="easier", by=by)
        with pytest.raises(NotAllowed, match="only a person may"):
            services.remove_requirement(project, "R-1", by=by)


def test_each_edit_is_a_version_and_the_old_ones_stay(project, ana):
    services.edit_requirement(project, "R-1", text="two", by=ana)
    services.edit_requirement(project, "R-1", text="three", by=ana)
    requirement = services.get_requirement(project, "R-1")
    texts = [v.text for v in requirement.versions.order_by("number")]
    assert texts[1:] == ["two", "three"]
    assert (requirement.current.number, requirement.document) == (3, "style")


def test_of_two_editors_the_second_loses_nothing_and_is_told(project, ana):
    services.edit_requirement(project, "R-1", text="mine", by=ana, based_on=1)
    with pytest.raises(Conflict, match="R-1 is at version 2 now, you edited version 1"):
        services.edit_requirement(project, "R-1", text="theirs", by=ana, based_on=1)
    assert services.get_requirement(project, "R-1").current.text == "mine"


def test_saving_the_same_text_makes_nothing_stale(project, ana, bug):
    text = services.get_requirement(project, "R-1").current.text
    assert services.edit_requirement(project, "R-1", text=text, by=ana).number == 1
    bug.refresh_from_db()
    assert bug.state == "OPEN"


def test_a_requirement_moves_to_another_document_and_keeps_its_key(project, ana):
    text = services.get_requirement(project, "R-1").current.text
    services.edit_requirement(project, "R-1", text=text, by=ana, document="日本語/sample.md")
    assert services.get_requirement(project, "R-1").document == "日本語/sample.md"


def test_a_document_of_one_mebibyte_works(project, ana, file_bug):
    text = "word " * (1024 * 1024 // 5) + "\nThe very last line."
    version = services.edit_requirement(project, None, text=text, by=ana)
    assert version.requirement.key == "R-2"
    filed = file_bug(cites="R-2.2", quote="very last line")
    assert filed.bug.line == 2


@pytest.mark.parametrize("text", ["", " \n", "\x00", "x" * (4 * 1024 * 1024 + 1)])
def test_a_text_that_cannot_be_kept_is_refused(project, ana, text):
    with pytest.raises(Invalid, match="text of the requirement"):
        services.edit_requirement(project, None, text=text, by=ana)


def test_a_removed_key_is_never_used_again(project, ana):
    services.remove_requirement(project, "R-1", by=ana)
    assert services.edit_requirement(project, None, text="x", by=ana).requirement.key == "R-2"
    with pytest.raises(Conflict, match="R-1 was removed"):
        services.edit_requirement(project, "R-1", text="y", by=ana)
    assert [r.key for r in services.requirements(project)] == ["R-2"]


def test_a_goal_is_owned_by_one_session_and_put_away_at_its_end(project, ana):
    services.edit_requirement(project, None, text="goal", by=ana, session_ref="S-1")
    with pytest.raises(Conflict, match="S-1 has a goal already"):
        services.edit_requirement(project, None, text="goal", by=ana, session_ref="S-1")
    assert [r.key for r in services.requirements(project, None, "S-1")] == ["R-1", "R-2"]
    assert [r.key for r in services.requirements(project, None, "S-2")] == ["R-1"]
    assert services.edit_requirement(project, "R-2", text="amended", by=ana).number == 2
    for _ in range(2):
        services.archive_goal(project, "S-1", by=services.engine())
    assert [r.key for r in services.requirements(project, None, "S-1")] == ["R-1"]
    assert Requirement.objects.get(number=2).removed_at is not None


@pytest.mark.parametrize("key", ["", "2", "R-", "B-1", "R-1.1.1"])
def test_what_is_no_key_is_said_to_be_none(project, key):
    with pytest.raises(Invalid, match="no key of a requirement"):
        services.get_requirement(project, key)
    with pytest.raises(NotFound):
        services.get_requirement(project, "R-99")


def test_guidance_is_written_by_the_coach_and_by_people(project, ana, coach, worker):
    assert services.current_guidance(project) is None
    services.set_guidance(project, "Run the tests first.", coach)
    services.set_guidance(project, "", ana)
    assert services.current_guidance(project).number == 2
    with pytest.raises(NotAllowed):
        services.set_guidance(project, "Do nothing.", worker)


def test_guidance_has_a_size_in_bytes_that_fits_a_prompt(project, coach):
    services.set_guidance(project, "ä" * (32 * 1024), coach)
    with pytest.raises(Invalid, match="65,538 bytes"):
        services.set_guidance(project, "ä" * (32 * 1024 + 1), coach)


def test_only_the_reviewer_marks_and_a_mark_names_a_place(project, ana, worker, reviewer):
    for by in (ana, worker):
        with pytest.raises(NotAllowed, match="only the reviewer may"):
            _mark(project, by)
    with pytest.raises(Invalid, match="place"):
        _mark(project, reviewer, place=" ")
    services.remove_requirement(project, "R-1", by=ana)
    with pytest.raises(Invalid, match="R-1 was removed"):
        _mark(project, reviewer)


def test_projects_have_plain_names_and_paths_inside_the_repository(ana):
    for name in ("", "Demo", "a b", "-x", "x" * 64, "../x"):
        with pytest.raises(Invalid, match="no name of a project"):
            services.create_project(name=name, repo_path="/r", by=ana)
    for path in ("/etc", "../x", "a/../../b"):
        with pytest.raises(Invalid, match="no path in the repository"):
            services.create_project(name="x", repo_path="/r", by=ana, subpath=path)
    project = services.create_project(name="x", repo_path="/r", by=ana, subpath="./lib/")
    assert project.subpath == "lib"
    with pytest.raises(Conflict, match="a project x already"):
        services.create_project(name="x", repo_path="/r", by=ana)
    assert Project.objects.filter(name="x").count() == 1


def test_agents_create_no_projects(worker):
    with pytest.raises(NotAllowed):
        services.create_project(name="mine", repo_path="/r", by=worker)


def _mark(project, by, place="app.py:1"):
    return services.add_mark(project, "R-1", by=by, place=place, blob="b1", session_ref="S-1")
