"""The spec in the browser, without a script: writing, what saving does, versions, two editors."""

from __future__ import annotations

import time
from urllib.parse import urlencode

import pytest

from loops import runner
from loops.engine.values import Role
from tests.loops.behaviours import HONEST
from tests.loops.pages_kit import said, sign_in, text_of
from tracker import services
from tracker.models import Requirement, RequirementVersion

SPECS = "/p/demo/specs/"
WORD = "No file holds the word bad."


@pytest.fixture
def ana(client, db):
    return sign_in(client)


@pytest.fixture
def bug(project):
    return services.file_code_bug(
        project,
        by=services.agent(project, "reviewer", "S-1", "S-1/3"),
        title="a.txt is bad",
        cites="R-2",
        quote="the word bad",
        contradiction="It is there.",
    ).bug


def save(client, key, text, based_on, **more):
    data = {"text": text, "based_on": based_on, **more}
    return client.post(f"{SPECS}{key}/", data, follow=True)


def editor(answer):
    return answer.context["page"].editor


def lines(part):
    return [line.text for line in part.lines]


# --- reading ------------------------------------------------------------------------------------


def test_the_list_groups_by_document_and_says_how_each_stands(ana, project, me, bug):
    services.edit_requirement(
        project, None, text="# Speed\nIt is fast.", by=me, document="speed.md"
    )
    page = text_of(ana.get(SPECS))
    assert "Requirements 3" in page
    assert "speed.md R-3 Speed Not yet" in page
    assert "R-2 No file holds the word bad. 1 bug" in page


def test_the_list_is_a_part_of_its_own(ana, project):
    html = ana.get(f"{SPECS}R-2/").content.decode()
    part = ana.get(f"{SPECS}R-2/parts/list/").content.decode().strip()
    assert 'aria-current="true"' in part
    assert part in html
    assert 'aria-current="true"' not in ana.get(f"{SPECS}parts/list/").content.decode()


def test_an_empty_spec_offers_the_first_requirement(ana, me):
    services.create_project(name="demo", repo_path="/srv", by=me)
    assert "No requirement is written yet" in text_of(ana.get(SPECS))


def test_a_requirement_shows_numbered_lines_versions_and_who_cites_it(ana, project, me, bug):
    services.edit_requirement(project, "R-2", text=f"# Words\n{WORD}\n", by=me)
    answer = ana.get(f"{SPECS}R-2/")
    html = answer.content.decode()
    assert 'id="line-2"' in html
    page = text_of(answer)
    assert "a.txt is bad" in page
    assert "v2 me," in page
    assert "Line 3 is citable as R-2.3" in page


# --- writing ------------------------------------------------------------------------------------


def test_saving_makes_a_version_and_says_so(ana, project):
    answer = save(ana, "R-1", "The file b.txt is there.", 1)
    assert said(answer) == ["R-1 saved as v2."]
    now = Requirement.objects.get(number=1).current
    assert (now.number, now.text, now.actor.name) == (2, "The file b.txt is there.", "ana")


def test_saving_the_same_text_makes_no_version(ana, project):
    assert said(save(ana, "R-1", "The file a.txt is there.", 1)) == [
        "Nothing was changed: R-1 stays at v1."
    ]
    assert RequirementVersion.objects.count() == 2


def test_a_new_requirement_gets_the_next_key_and_its_document(ana, project):
    assert "Save v1" in text_of(ana.get(f"{SPECS}new/"))
    answer = save(ana, "new", "# Speed\nIt is fast.", 0, document="speed.md")
    assert said(answer) == ["R-3 saved as v1."]
    assert Requirement.objects.get(number=3).document == "speed.md"


def test_an_empty_text_is_refused(ana, project):
    for text in ("", "   \n  "):
        answer = save(ana, "R-1", text, 1)
        assert answer.status_code == 422
    assert RequirementVersion.objects.count() == 2


def test_before_saving_it_names_the_entries_that_become_stale(ana, project, bug):
    part = editor(ana.get(f"{SPECS}R-2/?write=1"))
    assert "B-1 cites v1 and becomes stale" in [line.text for line in part.saving.lines]
    assert part.saving.citing == ("B-1",)
    draft = {"text": "No file is empty.", "based_on": 1}
    answer = ana.post(f"{SPECS}R-2/preview/", draft)
    assert editor(answer).saving.citing == ()
    assert "Its quoted words are gone" in text_of(answer)
    assert editor(answer).form["text"].value() == "No file is empty."
    assert Requirement.objects.get(number=2).current.number == 1


def test_the_preview_for_scripts_is_the_part_alone(ana, project):
    draft = {"text": "No file holds the word evil.", "based_on": 1}
    answer = ana.post(f"{SPECS}R-2/preview/", draft, headers={"HX-Request": "true"})
    html = answer.content.decode()
    assert html.startswith('<div data-part="saving">')
    assert '<ins class="ins">evil</ins>' in html
    assert ">bad</del>" in html


