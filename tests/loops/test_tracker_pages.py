"""The tracker in the browser, without a script: what the board says, filing, moves, rights."""

from __future__ import annotations

import re

import pytest

from loops import runner
from loops.engine.values import Role
from loops.models import Session
from tests.loops.behaviours import HONEST
from tests.loops.pages_kit import said, sign_in, text_of
from tracker import services
from tracker.models import Bug
from tracker.services import members

BOARD = "/p/demo/tracker/"
TASK = {"kind": "task", "title": "Say hello", "text": "The program says hello.", "priority": "P1"}
CODE = {
    "kind": "code",
    "title": "bad words",
    "cites": "R-2.1@1",
    "contradiction": "a.txt holds it",
    "place": "a.txt:1",
    "priority": "P2",
}


@pytest.fixture
def ana(client, db):
    return sign_in(client)


@pytest.fixture
def reviewer(project):
    return services.agent(project, "reviewer", "S-1", "S-1/3")


@pytest.fixture
def worker(project):
    return services.agent(project, "worker", "S-1", "S-1/4")


@pytest.fixture
def bug(project, reviewer):
    return services.file_code_bug(
        project,
        by=reviewer,
        title="a.txt is bad",
        cites="R-2",
        quote="the word bad",
        contradiction="It is there.",
        place="a.txt:1",
    ).bug


def post(client, path, **data):
    return client.post(f"{BOARD}{path}", data, follow=True)


def column(answer, name):
    found = re.search(
        rf'<section aria-label="{name}">(.*?)</section>', answer.content.decode(), re.S
    )
    return found[1] if found else ""


# --- the board ----------------------------------------------------------------------------------


def test_an_empty_board_says_what_will_appear_and_offers_the_first_act(ana, project):
    page = text_of(ana.get(BOARD))
    assert "Nothing is filed yet" in page
    assert "File a task" in page
    assert "No loop is running in this project" in page


def test_the_board_shows_each_entry_in_the_column_of_its_state(ana, project, me, bug, worker):
    services.file_task(project, by=me, title="A task", text="x")
    doubt = services.file_spec_bug(project, by=worker, title="What is bad?", text="unclear")
    services.start(bug, worker)
    answer = ana.get(BOARD)
    assert "B-1" in column(answer, "In progress")
    opened = column(answer, "Open")
    assert "T-1" in opened
    assert doubt.key in opened
    assert "People only" in opened
    services.mark_fixed(bug, worker, "abc1234")
    assert "abc1234" in column(ana.get(BOARD), "Fixed, to confirm")
    services.close(bug, me)
    assert "closed by me" in column(ana.get(BOARD), "Closed in 24 h")


def test_the_headline_counts_what_keeps_the_loop_from_being_done(ana, project, me, bug):
    services.file_task(project, by=me, title="A task", text="x")
    assert "1 code bug and 1 task keep the next one from being done" in text_of(ana.get(BOARD))


def test_filters_are_plain_addresses(ana, project, me, bug, worker):
    services.file_spec_bug(project, by=worker, title="What is bad?", text="unclear")
    blocks = text_of(ana.get(f"{BOARD}?show=blocks"))
    assert "B-1" in blocks
    assert "Q-1" not in blocks
    person = text_of(ana.get(f"{BOARD}?show=person"))
    assert "Q-1" in person
    assert "B-1" not in person
    cited = text_of(ana.get(f"{BOARD}?cites=R-1"))
    assert "B-1" not in cited
    assert ana.get(f"{BOARD}?show=nonsense&cites=x").status_code == 200


def test_coverage_counts_marks_and_contradicted_requirements(ana, project, bug, reviewer):
    services.add_mark(project, "R-1", by=reviewer, place="a.txt:1", blob="b1", session_ref="S-1")
    page = text_of(ana.get(BOARD))
    assert "2 requirements" in page
    assert "1 reviewed" in page
    assert "1 with open bugs" in page


def test_titles_are_text_never_markup(ana, project, me):
    services.file_task(project, by=me, title="<script>alert(1)</script>", text="<img src=x>")
    for path in (BOARD, f"{BOARD}T-1/"):
        html = ana.get(path).content.decode()
        assert "<script>alert" not in html
        assert "<img src=x" not in html
        assert "&lt;script&gt;alert" in html


