"""Each decision of RULES 6 by the page's form, without a script, in sessions with verifiers."""

from __future__ import annotations

import re

import pytest

from escalations.models import Decision, Escalation
from loops import services
from loops.engine.values import Role
from loops.models import Session
from tests.escalations.test_queue_pages import decide
from tests.escalations.test_verified_pages import SCRIPT, bad_files, text_of
from tests.loops import verified as v

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ask(new_session, world, run):
    """Run a session until it asks; the question, and a way to run it on with other behaviours."""

    def make(behaviours, config):
        session = run(new_session(**config), world(behaviours, bad_files()))
        return Escalation.objects.get(session=session, status="open")

    return make


@pytest.fixture
def uncertain(ask):
    """Thinker-Worker-Verifier: coder's first attempt could not be judged."""
    return ask({**v.FEEDBACK, "judge": v.unsure}, v.feedback_config())


@pytest.fixture
def ceiling(ask):
    return ask({Role.MAKER: v.idle, "judge": v.judge}, v.maker_config(attempts=2))


@pytest.fixture
def broken(ask):
    """The maker crashed three times."""
    return ask({Role.MAKER: v.crashing, "judge": v.judge}, v.maker_config())


def session_of(asked):
    return Session.objects.get(pk=asked.session_id)


def words(client, asked):
    return text_of(client.get(f"/queue/{asked.pk}/"))


def test_the_question_offers_what_fits_its_pattern(operator, uncertain):
    html = operator.get(f"/queue/{uncertain.pk}/").content.decode()
    radios = re.findall(r'type="radio" name="choice" value="(\w+)"', html)
    assert radios == ["approve", "edit", "reject", "replan", "reassign", "amend", "stop"]
    said = words(operator, uncertain)
    assert "The worker that you name makes the next attempt" in said
    assert "1 attempt, at most 7 more" in said


def test_the_bound_says_how_far_each_decision_lets_it_go_on(operator, uncertain):
    said = words(operator, uncertain)
    assert "At most 7 more attempts now; each one that you allow adds 1." in said
    assert said.count("At most 8 more attempts then, 7 without it.") == 3


def test_reject_with_attempts_goes_on_with_the_reason(operator, ceiling):
    assert "At most 0 more attempts now" in words(operator, ceiling)
    answer = decide(
        operator, ceiling, choice="reject", attempts_reject="2", text_reject=f"Mend both {SCRIPT}"
    )
    assert session_of(ceiling).state == "queued"
    said = Decision.objects.get(escalation=ceiling)
    assert (said.details["attempts"], said.text) == (2, f"Mend both {SCRIPT}")
    assert "2 more attempts allowed." in text_of(answer)
    assert SCRIPT not in answer.content.decode()


def test_reject_for_good_says_what_it_ends_and_ends_it(operator, ceiling):
    html = operator.get(f"/queue/{ceiling.pk}/").content.decode()
    assert "0 ends the session as exhausted" in html
    assert f'data-saying-none="Reject, end S-{ceiling.session_id} as exhausted"' in html
    decide(operator, ceiling, choice="reject", attempts_reject="0", text_reject="No.")
    assert session_of(ceiling).end_reason == "exhausted"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"choice": "reject", "attempts_reject": "1"}, "the next step reads these words"),
        ({"choice": "reject", "text_reject": "No <i>way</i>"}, "0 ends it"),
        ({"choice": "reject", "attempts_reject": "-1", "text_reject": "x"}, "equal to 0"),
        ({"choice": "replan", "text_replan": " "}, "the next step reads these words"),
        ({"choice": "reassign", "worker_reassign": ""}, "Choose the worker"),
        ({"choice": "reassign", "worker_reassign": "nobody"}, "nobody"),
    ],
)
def test_what_is_incomplete_is_refused_and_stays_typed(fields, sentence, operator, uncertain):
    answer = decide(operator, uncertain, text_amend="Kept <b>words</b>", **fields)
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert "Kept &lt;b&gt;words&lt;/b&gt;" in answer.content.decode()
    assert not Decision.objects.exists()


def test_replan_sends_the_words_to_the_thinker(operator, uncertain):
    decide(operator, uncertain, choice="replan", text_replan="Heed R-2 first.")
    state = services.Fold.load(session_of(uncertain)).state
    assert state.step.role is Role.THINKER
    assert any("Heed R-2 first." in note.text for note in state.notes)