def test_what_is_confirmed_with_the_save_stays_open_and_the_rest_is_stale(ana, project, bug, me):
    other = services.file_task(project, by=me, title="A task", text="x", cites="R-2")
    save(ana, "R-2", f"{WORD} Ever.", 1, confirm=["B-1"])
    bug.refresh_from_db()
    other.refresh_from_db()
    assert (bug.state, bug.version.number) == ("OPEN", 2)
    assert other.state == "STALE"


def test_a_confirmation_that_does_not_hold_is_told_and_the_text_is_saved(ana, project, bug):
    answer = save(ana, "R-2", "No file is empty.", 1, confirm=["B-1"])
    assert Requirement.objects.get(number=2).current.number == 2
    assert any("B-1 is not confirmed" in sentence for sentence in said(answer))
    bug.refresh_from_db()
    assert bug.state == "STALE"


# --- two editors --------------------------------------------------------------------------------


def test_of_two_editors_the_second_sees_both_texts_and_loses_nothing(ana, project, me):
    services.edit_requirement(project, "R-2", text="No file holds the word worse.", by=me)
    answer = save(ana, "R-2", "No file holds the word mine.", 1)
    assert answer.status_code == 409
    page = text_of(answer)
    assert "me saved v2" in page
    assert "No file holds the word worse." in page
    part = editor(answer)
    assert part.form["text"].value() == "No file holds the word mine."
    assert Requirement.objects.get(number=2).current.number == 2
    # Having seen theirs, saving again puts one's own on top of it.
    answer = save(ana, "R-2", part.form["text"].value(), part.form["based_on"].value())
    assert said(answer) == ["R-2 saved as v3."]
    assert [
        v.text for v in RequirementVersion.objects.filter(requirement__number=2).order_by("pk")
    ] == [
        WORD,
        "No file holds the word worse.",
        "No file holds the word mine.",
    ]


def test_a_draft_of_a_requirement_that_was_removed_is_not_lost(ana, project, me):
    services.remove_requirement(project, "R-2", by=me)
    answer = save(ana, "R-2", "No file holds the word mine.", 1)
    assert answer.status_code == 409
    assert "R-2 was removed. Write a new requirement." in text_of(answer)
    assert "No file holds the word mine." in text_of(answer)


# --- versions and removing ----------------------------------------------------------------------


def test_an_old_version_is_compared_and_restored_as_a_new_one(ana, project, me):
    services.edit_requirement(project, "R-2", text="No file is empty.", by=me)
    answer = ana.get(f"{SPECS}R-2/?compare=1")
    assert "v1 against v2" in text_of(answer)
    assert "Restore v1 as v3" in text_of(answer)
    restored = ana.post(f"{SPECS}R-2/restore/", {"version": 1, "based_on": 2}, follow=True)
    assert said(restored) == ["R-2 saved as v3 with the text of v1."]
    assert Requirement.objects.get(number=2).current.text == WORD


def test_restoring_over_an_unseen_version_is_refused(ana, project, me):
    services.edit_requirement(project, "R-2", text="No file is empty.", by=me)
    services.edit_requirement(project, "R-2", text="No file is full.", by=me)
    answer = ana.post(f"{SPECS}R-2/restore/", {"version": 1, "based_on": 2})
    assert answer.status_code == 409
    assert ana.post(f"{SPECS}R-2/restore/", {"version": 9, "based_on": 3}).status_code == 404
    assert ana.post(f"{SPECS}R-2/restore/", {"version": "x"}).status_code == 404
    assert Requirement.objects.get(number=2).current.number == 3


def test_removing_has_a_second_step_that_says_what_it_does(ana, project, bug):
    answer = ana.get(f"{SPECS}R-2/?remove=1")
    assert "Remove R-2 now? " in text_of(answer)
    assert "B-1 cites it and becomes stale" in text_of(answer)
    assert Requirement.objects.get(number=2).removed_at is None
    answer = ana.post(f"{SPECS}R-2/remove/", follow=True)
    assert said(answer) == ["R-2 was removed."]
    bug.refresh_from_db()
    assert bug.state == "STALE"
    gone = text_of(ana.get(f"{SPECS}R-2/"))
    assert "R-2 was removed from the spec. It is kept for reading." in gone
    assert "Save v" not in text_of(ana.get(f"{SPECS}R-2/?write=1"))


# --- rights, wrong addresses, hard texts --------------------------------------------------------


def test_a_viewer_reads_and_cannot_write(client, project):
    sign_in(client, "vic", "viewer", project)
    answer = client.get(f"{SPECS}R-2/?write=1")
    assert WORD in text_of(answer)
    assert "Save v" not in text_of(answer)
    for path in ("R-2/", "new/", "R-2/restore/", "R-2/remove/", "R-2/preview/"):
        assert client.post(f"{SPECS}{path}", {"text": "x", "based_on": 1}).status_code == 403
    assert client.get(f"{SPECS}new/").status_code == 404
    assert RequirementVersion.objects.count() == 2


