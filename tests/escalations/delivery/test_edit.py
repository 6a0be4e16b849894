"""Edit and approve: the person's commit on top of what they saw, and the end that says so."""

from __future__ import annotations

import json
import re
from html import unescape
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from escalations import services as escalations
from escalations.models import Decision, Escalation
from escalations.word import Word
from loops import stage
from loops.engine.values import Choice
from loops.models import LogEntry, Session
from tests.escalations.delivery.conftest import ODD
from tests.escalations.test_session_page import text_of
from tests.loops import test_histories as histories
from tests.loops.workspace_kit import git
from tracker.errors import Conflict, Invalid

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


def edit(escalation, me, files, **word):
    given = {"evidence": escalation.evidence, "edits": files} | word
    return escalations.decide(escalation, Word(choice=Choice.EDIT, **given), me)


def test_an_edited_end_is_recorded_and_replays(asked, me):
    edit(asked, me, {"a.txt": "person\n"}, text="Say it better")
    session = Session.objects.get(pk=asked.session_id)
    histories.compare("single_human_edited", histories.told([asked.kind], session))


def show(session, name):
    store = stage.Folders.of(session).store
    return git(store, "cat-file", "blob", f"refs/heads/loopwatch/S-{session.pk}:{name}")


def log(session):
    store = stage.Folders.of(session).store
    spec = f"{session.base_head}..refs/heads/loopwatch/S-{session.pk}"
    return git(store, "log", "--format=%an: %s", spec).splitlines()


def test_an_edit_ends_the_session_on_the_persons_commit(asked, me):
    decision = edit(asked, me, {"a.txt": "person\n"}, text="Say it better")
    session = Session.objects.get(pk=asked.session_id)
    assert (session.state, session.end_reason) == ("ended", "human_edited")
    assert decision.details["edits"] == ["a.txt"]
    assert decision.details["commit"] == session.result_head
    assert (
        log(session)
        == [
            "me: Say it better",
            "Loopwatch: Uncommitted work",
            "Loopwatch agent: Agent's work",
        ]
        or log(session)[0] == "me: Say it better"
    )
    assert show(session, "a.txt") == "person"
    assert show(session, ODD) == "odd"
    recorded = LogEntry.objects.filter(session=session, kind="decided").get().payload
    assert recorded["result"] == {"rev": session.result_rev, "head": session.result_head}


def test_what_cannot_be_edited_is_refused_and_the_question_stays_open(asked, me):
    for files, words in (
        ({}, "Change a file"),
        ({"a.txt": "agent\n"}, "Nothing is changed"),
        ({".git/hooks/post-checkout": "x"}, "git itself"),
        ({"../out.txt": "x"}, "no path"),
        ({"data.bin": "x"}, "no UTF-8 text"),
    ):
        with pytest.raises(Invalid, match=words):
            edit(asked, me, files)
    asked.refresh_from_db()
    assert asked.status == "open"
    assert not Decision.objects.exists()


def test_an_edit_is_bound_to_the_evidence(asked, me):
    for seen in ("", "f" * 40):
        with pytest.raises(Conflict, match="now stands on evidence"):
            edit(asked, me, {"a.txt": "person\n"}, evidence=seen)
    assert not Decision.objects.exists()


def test_evidence_that_changes_while_git_works_takes_no_decision(asked, me, monkeypatch):
    real = escalations.editing.edit

    def slow(*args, **options):
        made = real(*args, **options)
        Escalation.objects.filter(pk=asked.pk).update(evidence="e" * 40, version=2)
        return made

    monkeypatch.setattr(escalations.editing, "edit", slow)
    with pytest.raises(Conflict, match="now stands on evidence"):
        edit(asked, me, {"a.txt": "person\n"})
    assert Session.objects.get(pk=asked.session_id).state == "waiting_human"
    assert not Decision.objects.exists()


# --- command line --------------------------------------------------------------------------------


def run(*args):
    out = StringIO()
    call_command(*args, stdout=out)
    return out.getvalue().strip()


def test_the_command_line_edits_several_files(asked, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"{name}\n")
    data = json.loads(
        run(
            *("escalation", "decide", str(asked.pk), "--evidence", asked.evidence, "--json"),
            *("--edit", "a.txt", "--file", str(tmp_path / "one")),
            *("--edit", "src/new.txt", "--file", str(tmp_path / "two")),
        )
    )
    assert data["decided"]["choice"] == "edit"
    session = Session.objects.get(pk=asked.session_id)
    assert (show(session, "a.txt"), show(session, "src/new.txt")) == ("one", "two")


def test_the_command_line_needs_a_text_for_each_file_and_the_evidence(asked, tmp_path):
    (tmp_path / "one").write_text("one\n")
    call = ("escalation", "decide", str(asked.pk), "--edit", "a.txt")
    with pytest.raises(CommandError, match="one --file"):
        run(*call)
    with pytest.raises(CommandError, match="now stands on evidence"):
        run(*call, "--file", str(tmp_path / "one"))


# --- the page ------------------------------------------------------------------------------------


