"""A judge that thinks like who it judges is told apart before the start (RULES 3, 4)."""

from __future__ import annotations

import pytest

from loops import services
from loops.models import Session
from tests.loops.test_new_session_page import GOOD, browser, ours, repository, text_of  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)


def pair(maker, judge):
    for name, model in (("a-maker", maker), ("a-judge", judge)):
        services.save_agent(name, {"argv": ["true"], "model": model})
    return {
        **GOOD, "pattern": "maker_verifier", "maker": "a-maker", "attempts": "4",
        "reverifications": "1", "verifiers-0-name": "judge", "verifiers-0-agent": "a-judge",
        "verifiers-0-policy": "required",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("maker", "judge", "words"),
    [
        ("claude-opus", "gpt-5.5", "Verifier judge is of another family than maker"),
        ("claude-opus", "claude-haiku", "Maker and verifier judge are of one family, claude"),
        ("claude-opus", "claude-opus", "run the same model, claude-opus. It judges itself."),
    ],
)
def test_the_form_says_how_far_the_judge_stands_from_the_maker(ours, maker, judge, words):  # noqa: F811
    shown = text_of(browser("admin").post("/sessions/new/preview/", pair(maker, judge)))
    assert words in shown
    assert ("I know that it judges itself" in shown) == (maker == judge)


def test_a_verifier_of_the_same_model_needs_the_tick_of_an_admin(ours):  # noqa: F811
    typed = pair("claude-opus", "claude-opus")
    refused = browser("admin").post("/sessions/new/", typed)
    assert refused.status_code == 422
    assert "say that you know it" in text_of(refused)
    assert not Session.objects.exists()
    ticked = {**typed, "judges_itself": "on"}
    operator = browser("operator", ours).post("/sessions/new/", ticked)
    assert operator.status_code == 422
    assert "needs the role admin" in text_of(operator)
    assert browser("admin").post("/sessions/new/", ticked).status_code == 302
    assert Session.objects.get().config["judges_itself"] is True


def test_a_reviewer_of_the_same_model_is_warned_about_only(ours):  # noqa: F811
    for name in ("some-worker", "some-reviewer"):
        services.save_agent(name, {"argv": ["true"], "model": "claude-opus"})
    admin = browser("admin")
    assert "It judges itself" in text_of(admin.post("/sessions/new/preview/", GOOD))
    assert admin.post("/sessions/new/", GOOD).status_code == 302