def test_unknown_addresses_are_pages_that_say_so(ana, project):
    paths = ("/p/nowhere/specs/", f"{SPECS}R-9/", f"{SPECS}x/", f"{SPECS}R-1/?compare=7")
    for path in paths:
        answer = ana.get(path)
        assert answer.status_code == 404, path
        assert 'aria-label="Main"' in answer.content.decode()
    assert ana.get(f"{SPECS}R-1/?compare=x").status_code == 200


def test_texts_are_text_never_markup(ana, project):
    text = "# <script>alert(1)</script>\n</textarea><b>bold</b>\n\n\ttab  \r\nünï 日本 \u202e\n"
    save(ana, "R-1", text, 1)
    now = Requirement.objects.get(number=1).current
    assert now.text == text.replace("\r\n", "\n")
    for query in ("", "?write=1", "?compare=1"):
        html = ana.get(f"{SPECS}R-1/{query}").content.decode()
        assert "<script>alert" not in html
        assert "</textarea><b>" not in html
    shown = editor(ana.get(f"{SPECS}R-1/?write=1")).form["text"].value()
    assert shown == now.text


@pytest.mark.parametrize("shape", ["lines", "one line", "breaks"])
def test_a_text_of_one_mebibyte_opens_and_saves(ana, project, shape):
    text = {
        "lines": "The reader keeps every byte, ä.\n" * 32_768,
        "one line": "word " * 209_715,
        "breaks": "a" + "\n" * 1_048_574 + "b",
    }[shape]
    began = time.monotonic()
    # As a browser sends it: every line feed is six characters then, every letter above ASCII too.
    body = urlencode({"text": text.replace("\n", "\r\n"), "based_on": 1})
    kind = "application/x-www-form-urlencoded"
    assert ana.post(f"{SPECS}R-1/", body, content_type=kind).status_code == 302
    assert Requirement.objects.get(number=1).current.text == text
    for query in ("", "?write=1", "?compare=1"):
        assert ana.get(f"{SPECS}R-1/{query}").status_code == 200
    changed = f"{text}\nOne more line."
    answer = ana.post(f"{SPECS}R-1/preview/", {"text": changed, "based_on": 2})
    assert "One more line." in text_of(answer) or shape == "one line"
    assert ana.get("/p/demo/tracker/?file=code").status_code == 200
    assert time.monotonic() - began < 60


# --- what it says about the loop ----------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_an_edit_while_a_loop_runs_is_told_pending_then_delivered(
    client, project, new_session, world
):
    sign_in(client)
    seen = {}

    def worker(tools):
        if not seen:
            part = editor(client.get(f"{SPECS}R-1/?write=1"))
            seen["before"] = [(line.text, line.sub) for line in part.saving.lines]
            seen["used"] = part.versions[0].note
            seen["after"] = said(save(client, "R-1", "The file a.txt is here.", 1))
            seen["notes"] = [v.note for v in editor(client.get(f"{SPECS}R-1/")).versions]
        HONEST[Role.WORKER](tools)

    session = new_session()
    ref = session.ref
    place = world(HONEST | {Role.WORKER: worker})
    runner.advance(session.pk, place, iterations=1)
    assert (f"{ref} reads v2 with iteration 2", "Iteration 1 finishes on v1") in seen["before"]
    assert seen["used"] == f"delivered to {ref}"
    assert seen["after"] == [f"R-1 saved as v2. {ref} reads v2 with iteration 2."]
    assert seen["notes"] == [f"pending, {ref} iteration 2", f"in use by {ref}"]
    runner.advance(session.pk, place, iterations=1)
    notes = [v.note for v in editor(client.get(f"{SPECS}R-1/")).versions]
    assert notes == [f"in use by {ref}", ""]


@pytest.mark.django_db(transaction=True)
def test_a_requirement_outside_the_scope_is_named_as_not_used(client, project, me):
    from loops import services as loops
    from loops.models import Session
    from tests.loops.conftest import CONFIG
    from tracker.scope import Scope

    sign_in(client)
    session = loops.create_session(
        project, by=me, config=CONFIG, scope=Scope(requirements=("R-2",)), goal="Be good."
    )
    Session.objects.filter(pk=session.pk).update(preflight={"refusals": []})
    session.refresh_from_db()
    loops.start(session, me)
    texts = lines(editor(client.get(f"{SPECS}R-1/?write=1")).saving)
    assert f"{session.ref} does not use R-1" in texts
    assert "R-3 S-" in text_of(client.get(SPECS))
    goal = editor(client.get(f"{SPECS}R-3/?write=1"))
    assert f"{session.ref} reads v2 with iteration 1" in lines(goal.saving)
    assert not goal.remove