def fields(answer) -> dict[str, object]:
    """What a browser without a script would send of the edit form, line breaks as it sends them."""
    html = answer.content.decode().split('<form class="req req-edit"')[1].split("</form>")[0]
    sent: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html):
        sent.setdefault(name, []).append(unescape(value))
    for attrs, text in re.findall(r"<textarea([^>]*)>\n?(.*?)</textarea>", html, flags=re.S):
        name = re.search(r'name="(\w+)"', attrs)[1]
        sent.setdefault(name, []).append(unescape(text).replace("\r", "").replace("\n", "\r\n"))
    sent.pop("csrfmiddlewaretoken", None)
    return sent


def test_the_question_leads_to_the_editor(operator, asked):
    page = operator.get(f"/queue/{asked.pk}/")
    assert f'href="/queue/{asked.pk}/edit/"' in page.content.decode()
    answer = operator.post(
        f"/queue/{asked.pk}/decide/",
        {"choice": "edit", "evidence": asked.evidence, "version": "1"},
        follow=True,
    )
    html = answer.content.decode()
    assert "agent\n</textarea>" in html
    assert "caf\N{LATIN SMALL LETTER E WITH ACUTE} &lt;b&gt;.txt" in html
    assert "Edited" not in text_of(answer).replace("No file edited yet", "")


def test_two_files_are_edited_without_a_script(operator, asked):
    url = f"/queue/{asked.pk}/edit/"
    first = fields(operator.get(f"{url}?file=a.txt"))
    second = operator.post(url, first | {"text": "person\r\n", "open": "crlf.txt"})
    assert "1 file edited so far" in text_of(second)
    sent = fields(second)
    assert (sent["path"], sent["kept_path"]) == (["crlf.txt"], ["a.txt"])
    third = operator.post(url, sent | {"text": "a\r\nB\r\nc\r\n", "open": "a.txt"})
    assert "person\n</textarea>" in third.content.decode()
    answer = operator.post(url, fields(third) | {"note": "Mine", "decide": "1"}, follow=True)
    assert "your commit is on top" in text_of(answer)
    session = Session.objects.get(pk=asked.session_id)
    assert session.end_reason == "human_edited"
    assert log(session)[0] == "olga: Mine"
    assert show(session, "a.txt") == "person"
    store = stage.Folders.of(session).store
    assert git(store, "ls-tree", session.result_rev, "crlf.txt")
    # Line breaks of the file survive a browser.
    raw = git(store, "cat-file", "-s", f"{session.result_rev}:crlf.txt")
    assert raw == str(len(b"a\r\nB\r\nc\r\n"))
    page = text_of(operator.get(f"/sessions/{session.pk}/"))
    assert "verifiers could not run on the edit" in page
    assert "Approved with edits" in page


def test_a_file_can_be_emptied(operator, asked):
    url = f"/queue/{asked.pk}/edit/"
    sent = fields(operator.get(f"{url}?file=a.txt"))
    shown = operator.post(url, sent | {"text": "", "open": "a.txt"})
    assert "1 file edited so far" in text_of(shown)
    operator.post(url, fields(shown) | {"decide": "1"})
    assert show(Session.objects.get(pk=asked.session_id), "a.txt") == ""


def test_an_edit_without_a_change_is_refused_on_the_page(operator, asked):
    url = f"/queue/{asked.pk}/edit/"
    answer = operator.post(url, fields(operator.get(f"{url}?file=crlf.txt")) | {"decide": "1"})
    assert answer.status_code == 422
    assert "Change a file, or approve the result as it is." in text_of(answer)


def test_what_is_no_text_is_said_so(operator, asked):
    page = text_of(operator.get(f"/queue/{asked.pk}/edit/?file=data.bin"))
    assert "is no UTF-8 text" in page
    assert "no path of a file" in text_of(
        operator.get(f"/queue/{asked.pk}/edit/?file=../../etc/passwd")
    )


def test_changed_evidence_keeps_what_was_typed(operator, asked):
    url = f"/queue/{asked.pk}/edit/"
    sent = fields(operator.get(f"{url}?file=a.txt"))
    Escalation.objects.filter(pk=asked.pk).update(version=2)
    answer = operator.post(url, sent | {"text": "my <words>\r\n", "decide": "1"})
    assert answer.status_code == 409
    assert "now stands on evidence version 2, not 1" in text_of(answer)
    assert "my &lt;words&gt;" in answer.content.decode()
    assert fields(answer)["version"] == ["2"]
    assert not Decision.objects.exists()


def test_who_is_late_learns_that_it_was_decided_and_keeps_the_text(operator, asked, me):
    url = f"/queue/{asked.pk}/edit/"
    sent = fields(operator.get(f"{url}?file=a.txt"))
    escalations.decide(asked, Word(choice=Choice.STOP), me)
    answer = operator.post(url, sent | {"text": "my words\r\n", "decide": "1"})
    assert answer.status_code == 409
    assert "was already decided: stop by me" in text_of(answer)
    assert "my words" in answer.content.decode()
    assert operator.get(url).status_code == 302


def test_viewers_do_not_edit(viewer, asked):
    assert viewer.get(f"/queue/{asked.pk}/edit/").status_code == 403
    assert viewer.post(f"/queue/{asked.pk}/edit/", {"decide": "1"}).status_code == 403
