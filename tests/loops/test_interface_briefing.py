"""The prompt of an iteration is made of what the tracker says at that moment."""

import pytest

from loops.engine.prompts import build
from loops.engine.values import Role
from loops.interface.briefing import brief
from tests.loops.interface_kit import FINDING, HEAD, context_of, desk, new_project
from tracker import services

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return new_project()


def fixed(project):
    desk(project, Role.REVIEWER).ok(*FINDING)
    desk(project).ok("bug", "start", "B-1")
    desk(project).ok("bug", "fixed", "B-1")


def test_a_worker_reads_requirements_goal_entries_and_guidance(project):
    ada = services.person("ada")
    services.edit_requirement(project, None, text="Make it fast.", by=ada, session_ref="S-3")
    services.file_task(project, by=ada, title="Tidy up", text="All of it.", session_ref="S-3")
    services.set_guidance(project, "Begin with the parser.", ada)
    desk(project, Role.REVIEWER).ok(*FINDING)
    text = build(brief(context_of(project), notes=("Your done was rejected.",)))
    for words in (
        "iteration 7",
        "R-1.3 | Answer 404 for unknown ids.",
        "R-3 (version 1, the goal of this session)",
        "T-1 task OPEN",
        "B-1 bug OPEN",
        "Begin with the parser.",
        "Your done was rejected.",
    ):
        assert words in text


def test_another_session_s_goal_is_not_told(project):
    ada = services.person("ada")
    services.edit_requirement(project, None, text="Their secret.", by=ada, session_ref="S-4")
    assert "Their secret" not in build(brief(context_of(project)))


def test_a_worker_is_told_why_an_entry_was_reopened_and_what_a_person_answered(project):
    fixed(project)
    desk(project, Role.REVIEWER).ok("bug", "reopen", "B-1", "--why", "still 500 for /y")
    assert "still 500 for /y" in build(brief(context_of(project)))
    desk(project).ok("bug", "blocked", "B-1", "--why", "no server")
    assert "B-1" not in build(brief(context_of(project)))
    services.unblock(services.get_bug(project, "B-1"), services.person("ada"), "Use the fake one.")
    assert "Use the fake one." in build(brief(context_of(project)))


def test_a_reviewer_is_told_what_to_judge_and_which_marks_are_missing(project):
    fixed(project)
    reviewer = desk(project, Role.REVIEWER)
    reviewer.ok("review", "mark", "R-1", "holds", "--where", "src/api.py:3")
    given = brief(context_of(project, Role.REVIEWER))
    assert given.marks_missing == ("R-2",)
    assert [(entry.key, entry.unjudged) for entry in given.entries] == [("B-1", True)]


def test_a_closed_entry_whose_fix_is_lost_is_to_be_judged_again(project):
    fixed(project)
    desk(project, Role.REVIEWER).ok("bug", "close", "B-1")
    assert brief(context_of(project, Role.REVIEWER)).entries == ()
    lost = desk(project, Role.REVIEWER, is_missing=lambda commit: commit == HEAD).context
    (entry,) = brief(lost).entries
    assert (entry.key, entry.unjudged) == ("B-1", True)
    assert "not in HEAD" in build(brief(lost))


def test_a_coach_reads_doubts_about_the_spec_too(project):
    desk(project).ok("bug", "file", "--spec", "--text", "why", "Unclear")
    assert "Q-1" in build(brief(context_of(project, Role.COACH)))
    assert "Q-1" not in build(brief(context_of(project, Role.REVIEWER)))


def test_an_unchanged_tracker_is_read_with_one_query(project, django_assert_num_queries):
    context = context_of(project)
    first = brief(context)
    with django_assert_num_queries(1):
        assert brief(context) == first
    services.set_guidance(project, "New.", services.person("ada"))
    assert "New." in build(brief(context))
