"""Signing in by a link: who holds the data folder gets in, once per link, and nobody else."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client

from loops import address, moment, sign_in
from loops.environment import BadSetting
from loops.models import LoginLink
from tracker import access, commands
from tracker.access import Right
from tracker.services import members

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(commands, "refuse_agents", lambda: None)
    cache.clear()


@pytest.fixture
def link():
    return sign_in.link_for_owner("me")


def signed_in(client) -> bool:
    return client.get("/account/").status_code == 200


def test_the_button_signs_in_and_the_look_at_it_does_not(client, link):
    for _ in range(3):
        page = client.get(link.path)
        assert page.status_code == 200
        assert "works once" in page.content.decode()
    assert not signed_in(client)
    answer = client.post(link.path)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/welcome/")
    assert signed_in(client)


def test_who_holds_the_data_folder_is_admin_of_everything_and_has_no_password(client, link):
    client.post(link.path)
    user = LoginLink.objects.get().user
    assert access.may(user, Right.ADMINISTER, None)
    assert not user.has_usable_password()


def test_a_link_works_once(client, link):
    assert Client().post(link.path).status_code == 302
    again = client.post(link.path)
    assert again.status_code == 410
    assert "This link was used" in again.content.decode()
    assert "loopwatch login-link" in again.content.decode()
    assert client.get(link.path).status_code == 410
    assert not signed_in(client)


def test_of_two_at_once_one_gets_in(link, monkeypatch):
    first = sign_in._usable(link.token)
    sign_in.use(link.token, "")
    real = sign_in._usable
    answers = iter([lambda _: first, real])  # the second one looked before the first one used it
    monkeypatch.setattr(sign_in, "_usable", lambda token: next(answers)(token))
    with pytest.raises(sign_in.Unusable):
        sign_in.use(link.token, "")


def test_a_link_ends_after_ten_minutes(client, link, monkeypatch):
    real = moment.now
    monkeypatch.setattr(moment, "now", lambda: real() + timedelta(minutes=10, seconds=1))
    late = client.post(link.path)
    assert late.status_code == 410
    assert "too old" in late.content.decode()


def test_an_unknown_link_and_a_link_of_who_left_sign_nobody_in(client, link):
    assert client.post("/login/" + "x" * 43 + "/").status_code == 410
    user = LoginLink.objects.get().user
    user.is_active = False
    user.save()
    assert client.post(link.path).status_code == 410


def test_the_token_is_not_in_the_database(link):
    row = LoginLink.objects.values().get()
    assert link.token not in str(row)


def test_a_form_of_another_site_consumes_nothing(link):
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(link.path).status_code == 403
    assert LoginLink.objects.get().used_at is None


def test_no_other_site_learns_the_link_and_no_cache_keeps_it(client, link):
    headers = client.get(link.path).headers
    assert headers["Referrer-Policy"] == "same-origin"
    assert "no-store" in headers["Cache-Control"]


def test_guessing_is_slowed_down_for_the_one_who_guesses(client, link):
    for n in range(sign_in.WRONG_PER_MINUTE):
        assert client.get(f"/login/wrong{n}/").status_code == 410
    assert client.get("/login/wrong/").status_code == 429
    assert client.get(link.path, REMOTE_ADDR="192.0.2.7").status_code == 200


def test_the_way_back_is_kept_over_the_terminal(client, link):
    asked = client.get("/account/?tab=keys")
    client.get(asked.headers["Location"])
    assert "/account/?tab=keys" in client.get(link.path).content.decode()
    assert client.post(link.path).headers["Location"] == "/account/?tab=keys"


@pytest.mark.parametrize(
    "next", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:x", "evil"]
)
def test_the_way_back_never_leads_to_another_site(client, link, next):
    client.get("/login/", {"next": next})
    assert client.post(f"{link.path}?next={next}").headers["Location"] == "/welcome/"


def test_signing_out_takes_a_post(client, link):
    client.post(link.path)
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").headers["Location"] == "/login/"
    assert not signed_in(client)


def test_who_is_signed_in_is_not_asked_again(client, link):
    client.post(link.path)
    assert client.get("/login/?next=/queue/").headers["Location"] == "/queue/"


# --- the command ---------------------------------------------------------------------------------


def run(*args) -> str:
    out = StringIO()
    call_command("login-link", *args, stdout=out)
    return out.getvalue()


def test_the_command_prints_a_link_that_works(client, monkeypatch):
    monkeypatch.setenv("LOOPWATCH_URL", "https://loops.example.org")
    said = run().splitlines()
    assert said[0].startswith("https://loops.example.org/login/")
    assert "within 10 minutes" in said[1]
    answer = json.loads(run("--json"))
    assert answer["user"] == commands.user_name()
    client.post(answer["url"].removeprefix("https://loops.example.org"))
    assert signed_in(client)


def test_the_command_refuses_while_nothing_runs(settings, tmp_path):
    settings.DATA = tmp_path
    with pytest.raises(CommandError, match="loopwatch up"):
        run()


def test_a_link_for_somebody_else_needs_a_role_first(client, monkeypatch):
    monkeypatch.setenv("LOOPWATCH_URL", "http://127.0.0.1:8000")
    with pytest.raises(CommandError, match="access grant eve"):
        run("--user", "eve")
    members.grant("eve", "viewer", None)
    url = json.loads(run("--user", "eve", "--json"))["url"]
    client.post(url.removeprefix("http://127.0.0.1:8000"))
    assert "You are viewer of all projects" in client.get("/account/").content.decode()


# --- listening for other machines ----------------------------------------------------------------


def test_listening_for_others_needs_their_names_for_this_host(monkeypatch):
    for host in ("127.0.0.1", "localhost", "::1"):
        address.check_host(host)
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        with pytest.raises(BadSetting, match="LOOPWATCH_ALLOWED_HOSTS"):
            address.check_host(host)
    monkeypatch.setenv("LOOPWATCH_ALLOWED_HOSTS", "loops.example.org")
    address.check_host("0.0.0.0")


def test_listening_for_others_without_tls_is_warned_about(monkeypatch):
    assert address.warning("127.0.0.1") == ""
    assert "TLS" in address.warning("0.0.0.0")
    monkeypatch.setenv("LOOPWATCH_URL", "https://loops.example.org")
    assert address.warning("0.0.0.0") == ""