def test_hundreds_of_entries_take_few_queries(ana, project, me, django_assert_max_num_queries):
    for number in range(70):
        services.file_task(project, by=me, title=f"Task {number}", text="x")
    with django_assert_max_num_queries(25):
        page = text_of(ana.get(BOARD))
    assert "Open 70" in page
    assert "10 more" in page
    assert "10 more" not in text_of(ana.get(f"{BOARD}?more=all"))


def test_a_part_is_the_same_html_as_in_the_page(ana, project, bug):
    html = ana.get(BOARD).content.decode()
    part = ana.get(f"{BOARD}parts/board/").content.decode().strip()
    assert part.startswith('<div data-part="board">')
    assert part in html
    assert ana.get(f"{BOARD}parts/nothing/").status_code == 404
    both = ana.get(f"{BOARD}B-1/parts/board+entry+filing/").content.decode()
    assert both.count("data-part=") == 2
    assert 'data-part="entry"' in both


# --- filing -------------------------------------------------------------------------------------


def test_a_task_is_filed_and_the_board_says_so(ana, project):
    assert "What must be true when it is finished" in text_of(ana.get(f"{BOARD}?file=task"))
    answer = post(ana, "file/", **TASK)
    assert answer.redirect_chain[0][0] == f"{BOARD}#T-1"
    assert said(answer) == ["T-1 filed."]
    task = services.get_bug(project, "T-1")
    assert (task.text, task.priority, task.filed_by.name) == (
        "The program says hello.",
        "P1",
        "ana",
    )


def test_a_code_bug_quotes_the_line_that_was_chosen(ana, project):
    post(ana, "file/", **CODE)
    bug = services.get_bug(project, "B-1")
    assert (bug.quote, bug.line, bug.version.number) == ("No file holds the word bad.", 1, 1)


def test_a_code_bug_without_a_citation_is_refused_and_nothing_is_lost(ana, project):
    answer = post(ana, "file/", **CODE | {"cites": ""})
    assert answer.status_code == 422
    page = text_of(answer)
    assert "A code bug needs the requirement it contradicts. If none fits, file a spec bug." in page
    assert "a.txt holds it" in page
    assert 'value="bad words"' in answer.content.decode()
    assert "Make it a spec bug" in page
    assert not Bug.objects.exists()


def test_a_line_that_was_edited_meanwhile_is_refused_with_the_version_to_read(ana, project, me):
    services.edit_requirement(project, "R-2", text="No file is empty.", by=me)
    answer = post(ana, "file/", **CODE)
    assert answer.status_code == 422
    assert "R-2 is at version 2 now, you cite version 1. Read it again." in text_of(answer)
    assert "a.txt holds it" in text_of(answer)


def test_a_refused_code_bug_becomes_a_spec_bug_with_the_same_words(ana, project):
    answer = post(ana, "file/", **CODE, as_spec="1")
    assert answer.status_code == 200
    form = answer.context["page"].filing.form
    assert form["kind"].value() == "spec"
    assert form["question"].value() == "a.txt holds it\na.txt:1"
    assert form["about"].value() == "R-2"
    assert not Bug.objects.exists()
    answer = post(
        ana, "file/", kind="spec", title="bad words", question="a.txt holds it", about="R-2",
        priority="P2",
    )  # fmt: skip
    assert said(answer) == ["Q-1 filed. It waits on this board for a person; no loop reads it."]


def test_the_same_finding_again_is_counted_not_filed_twice(ana, project):
    post(ana, "file/", **CODE)
    answer = post(ana, "file/", **CODE)
    assert said(answer) == ["B-1 is this finding; it was counted once more."]
    assert Bug.objects.get().count == 2


def test_an_accepted_exception_is_not_filed_again(ana, project, me):
    post(ana, "file/", **CODE)
    services.dismiss(services.get_bug(project, "B-1"), me, "That word is fine here.")
    answer = post(ana, "file/", **CODE)
    assert answer.status_code == 422
    assert "That word is fine here." in text_of(answer)