def test_reassign_names_who_worked_and_takes_the_one_chosen(operator, uncertain):
    said = words(operator, uncertain)
    assert "coder, made the last attempt" in said
    assert "writer, has not worked yet" in said
    answer = decide(operator, uncertain, choice="reassign", worker_reassign="writer")
    assert services.Fold.load(session_of(uncertain)).state.step.agent == "writer"
    assert "The next attempt is made by writer." in text_of(answer)


def test_change_sends_only_what_was_changed(operator, broken):
    services.save_agent("other", {"argv": ["false"]})
    html = operator.get(f"/queue/{broken.pk}/").content.decode()
    assert re.search(r'name="limit_iterations_change" value="40"', html)
    assert re.search(r'name="limit_wall_seconds_change" value="480"', html)
    answer = decide(
        operator,
        broken,
        choice="change",
        agent_maker_change="other",
        agent_judge_change="",
        limit_iterations_change="9",
        limit_wall_seconds_change="480",
        limit_tokens_change="1.5",
        limit_money_change="12.5",
    )
    details = Decision.objects.get(escalation=broken).details
    assert details["agents"] == {"maker": "other"}
    assert details["limits"] == {"iterations": 9, "tokens": 1_500_000, "money": 12.5}
    config = session_of(broken).config
    assert config["agents"]["maker"]["argv"] == ["false"]
    assert config["limits"]["wall_seconds"] == 8 * 3600
    assert "maker is played by other." in text_of(answer)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Nothing would change"),
        ({"limit_iterations_change": "40"}, "Nothing would change"),
        ({"limit_iterations_change": ""}, "needs a number above 0"),
        ({"limit_iterations_change": "-3"}, "is a number above 0"),
        ({"limit_tokens_change": "nan"}, "Enter a number"),
        ({"limit_iterations_change": "lots"}, "Enter a number"),
        ({"agent_maker_change": "unknown"}, "unknown"),
        ({"limit_money_change": "5"}, "so a money limit needs a token limit too"),
    ],
)
def test_a_change_of_nothing_or_to_nonsense_is_refused(fields, sentence, operator, broken):
    answer = decide(operator, broken, choice="change", **fields)
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert not Decision.objects.exists()


def test_a_gate_names_who_waits_behind_it_and_lets_it_run(operator, ask):
    asked = ask(v.MAKERS, v.maker_config(gates=["verifier"]))
    said = words(operator, asked)
    assert "Let the verifier judge run" in said
    assert "Do not let the verifier judge run" in said
    assert "Without a verifier you are asked to judge the attempt yourself" in said
    decide(operator, asked, choice="allow")
    assert session_of(asked).state == "queued"


def test_before_there_is_a_plan_nobody_can_be_sent_to_work_on_it(operator, ask):
    asked = ask(v.FEEDBACK, v.feedback_config(gates=["thinker"]))
    html = operator.get(f"/queue/{asked.pk}/").content.decode()
    radios = re.findall(r'type="radio" name="choice" value="(\w+)"', html)
    assert radios == ["reject", "allow", "deny", "amend", "stop"]
    for choice, fields in (
        ("reassign", {"worker": "writer", "text_reassign": "x"}),
        ("replan", {"text_replan": "x"}),
    ):
        answer = decide(operator, asked, choice=choice, **fields)
        assert answer.status_code == 422, choice
    assert not Decision.objects.exists()


def test_a_gate_that_stays_shut_needs_a_reason(operator, ask):
    asked = ask(v.FEEDBACK, v.feedback_config(gates=["verifier"]))
    assert "before a thinker or a worker you are asked again" in words(operator, asked)
    assert decide(operator, asked, choice="deny").status_code == 422
    decide(operator, asked, choice="deny", text_deny="I judge it myself.")
    assert Decision.objects.get(escalation=asked).choice == "deny"
    assert services.Fold.load(session_of(asked)).state.question.kind == "uncertain"


def test_a_requirement_is_amended_and_the_thinker_replans(operator, uncertain, project):
    decide(operator, uncertain, choice="amend", requirement_amend="R-2", document_amend="Be good.")
    state = services.Fold.load(session_of(uncertain)).state
    assert state.step.rule == "TWV-D4"


def test_who_may_only_look_sees_the_verdicts_and_no_form(viewer, ceiling):
    page = viewer.get(f"/queue/{ceiling.pk}/")
    assert "Verdicts by attempt" in text_of(page)
    assert "<form" not in page.content.decode().split('id="decide"')[1].split("</aside>")[0]
