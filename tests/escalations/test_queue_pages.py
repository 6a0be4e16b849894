"""What the queue promises: a decision is bound to what was seen, and nobody's words get lost."""

from __future__ import annotations

import re

import pytest

from escalations import services as escalations
from escalations.models import Decision, Escalation
from escalations.reading import question
from escalations.word import Word, offered
from loops.engine.values import Choice, Role
from loops.models import Session
from loops.pages.output import DiffPart, diff_files
from tests.escalations.test_session_page import text_of
from tests.loops import behaviours as act
from tests.loops.behaviours import HONEST
from tracker import services as tracker
from tracker.errors import Conflict

pytestmark = pytest.mark.django_db(transaction=True)
HIDDEN = ("evidence", "version")
DIFF = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+<b>two</b>\n"


@pytest.fixture
def asked(new_session, world, run):
    """A session that waits for a person: its worker only ever pretends."""
    session = run(new_session(), world({**HONEST, Role.WORKER: act.cheat}))
    return Escalation.objects.get(session=session)


@pytest.fixture
def limited(new_session, world, run):
    session = run(new_session(limits={"iterations": 1}), world({**HONEST, Role.WORKER: act.vandal}))
    return Escalation.objects.get(session=session)


@pytest.fixture
def shown(monkeypatch):
    """The world in memory has no git: the result is shown from here."""
    part = DiffPart(files=diff_files(DIFF), against="base")
    monkeypatch.setattr(question, "result_of", lambda escalation, reading: part)


def form_of(answer) -> dict[str, str]:
    """The hidden fields of the decision form, as a browser would send them."""
    html = answer.content.decode()
    inputs = {name: re.search(rf'name="{name}"( value="([^"]*)")?', html) for name in HIDDEN}
    return {name: found[2] or "" for name, found in inputs.items()}


def decide(client, escalation, **fields):
    page = client.get(f"/queue/{escalation.pk}/")
    return client.post(f"/queue/{escalation.pk}/decide/", {**form_of(page), **fields}, follow=True)


def test_the_queue_lists_what_waits_and_each_question_offers_its_decisions(operator, asked):
    page = text_of(operator.get("/queue/"))
    assert str(asked) in page
    assert "1 open" in page
    assert "No progress" in page
    html = operator.get(f"/queue/{asked.pk}/").content.decode()
    radios = re.findall(r'type="radio" name="choice" value="(\w+)"', html)
    assert radios == [choice.value for choice in offered(asked)]
    assert "idle iterations are counted anew" in html
    assert f'action="/queue/{asked.pk}/decide/"' in html


def test_a_grant_goes_through_and_the_loop_goes_on(operator, limited):
    answer = decide(operator, limited, choice="grant", amount_grant="5")
    assert "Decided" in text_of(answer)
    decision = Decision.objects.get(escalation=limited)
    assert decision.details["grants"] == {"iterations": 5}
    assert decision.by.name == "olga"
    assert Session.objects.get(pk=limited.session_id).state == "queued"
    assert "Nobody is waiting" in text_of(operator.get("/queue/"))


def test_time_is_granted_in_minutes(operator, limited):
    Escalation.objects.filter(pk=limited.pk).update(limit="wall_seconds")
    decide(operator, limited, choice="grant", amount_grant="30")
    assert Decision.objects.get().details["grants"] == {"wall_seconds": 1800}


def test_a_requirement_is_amended_in_place(operator, asked, project):
    decide(
        operator, asked, choice="amend", requirement_amend="R-2", document_amend="No file is bad."
    )
    assert tracker.get_requirement(project, "R-2").current.text == "No file is bad."


def test_the_text_of_one_requirement_is_not_saved_as_another(operator, asked, project):
    page = operator.get(f"/queue/{asked.pk}/?amend=R-1")
    assert "The file a.txt is there.</textarea>" in page.content.decode()
    answer = decide(
        operator, asked, choice="amend", requirement_amend="R-2",
        document_amend="The file a.txt is there.",
    )  # fmt: skip
    assert answer.status_code == 422
    assert "This is the text of R-1" in text_of(answer)
    assert tracker.get_requirement(project, "R-2").current.number == 1


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"choice": "grant"},
        {"choice": "nonsense"},
        {"choice": "edit"},
        {"choice": "grant", "amount_grant": "-3"},
    ],
)
def test_what_is_incomplete_is_refused_and_stays_typed(fields, operator, limited):
    answer = decide(operator, limited, text_grant="Go <b>on</b> slowly", **fields)
    assert answer.status_code == 422
    assert "Go &lt;b&gt;on&lt;/b&gt; slowly" in answer.content.decode()
    assert not Decision.objects.exists()


