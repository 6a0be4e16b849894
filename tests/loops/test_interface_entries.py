"""Entries, requirements, guidance and marks as agents handle them with `loopwatch`."""

import pytest

from loops.engine.values import Role
from tests.loops.interface_kit import FINDING, HEAD, SPEC_BUG, desk, new_project
from tracker import services
from tracker.models import Bug, Mark

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return new_project()


@pytest.fixture
def worker(project):
    return desk(project, Role.WORKER)


@pytest.fixture
def reviewer(project):
    return desk(project, Role.REVIEWER)


@pytest.fixture
def coach(project):
    return desk(project, Role.COACH)


# --- entries ------------------------------------------------------------------------------------


def test_a_finding_goes_from_filing_to_closing(worker, reviewer):
    filed = reviewer.data(*FINDING)
    assert filed["key"] == "B-1"
    assert filed["cites"] == "R-1.3"
    assert filed["merged"] is False
    assert (
        worker.ok("bug", "list") == "B-1  OPEN  P2  R-1.3  src/api.py:12  Unknown ids answer 500\n"
    )
    worker.ok("bug", "start", "B-1")
    assert worker.data("bug", "fixed", "B-1")["commit"] == HEAD
    assert worker.data("bug", "list") == []
    assert [bug["key"] for bug in reviewer.data("bug", "list")] == ["B-1"]
    assert reviewer.data("bug", "close", "B-1")["state"] == "CLOSED"
    assert reviewer.data("bug", "list") == []
    assert [bug["key"] for bug in reviewer.data("bug", "list", "--all")] == ["B-1"]


def test_the_same_finding_again_joins_the_open_entry(reviewer):
    reviewer.ok(*FINDING)
    again = reviewer.data(*FINDING)
    assert (again["key"], again["merged"], again["count"]) == ("B-1", True, 2)


def test_a_quote_that_does_not_stand_there_is_refused_in_a_sentence(reviewer):
    argv = [word.replace("Answer 404", "Answer 405") for word in FINDING]
    assert "do not stand in R-1" in reviewer.refused(*argv)
    assert not Bug.objects.exists()


def test_a_worker_s_list_never_holds_a_spec_bug(worker, reviewer, coach):
    coach.ok(*SPEC_BUG)
    assert worker.data("bug", "list") == []
    assert worker.data("bug", "list", "--all") == []
    assert worker.data("bug", "list", "--state", "OPEN") == []
    assert [bug["kind"] for bug in coach.data("bug", "list")] == ["spec"]
    assert worker.data("bug", "show", "Q-1")["text"] == "why"


def test_lists_can_be_narrowed(worker, reviewer):
    reviewer.ok(*FINDING)
    assert worker.data("bug", "list", "--mine") == []
    worker.ok("bug", "start", "B-1")
    assert len(worker.data("bug", "list", "--mine")) == 1
    assert len(worker.data("bug", "list", "--state", "in-progress")) == 1
    assert worker.data("bug", "list", "--state", "CLOSED") == []
    assert "There is no state" in worker.refused("bug", "list", "--state", "LOST")


def test_an_entry_is_shown_whole(reviewer):
    reviewer.ok(*FINDING)
    text = reviewer.ok("bug", "show", "b-1")
    assert "quote: Answer 404" in text
    assert "contradiction: answers 500" in text
    assert "- file (the reviewer of S-3, S-3/7): Unknown ids answer 500" in text
    assert reviewer.data("bug", "show", "B-1")["history"][0]["verb"] == "file"
    assert "B-9" in reviewer.refused("bug", "show", "B-9")


def test_an_entry_of_another_session_is_not_there(project, worker):
    services.file_task(project, by=services.person("ada"), title="Theirs", session_ref="S-4")
    assert worker.data("bug", "list") == []
    worker.refused("bug", "show", "T-1")
    worker.refused("bug", "start", "T-1")


def test_a_fix_that_is_not_in_head_is_named_and_its_reopening_is_no_dispute(project, worker):
    reviewer = desk(project, Role.REVIEWER, is_missing=lambda commit: commit == HEAD)
    reviewer.ok(*FINDING)
    worker.ok("bug", "start", "B-1")
    worker.ok("bug", "fixed", "B-1")
    desk(project, Role.REVIEWER).ok("bug", "close", "B-1")
    assert "B-1" in str(reviewer.data("review", "clean")["hints"])
    reopened = reviewer.data("bug", "reopen", "B-1", "--why", "the commit is lost")
    assert (reopened["state"], reopened["reopen_count"]) == ("REOPENED", 0)