def test_wrong_kinds_and_priorities_are_no_server_errors(ana, project):
    for wrong in ({"kind": "x"}, {"priority": "P9"}, {"about": "R-99"}, {"title": "y" * 300}):
        assert post(ana, "file/", **TASK | wrong).status_code == 422
    assert post(ana, "file/").status_code == 422
    assert not Bug.objects.exists()


# --- moves --------------------------------------------------------------------------------------


def words(page):
    return [move.word for move in page.entry.moves]


def test_an_entry_offers_the_moves_that_its_state_allows(ana, project, me, bug, worker):
    def offered():
        return words(ana.get(f"{BOARD}B-1/").context["page"])

    assert {"Dismiss", "Reword", "Turn into a task", "Dispute the citation"} <= set(offered())
    assert not {"Close", "Reopen", "Answer"} & set(offered())
    services.block(bug, worker, "It cannot be done.")
    assert "Answer" in offered()
    services.unblock(bug, me, "Try again.")
    services.mark_fixed(services.start(bug, worker), worker, "abc1234")
    assert {"Close", "Reopen"} <= set(offered())
    services.close(bug, me)
    assert offered() == ["Reopen", "Comment"]


@pytest.mark.parametrize(
    ("slug", "data", "state", "sentence"),
    [
        ("dismiss", {"dismiss-reason": "It is fine."}, "CLOSED", "B-1 is dismissed."),
        ("priority", {"priority-priority": "P0"}, "OPEN", "The priority of B-1 is changed."),
        ("dispute", {"dispute-reason": "It is a name."}, "OPEN", "B-1 counts as disputed."),
        ("reword", {"reword-title": "New", "reword-text": ""}, "OPEN", "B-1 has new words."),
        ("comment", {"comment-reason": "Look here."}, "OPEN", "Your comment on B-1 is kept."),
        ("task", {"task-text": "Do it."}, "CLOSED", "B-1 is closed. T-1 is filed for it."),
    ],
)
def test_each_move_is_made_by_a_form(ana, project, bug, slug, data, state, sentence):
    answer = post(ana, f"B-1/{slug}/", **data)
    assert said(answer) == [sentence]
    bug.refresh_from_db()
    assert bug.state == state


def test_a_blocked_entry_is_answered_and_a_stale_one_confirmed(ana, project, me, bug, worker):
    services.block(bug, worker, "It cannot be done.")
    post(ana, "B-1/answer/", **{"answer-reason": "Use the other file."})
    bug.refresh_from_db()
    assert bug.state == "OPEN"
    services.edit_requirement(project, "R-2", text="No file holds the word bad at all.", by=me)
    answer = post(ana, "B-1/confirm/", **{"confirm-quote": "nonsense", "confirm-note": ""})
    assert answer.status_code == 422
    assert "do not stand in R-2" in text_of(answer)
    post(ana, "B-1/confirm/", **{"confirm-quote": "", "confirm-note": ""})
    bug.refresh_from_db()
    assert (bug.state, bug.version.number) == ("OPEN", 2)


def test_a_move_without_its_reason_comes_back_unfolded(ana, project, bug):
    answer = post(ana, "B-1/dismiss/", **{"dismiss-reason": "  "})
    assert answer.status_code == 422
    move = next(one for one in answer.context["page"].entry.moves if one.word == "Dismiss")
    assert move.is_open
    bug.refresh_from_db()
    assert bug.state == "OPEN"


def test_a_move_that_came_too_late_keeps_the_words(ana, project, me, bug):
    services.dismiss(bug, me, "Not now.")
    answer = post(ana, "B-1/task/", **{"task-text": "Words that took long."})
    assert answer.status_code == 422
    assert "Words that took long." in text_of(answer)
    assert "B-1 is CLOSED" in text_of(answer)


def test_the_history_tells_who_did_what(ana, project, bug, worker):
    services.start(bug, worker)
    page = text_of(ana.get(f"{BOARD}B-1/"))
    assert "Reviewer, S-1/3 filed it" in page
    assert "Worker, S-1/4 started it" in page


# --- rights and wrong addresses -----------------------------------------------------------------


