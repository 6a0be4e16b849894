"""What every page shares: sign-in, refusals as pages, headers."""

import re

import pytest

from tracker.services import members

SCRIPT = {"HX-Request": "true"}


@pytest.fixture
def eve(client, db):
    user = members.known_user("eve")
    client.force_login(user)
    return user


def test_strangers_are_sent_to_the_login_page_with_the_way_back(client, db):
    answer = client.get("/?tab=ended")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/login/?next=/%3Ftab%3Dended"
    page = client.get(answer.headers["Location"]).content.decode()
    assert "loopwatch login-link" in page


def test_what_a_script_fetches_for_a_stranger_is_no_login_page(client, db):
    for headers in (SCRIPT, {"Accept": "application/json"}):
        answer = client.get("/", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["Content-Type"].startswith("text/plain")


def test_health_is_open_to_monitors(client, db):
    assert client.get("/health/").status_code in (200, 503)


def test_every_page_forbids_inline_code_frames_and_foreign_origins(client, db):
    headers = client.get("/login/").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?:", policy)
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


def test_a_form_of_another_site_is_refused_with_a_sentence(db, eve):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(eve)
    answer = client.post("/", headers={"Accept": "text/html"})
    assert answer.status_code == 403
    assert "nothing was changed" in answer.content.decode()
