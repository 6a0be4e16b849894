"""What each role may say and do with `loopwatch`, without a socket."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loops.engine.values import Role, Signal
from loops.interface import verbs
from loops.interface.verbs import VERBS
from tests.loops.interface_kit import FINDING, HEAD, context_of, desk, new_project
from tracker import services
from tracker.models import Bug, Mark

pytestmark = pytest.mark.django_db

ROLES = (Role.WORKER, Role.REVIEWER, Role.COACH)


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


# --- rights -------------------------------------------------------------------------------------

SPEC_BUG = ["bug", "file", "--spec", "--cites", "R-1", "--text", "why", "Unclear"]
RIGHTS = [
    # command, state that B-1 is brought into first, who may
    (FINDING, None, {Role.REVIEWER}),
    (SPEC_BUG, None, {Role.WORKER, Role.REVIEWER, Role.COACH}),
    (["bug", "file", "--task", "Do it"], None, set()),
    (["bug", "list"], None, set(ROLES)),
    (["bug", "show", "B-1"], "OPEN", set(ROLES)),
    (["bug", "start", "B-1"], "OPEN", {Role.WORKER}),
    (["bug", "fixed", "B-1"], "IN_PROGRESS", {Role.WORKER}),
    (["bug", "blocked", "B-1", "--why", "impossible"], "IN_PROGRESS", {Role.WORKER}),
    (["bug", "close", "B-1"], "FIXED", {Role.REVIEWER}),
    (["bug", "reopen", "B-1", "--why", "still so"], "FIXED", {Role.REVIEWER}),
    (["bug", "confirm", "B-1"], "STALE", {Role.REVIEWER}),
    (["req", "list"], None, set(ROLES)),
    (["req", "show", "R-1"], None, set(ROLES)),
    (["guidance", "show"], None, set(ROLES)),
    (["guidance", "set", "Be bold."], None, {Role.COACH}),
    (["review", "mark", "R-1", "holds", "--where", "src/api.py:3"], None, {Role.REVIEWER}),
    (["review", "clean"], None, {Role.REVIEWER}),
    (["review", "bugs"], None, {Role.REVIEWER}),
    (["done"], None, {Role.WORKER}),
    (["not-done"], None, {Role.WORKER}),
]


def bring(project, state):
    """File B-1 and move it to `state`."""
    if state is None:
        return
    desk(project, Role.REVIEWER).ok(*FINDING)
    worker = desk(project)
    if state in ("IN_PROGRESS", "FIXED"):
        worker.ok("bug", "start", "B-1")
    if state == "FIXED":
        worker.ok("bug", "fixed", "B-1")
    if state == "STALE":
        services.edit_requirement(project, "R-1", text="Answer 404.", by=services.person("ada"))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("argv", "state", "allowed"), RIGHTS, ids=lambda v: str(v)[:40])
def test_each_verb_belongs_to_its_roles_and_others_are_told_who_may(
    project, argv, state, allowed, role
):
    bring(project, state)
    answer = desk(project, role).run(*argv)
    if role in allowed:
        assert (answer.code, answer.err) == (0, "")
    else:
        assert answer.code == 2
        assert "nly " in answer.err  # "Only the reviewer may", "only a person may"
        assert "may" in answer.err


def test_the_rights_table_names_every_verb():
    named = {" ".join(argv[:2]) for argv, _, _ in RIGHTS} | {"done", "not-done"}
    assert {verb.name for verb in VERBS} <= named


@pytest.mark.parametrize(
    "argv",
    [
        ["escalation", "decide", "1", "--approve"],
        ["session", "stop", "1"],
        ["project", "add"],
        ["task", "file", "x"],
        ["req", "edit", "R-1"],
        ["login-link"],
        ["up"],
    ],
)
def test_commands_of_people_are_refused(worker, argv):
    assert "command of people" in worker.refused(*argv)


@pytest.mark.parametrize("role", ROLES)
def test_help_lists_only_verbs_that_the_role_may_use_each_with_an_example(project, role):
    text = desk(project, role).ok("--help")
    offered = {verb.name for verb in VERBS if role in verb.roles}
    for verb in VERBS:
        shown = f"\n  {verb.name:<14} " in text
        assert shown == (verb.name in offered)
    assert all(f"loopwatch {name}" in text for name in offered)


def test_help_works_for_a_group_and_for_a_verb(worker):
    assert "bug fixed" in worker.ok("bug")
    assert "--commit" in worker.ok("bug", "fixed", "--help")
    assert "Example: loopwatch bug fixed B-7" in worker.ok("bug", "fixed", "-h")
    assert "Example: loopwatch bug file --spec" in worker.ok("bug", "file", "--help")


# --- signals ------------------------------------------------------------------------------------


def test_no_signal_is_no_signal(worker):
    worker.ok("bug", "list")
    assert worker.collected().signal is None


@pytest.mark.parametrize("order", [["done", "not-done"], ["not-done", "done"]])
def test_not_done_beats_done_in_any_order(worker, order):
    for word in order:
        worker.ok(word)
    assert worker.collected().signal is Signal.NOT_DONE


@pytest.mark.parametrize("order", [["clean", "bugs"], ["bugs", "clean"]])
def test_review_bugs_beats_review_clean_and_the_contradiction_is_noted(reviewer, order):
    for word in order:
        reviewer.ok("review", word)
    collected = reviewer.collected()
    assert collected.signal is Signal.REVIEW_BUGS
    assert "both" in collected.notes[0]


def test_words_that_only_mention_a_signal_are_none(worker):
    worker.refused("I", "am", "done")
    worker.refused("bug", "done")
    worker.ok("done", "--help")
    worker.refused("done", "really")
    assert worker.collected().signal is None


def test_a_signal_of_another_role_is_not_collected(coach):
    coach.refused("done")
    coach.refused("review", "clean")
    assert coach.collected().signal is None


def test_done_with_open_entries_says_at_once_that_it_will_be_rejected(worker, reviewer):
    assert worker.data("done") == {"signal": "done", "hints": []}
    reviewer.ok(*FINDING)
    assert "B-1" in worker.data("done")["hints"][0]


def test_review_clean_says_at_once_what_is_missing(worker, reviewer):
    reviewer.ok(*FINDING)
    worker.ok("bug", "start", "B-1")
    worker.ok("bug", "fixed", "B-1")
    reviewer.ok("review", "mark", "R-1", "holds", "--where", "src/api.py:3")
    hints = reviewer.data("review", "clean")["hints"]
    assert any("judged" in hint and "B-1" in hint for hint in hints)
    assert any("mark" in hint and "R-2" in hint and "R-1" not in hint for hint in hints)


def test_a_mark_no_longer_counts_once_the_cited_file_changed(project, reviewer):
    reviewer.ok("review", "mark", "R-1", "holds", "--where", "src/api.py:3")
    later = desk(project, Role.REVIEWER, blob=lambda path: "c" * 40)
    assert "R-1" in str(later.data("review", "clean")["hints"])


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


@pytest.mark.parametrize("place", ["./src//api.py:3", "src/api.py", "src/api.py:3:9"])
def test_a_mark_names_a_place_in_the_tree(reviewer, place):
    reviewer.ok("review", "mark", "R-1", "holds", "--where", place)
    assert Mark.objects.get().place.startswith("src/api.py")


@pytest.mark.parametrize("place", ["gone.py:3", "/etc/passwd:1", "../x:1", "src/../../x", ":", "."])
def test_a_mark_on_anything_else_is_refused(reviewer, place):
    reviewer.refused("review", "mark", "R-1", "holds", "--where", place)
    assert not Mark.objects.exists()


def test_a_mark_says_only_holds(reviewer):
    argv = ["review", "mark", "R-1", "fails", "--where", "src/api.py:3"]
    assert "bug file" in reviewer.refused(*argv)


# --- untrusted words ----------------------------------------------------------------------------


def test_control_characters_do_not_survive(reviewer):
    argv = [*FINDING[:-4], "Red \x1b[31malert\x00\x07", "here"]
    filed = reviewer.data(*argv)
    assert filed["title"] == "Red [31malert here"


def test_long_words_are_refused_with_the_limit(reviewer):
    assert "at most 200" in reviewer.refused(*FINDING[:-4], "x" * 201)
    assert "The title is empty" in reviewer.refused(*FINDING[:-4], "\x00")
    assert "words" in reviewer.refused(*FINDING[:-4], *["x"] * 100)


def test_what_fails_inside_is_one_sentence_and_exit_1(project, caplog):
    def broken():
        raise RuntimeError("disk on fire")

    desk(project, Role.REVIEWER).ok(*FINDING)
    worker = desk(project, head=broken)
    worker.ok("bug", "start", "B-1")
    answer = worker.run("bug", "fixed", "B-1")
    assert answer.code == 1
    assert answer.err == verbs.BROKEN
    assert "disk on fire" in caplog.text


WORDS = st.one_of(
    st.sampled_from(sorted({word for argv, _, _ in RIGHTS for word in argv})),
    st.sampled_from(
        ["--json", "--help", "-", "--", "-x", "--why=", "@f", "%s", "", "B-0", "R-1.99"]
    ),
    st.text(max_size=20),
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(ROLES), st.lists(WORDS, max_size=9), st.text(max_size=50))
def test_no_command_line_crashes_it(project, role, argv, stdin):
    answer = desk(project, role).run(*argv, stdin=stdin)
    assert answer.code in (0, 2), answer
    assert (answer.out if answer.code == 0 else answer.err).strip()
    assert "Traceback" not in answer.err


def test_an_agent_in_process_needs_no_socket(project):
    assert context_of(project).by.reference == "S-3/7"
    assert desk(project).data("done")["signal"] == "done"