def test_a_fix_that_was_judged_bad_counts_as_a_dispute(worker, reviewer):
    reviewer.ok(*FINDING)
    worker.ok("bug", "start", "B-1")
    worker.ok("bug", "fixed", "B-1")
    reopened = reviewer.data("bug", "reopen", "B-1", "--why", "still 500")
    assert (reopened["state"], reopened["reopen_count"]) == ("REOPENED", 1)
    assert "--why" in reviewer.refused("bug", "reopen", "B-1")


def test_a_stale_entry_is_confirmed_with_words_of_the_new_text(project, reviewer):
    reviewer.ok(*FINDING)
    services.edit_requirement(project, "R-1", text="Say 410.", by=services.person("ada"))
    assert [bug["state"] for bug in reviewer.data("bug", "list")] == ["STALE"]
    assert "do not stand" in reviewer.refused("bug", "confirm", "B-1")
    assert reviewer.data("bug", "confirm", "B-1", "--quote", "Say 410")["cites"] == "R-1.1"


def test_a_block_opens_with_the_worker_s_words(worker, reviewer):
    reviewer.ok(*FINDING)
    blocked = worker.data("bug", "blocked", "B-1", "--why", "-", stdin="No such\nserver.")
    assert blocked["state"] == "BLOCKED"
    assert "--why" in worker.refused("bug", "blocked", "B-1")


@pytest.mark.parametrize(
    ("given", "kept"), [("HEAD", HEAD), ("aaaaaaaaa", HEAD), ("B" * 40, "b" * 40)]
)
def test_a_fix_names_a_whole_commit(worker, reviewer, given, kept):
    reviewer.ok(*FINDING)
    worker.ok("bug", "start", "B-1")
    assert worker.data("bug", "fixed", "B-1", "--commit", given)["commit"] == kept


@pytest.mark.parametrize("commit", ["main", "abc1234", "aaa", "a" * 41, "$(reboot)"])
def test_a_commit_that_could_be_anything_is_refused(worker, reviewer, commit):
    reviewer.ok(*FINDING)
    worker.ok("bug", "start", "B-1")
    assert "whole commit id" in worker.refused("bug", "fixed", "B-1", "--commit", commit)


def test_a_fix_before_any_commit_is_refused(project, reviewer):
    reviewer.ok(*FINDING)
    unborn = desk(project, head=lambda: "")
    unborn.ok("bug", "start", "B-1")
    assert "no commit" in unborn.refused("bug", "fixed", "B-1")


# --- requirements, guidance, marks --------------------------------------------------------------


def test_requirements_are_listed_and_shown_with_line_numbers(worker):
    assert worker.ok("req", "list").splitlines()[0] == "R-1  version 1  # Errors"
    assert "R-1.3 | Answer 404 for unknown ids." in worker.ok("req", "show", "r-1")
    assert "R-1.3 | Answer 404 for unknown ids." in worker.ok("req", "show", "R-1.3")
    assert "R-9" in worker.refused("req", "show", "R-9")
    assert "no requirement main" in worker.refused("req", "show", "main")


def test_guidance_is_set_whole_and_shown_with_its_version(worker, coach):
    assert "no guidance" in worker.ok("guidance", "show")
    coach.ok("guidance", "set", "Be bold.")
    coach.ok("guidance", "set", "-", stdin="Be\nquick.")
    assert worker.data("guidance", "show") == {"version": 2, "text": "Be\nquick."}


def test_a_mebibyte_of_guidance_is_refused_with_the_cap(coach):
    sentence = coach.refused("guidance", "set", "-", stdin="x" * 1024 * 1024)
    assert "1,048,576 bytes" in sentence
    assert "at most" in sentence


@pytest.mark.parametrize("place", ["./src//api.py:3", "src/api.py:3", "src/api.py:3:9"])
def test_a_mark_names_a_place_in_the_tree(reviewer, place):
    reviewer.ok("review", "mark", "R-1", "holds", "--where", place)
    assert Mark.objects.get().place == "src/api.py:3"


@pytest.mark.parametrize(
    "place",
    ["gone.py:3", "src/api.py", "/etc/passwd:1", "../x:1", "src/../../x", "a\nb:1", ":", "."],
)
def test_a_mark_on_anything_else_is_refused(reviewer, place):
    reviewer.refused("review", "mark", "R-1", "holds", "--where", place)
    assert not Mark.objects.exists()


def test_a_mark_says_only_holds(reviewer):
    argv = ["review", "mark", "R-1", "fails", "--where", "src/api.py:3"]
    assert "bug file" in reviewer.refused(*argv)