def test_a_viewer_reads_and_is_offered_nothing(client, project, bug):
    sign_in(client, "vic", "viewer", project)
    page = client.get(BOARD)
    assert "a.txt is bad" in text_of(page)
    assert not page.context["page"].new
    assert client.get(f"{BOARD}?file=task").context["page"].filing is None
    assert client.get(f"{BOARD}B-1/").context["page"].entry.moves == ()


def test_a_viewers_post_is_refused_with_who_can_grant_it(client, project, bug):
    members.grant("ana", "admin", project)
    sign_in(client, "vic", "viewer", project)
    for path in ("file/", "B-1/dismiss/"):
        answer = client.post(f"{BOARD}{path}", TASK | {"dismiss-reason": "x"})
        assert answer.status_code == 403
        assert "ana can grant it" in text_of(answer)
    bug.refresh_from_db()
    assert bug.state == "OPEN"
    assert Bug.objects.count() == 1


def test_people_of_another_project_see_nothing(client, project, bug, me):
    other = services.create_project(name="other", repo_path="/srv", by=me)
    sign_in(client, "vic", "admin", other)
    for path in ("", "B-1/", "parts/board/", "B-1/parts/entry/"):
        answer = client.get(f"{BOARD}{path}")
        assert answer.status_code == 403
        assert "a.txt is bad" not in text_of(answer)


def test_unknown_addresses_are_pages_that_say_so(ana, project):
    for path in ("/p/nowhere/tracker/", f"{BOARD}B-9/", f"{BOARD}nonsense/", f"{BOARD}R-1/"):
        answer = ana.get(path)
        assert answer.status_code == 404, path
        assert "There is no" in text_of(answer)
        assert 'aria-label="Main"' in answer.content.decode()


# --- what it says about the loop ----------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_filing_while_a_loop_runs_says_what_it_will_do_and_then_that_it_did(
    client, project, new_session, world
):
    sign_in(client)
    seen = {}

    def worker(tools):
        """The first worker iteration: meanwhile a person files a task."""
        if "before" not in seen:
            seen["before"] = text_of(client.get(f"{BOARD}?file=task"))
            seen["after"] = said(client.post(f"{BOARD}file/", TASK, follow=True))
            seen["priority"] = client.get(f"{BOARD}T-1/")
        HONEST[Role.WORKER](tools)

    session = new_session()
    place = world(HONEST | {Role.WORKER: worker})
    runner.advance(session.pk, place, iterations=1)
    assert f"{session.ref} reads it with iteration 2" in seen["before"]
    assert "Iteration 1 runs on undisturbed" in seen["before"]
    assert "Its done streak stays at 0 of 2" in seen["before"]
    assert seen["after"] == [f"T-1 filed. {session.ref} reads it with iteration 2."]
    moves = {move.word: move.why for move in seen["priority"].context["page"].entry.moves}
    assert "The streak stays." in moves["Change the priority"]
    assert "its streak" in moves["Dismiss"]
    Session.objects.filter(pk=session.pk).update(not_before=None)
    runner.advance(session.pk, place, iterations=1)
    prompt = session.iterations.get(number=2).prompt.text
    assert "Say hello" in prompt


@pytest.mark.django_db(transaction=True)
def test_a_streak_that_will_fall_is_named_before_and_a_priority_leaves_it(
    client, project, new_session, world
):
    sign_in(client)
    session = new_session()
    runner.advance(session.pk, world(HONEST), iterations=1)
    page = text_of(client.get(f"{BOARD}?file=task"))
    assert "Its done streak goes back to 0 of 2" in page
    assert f"No entry keeps the loop from being done: {session.ref}" in page
    client.post(f"{BOARD}file/", TASK)
    answer = client.post(f"{BOARD}T-1/priority/", {"priority-priority": "P3"}, follow=True)
    assert said(answer)[-1] == (
        f"The priority of T-1 is changed. {session.ref} sees it with iteration 2; its streak stays."
    )


def test_a_draft_hears_nothing_and_is_not_spoken_of(client, project, me):
    from loops import services as loops
    from tests.loops.conftest import CONFIG

    sign_in(client)
    loops.create_session(project, by=me, config=CONFIG)
    assert "No loop is running in this project" in text_of(client.get(f"{BOARD}?file=task"))