def test_approve_is_offered_only_with_the_result_on_the_page(operator, asked):
    html = operator.get(f"/queue/{asked.pk}/").content.decode()
    assert re.search(r'value="approve"\s+disabled', html)
    assert decide(operator, asked, choice="approve").status_code == 422


def test_an_approval_ends_the_session_on_the_evidence_that_was_shown(operator, asked, shown):
    assert "&lt;b&gt;two&lt;/b&gt;" in operator.get(f"/queue/{asked.pk}/").content.decode()
    decide(operator, asked, choice="approve")
    decision = Decision.objects.get()
    assert (decision.evidence, decision.version) == (asked.evidence, asked.version)
    assert Session.objects.get(pk=asked.session_id).end_reason == "human_approved"


@pytest.mark.parametrize("choice", ["approve", "stop"])
def test_changed_evidence_takes_no_decision_and_keeps_the_words(choice, operator, asked, shown):
    seen = form_of(operator.get(f"/queue/{asked.pk}/"))
    Escalation.objects.filter(pk=asked.pk).update(evidence="f" * 40, version=asked.version + 1)
    answer = operator.post(
        f"/queue/{asked.pk}/decide/", {**seen, "choice": choice, f"text_{choice}": "My reason"}
    )
    assert answer.status_code == 409
    assert "now stands on evidence version 2, not 1" in text_of(answer)
    assert "My reason" in answer.content.decode()
    assert form_of(answer) == {"evidence": "f" * 40, "version": "2"}
    assert not Decision.objects.exists()


def test_who_is_late_learns_who_decided_what_and_keeps_the_draft(operator, sign_in, asked):
    seen = form_of(operator.get(f"/queue/{asked.pk}/"))
    decide(sign_in("operator", "otto"), asked, choice="grant")
    answer = operator.post(
        f"/queue/{asked.pk}/decide/", {**seen, "choice": "stop", "text_stop": "It circles."}
    )
    assert answer.status_code == 409
    page = text_of(answer)
    assert "Allow more by otto" in page
    assert "Yours, not applied" in page
    assert "It circles." in page
    assert Decision.objects.get().choice == "grant"


def test_a_decision_without_the_version_of_a_page_is_refused(operator, asked):
    answer = operator.post(f"/queue/{asked.pk}/decide/", {"choice": "stop"})
    assert answer.status_code == 409
    assert not Decision.objects.exists()


def test_an_old_version_is_refused_by_the_service_itself(asked, me):
    word = Word(choice=Choice.GRANT, version=asked.version + 1)
    with pytest.raises(Conflict, match="version"):
        escalations.decide(asked, word, me)


def test_stop_ends_the_session_and_its_other_questions_fall_away(operator, asked):
    decide(operator, asked, choice="stop")
    assert Session.objects.get(pk=asked.session_id).end_reason == "stopped"


def test_a_question_of_an_ended_session_says_that_nothing_is_left_to_decide(operator, asked):
    operator.post(f"/sessions/{asked.session_id}/stop/")
    page = text_of(operator.get(f"/queue/{asked.pk}/"))
    assert "No decision is needed any more" in page
    assert "Fell away" in text_of(operator.get("/queue/?show=decided"))


def test_a_blocked_entry_is_answered_with_what_becomes_of_it(
    operator, new_session, project, me, world, run
):
    session = new_session()
    tracker.file_task(project, by=me, title="Impossible <i>thing</i>", text="Do it.")
    run(session, world({**HONEST, Role.WORKER: act.blocker}))
    asked = Escalation.objects.get(session=session)
    html = operator.get(f"/queue/{asked.pk}/").content.decode()
    assert "Impossible &lt;i&gt;thing&lt;/i&gt;" in html
    assert "It cannot be done." in html
    answer = decide(
        operator, asked, choice="answer", text_answer="Then leave it.", disposition_answer="dismiss"
    )
    assert answer.status_code == 200
    assert tracker.get_bug(project, "T-1").state == "CLOSED"


def test_a_viewer_sees_the_evidence_and_cannot_decide(viewer, asked):
    page = viewer.get(f"/queue/{asked.pk}/")
    assert "Deciding needs the role operator" in text_of(page)
    assert "<form" not in page.content.decode().split('id="decide"')[1].split("</aside>")[0]
    answer = viewer.post(f"/queue/{asked.pk}/decide/", {"choice": "stop", "version": "1"})
    assert answer.status_code == 403
    assert not Decision.objects.exists()


def test_the_number_of_open_questions_stands_on_every_page(operator, asked):
    for path in ("/", "/queue/", f"/sessions/{asked.session_id}/", "/account/", "/nothing/"):
        assert 'aria-label="1 open"' in operator.get(path).content.decode(), path
