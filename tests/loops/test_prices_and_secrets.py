"""What models cost, by whom and since when, and credentials that nobody can read again."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from loops import agent_services, ledger, secrets, services
from loops.models import Price, Secret
from tests.loops.pages_kit import said, sign_in, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client):
    return sign_in(client)


def page(client):
    return text_of(client.get("/settings/agents/"))


# --- prices ----------------------------------------------------------------------------------


def test_prices_come_from_genai_prices_but_a_person_s_stay(admin):
    services.save_agent("one", {"adapter": "claude", "model": "claude-opus-4-5"})
    services.save_agent("two", {"adapter": "codex", "model": "gpt-5.5"})
    services.save_agent("three", {"adapter": "qwen", "model": "no-such-model"})
    services.save_agent("four", {"adapter": "claude", "model": "by-month", "subscription": True})
    ledger.set_price("gpt-5.5", input=Decimal(1), output=Decimal(2), cached=None, by="eve")
    answer = admin.post("/settings/prices/take/", follow=True)
    opus = Price.objects.get(model="claude-opus-4-5")
    assert (opus.input, opus.cached, opus.output) == (5, Decimal("0.5"), 25)
    assert re.fullmatch(r"genai-prices [0-9.]+", opus.by)
    assert Price.objects.get(model="gpt-5.5").by == "eve"
    assert set(Price.objects.values_list("model", flat=True)) == {"claude-opus-4-5", "gpt-5.5"}
    assert "no-such-model. Set these by hand." in said(answer)[0]
    shown = text_of(answer)
    assert "by-month not known subscription, not priced" in shown
    assert "no-such-model not known not priced" in shown
    assert "claude-opus-4-5 claude $5.00 $0.50 $25.00 genai-prices" in shown
    assert "gpt-5.5 gpt $1.00 $1.00 $2.00 eve" in shown
    assert "$0.00" not in shown


def test_another_provider_s_price_is_no_guess_for_an_address_that_is_not_known(admin):
    local = {"adapter": "openai", "model": "gpt-5.5", "base_url": "http://127.0.0.1:9/v1"}
    services.save_agent("local", local)
    admin.post("/settings/prices/take/")
    assert not Price.objects.exists()


def test_a_price_is_set_by_hand_with_who_and_when_and_bad_numbers_are_named(admin):
    services.save_agent("one", {"adapter": "claude", "model": "opus"})
    bad = admin.post("/settings/prices/", {"input-0": "x", "output-0": "3"})
    assert bad.status_code == 422
    assert "The price for input of opus is a number from 0" in text_of(bad)
    assert bad.context["page"].form["output-0"].value() == "3"
    assert "price for output is missing" in text_of(
        admin.post("/settings/prices/", {"input-0": "1"})
    )
    admin.post(
        "/settings/prices/",
        {"input-0": "3", "output-0": "15", "new": "other", "input-1": "1", "output-1": "2"},
    )
    assert {str(p.model): (p.input, p.cached, p.by) for p in Price.objects.all()} == {
        "opus": (3, 3, "ana"),
        "other": (1, 1, "ana"),
    }
    admin.post("/settings/prices/", {"input-0": "3", "cached-0": "3", "output-0": "15"})
    assert "you," in page(admin)


# --- secrets ---------------------------------------------------------------------------------


def test_secrets_are_set_replaced_and_removed_but_not_while_an_agent_names_them(admin):
    admin.post("/settings/secrets/", {"name": "a-key", "value": "hunter2-first"})
    services.save_agent("cc", {"adapter": "claude", "key": "a-key"})
    assert "a-key cc you," in page(admin)
    assert admin.post("/settings/secrets/", {"name": "a-key", "value": "x"}).status_code == 422
    admin.post("/settings/secrets/a-key/", {"value": "hunter2-second"})
    assert secrets.reveal("a-key") == "hunter2-second"
    assert "hunter2" not in admin.get("/settings/secrets/a-key/").content.decode()
    asked = admin.post("/settings/secrets/a-key/remove/")
    assert "cc still names it" in text_of(asked)
    refused = admin.post("/settings/secrets/a-key/remove/", {"sure": "1"}, follow=True)
    assert said(refused) == ["The secret a-key is used by cc. Change that first."]
    agent_services.remove("cc")
    admin.post("/settings/secrets/a-key/remove/", {"sure": "1"})
    assert not Secret.objects.exists()


def test_a_secret_tells_when_it_was_last_used(admin):
    secrets.keep("a-key", "value", by="eve")
    assert "a-key no agent eve," in page(admin)
    assert "never" in page(admin)
    secrets.reveal("a-key")
    assert "never" not in page(admin).split("Secrets Add a secret")[1].split("Write only")[0]


@pytest.mark.parametrize("typed", [{"name": "X y", "value": "v"}, {"name": "ok", "value": ""}])
def test_a_bad_secret_is_refused_with_a_sentence(admin, typed):
    assert admin.post("/settings/secrets/", typed).status_code == 422
    assert not Secret.objects.exists()
