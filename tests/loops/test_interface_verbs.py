"""What each role may say and do with `loopwatch`, without a socket."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loops.engine.values import Role, Signal
from loops.interface import verbs
from loops.interface.verbs import VERBS
from tests.loops.interface_kit import FINDING, SPEC_BUG, context_of, desk, new_project
from tracker import services

pytestmark = pytest.mark.django_db

ROLES = tuple(Role)
GUIDED = {*ROLES} - {Role.VERIFIER}


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

RIGHTS = [
    # command, state that B-1 is brought into first, who may
    (FINDING, None, {Role.REVIEWER}),
    (SPEC_BUG, None, GUIDED),
    (["bug", "file", "--task", "Do it"], None, set()),
    (["bug", "list"], None, GUIDED),
    (["bug", "show", "B-1"], "OPEN", GUIDED),
    (["bug", "start", "B-1"], "OPEN", {Role.WORKER}),
    (["bug", "fixed", "B-1"], "IN_PROGRESS", {Role.WORKER}),
    (["bug", "blocked", "B-1", "--why", "impossible"], "IN_PROGRESS", {Role.WORKER}),
    (["bug", "close", "B-1"], "FIXED", {Role.REVIEWER}),
    (["bug", "reopen", "B-1", "--why", "still so"], "FIXED", {Role.REVIEWER}),
    (["bug", "confirm", "B-1"], "STALE", {Role.REVIEWER}),
    (["req", "list"], None, set(ROLES)),
    (["req", "show", "R-1"], None, set(ROLES)),
    (["guidance", "show"], None, GUIDED),
    (["guidance", "set", "Be bold."], None, {Role.COACH}),
    (["review", "mark", "R-1", "holds", "--where", "src/api.py:3"], None, {Role.REVIEWER}),
    (["review", "clean"], None, {Role.REVIEWER}),
    (["review", "bugs"], None, {Role.REVIEWER}),
    (["criteria", "list"], None, {*ROLES}),
    (["pool", "list"], None, {*ROLES}),
    (["usage", "report", "--model", "m", "--input", "1", "--output", "1"], None, {*ROLES}),
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
@pytest.mark.parametrize(
    ("argv", "state", "allowed"), RIGHTS, ids=[" ".join(row[0])[:40] for row in RIGHTS]
)
def test_each_verb_belongs_to_its_roles_and_others_are_told_who_may(
    project, argv, state, allowed, role
):
    bring(project, state)
    answer = desk(project, role).run(*argv)
    if role in allowed:
        assert (answer.code, answer.err) == (0, "")
    else:
        assert answer.code == 2
        # "Only the reviewer may", "only a person may", "a verifier judges by"
        assert ("nly " in answer.err and "may" in answer.err) or role is Role.VERIFIER


def test_the_rights_table_names_every_verb():
    replies = {"plan submit", "verdict submit"}  # see test_interface_replies.py
    named = {" ".join(argv[:2]) for argv, _, _ in RIGHTS} | {"done", "not-done"} | replies
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
