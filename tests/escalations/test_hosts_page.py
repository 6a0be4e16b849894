"""What a person sees of hosts: where a session is, that its host is gone, and the way on."""

from __future__ import annotations

import pytest

from escalations.management.commands.session import Command
from loops import runner, services
from loops.models import Session
from tests.escalations.test_index_page import text_of
from tests.loops.hosts_kit import BUSY, kill_at, lose, stand_on

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stranded(settings, new_session, world):
    """On host "b", which is lost in iteration 3; "a" lives."""
    settings.STORE_URL = "/somewhere"
    stand_on(settings, "b")
    session = new_session()
    runner.advance(session.pk, world(BUSY), iterations=2)
    kill_at("claimed", lambda: runner.advance(session.pk, world(BUSY)))
    session.refresh_from_db()
    kept = {"iteration": 2, "host": "b", "rev": "1", "head": "2", "head_ref": "x", "snapshot": "3"}
    Session.objects.filter(pk=session.pk).update(kept=kept)
    lose("b")
    stand_on(settings, "a")
    session.refresh_from_db()
    return session


def test_the_page_says_since_when_the_host_is_gone_and_where_it_can_go_on(operator, stranded):
    page = operator.get(f"/sessions/{stranded.pk}/")
    text = text_of(page)
    assert "Host b was last seen" in text
    assert "the session can go on on host a from its snapshot of iteration 2." in text
    assert "On host b" in text
    assert "Last snapshot elsewhere: iteration 2" in text
    assert "Waits for the host b" in text
    assert "Iteration 3 counts as interrupted and is repeated." in text
    assert f"/sessions/{stranded.pk}/move/".encode() in page.content
    assert "Waits for the host b" in text_of(operator.get("/"))


def test_an_operator_moves_it_and_it_goes_on_there(operator, stranded):
    page = operator.post(f"/sessions/{stranded.pk}/move/", {"to": "a"}, follow=True)
    assert f"{stranded.ref} goes on on host a." in text_of(page)
    stranded.refresh_from_db()
    assert (stranded.host, stranded.iterations.get(number=3).outcome) == ("a", "INTERRUPTED")
    again = operator.post(f"/sessions/{stranded.pk}/move/", {"to": "a"})
    assert again.status_code == 409
    assert "is on a already" in text_of(again)


def test_a_viewer_reads_but_moves_nothing(viewer, stranded):
    page = viewer.get(f"/sessions/{stranded.pk}/")
    assert "Host b was last seen" in text_of(page)
    assert b"/move/" not in page.content
    assert viewer.post(f"/sessions/{stranded.pk}/move/", {"to": "a"}).status_code == 403
    stranded.refresh_from_db()
    assert stranded.host == "b"


def test_one_host_alone_says_nothing_of_hosts(operator, settings, new_session, world):
    stand_on(settings, "b")
    session = new_session()
    runner.advance(session.pk, world(BUSY), iterations=2)
    page = operator.get(f"/sessions/{session.pk}/")
    assert "host" not in text_of(page).lower()
    assert b"/move/" not in page.content


def test_a_snapshot_that_reaches_nobody_is_a_warning(operator, stranded, settings):
    stand_on(settings, "b")
    Session.objects.filter(pk=stranded.pk).update(keeping_fault="The disk is away.")
    text = text_of(operator.get(f"/sessions/{stranded.pk}/"))
    assert (
        "The newest snapshot is on one host only. The last one elsewhere is of iteration 2" in text
    )
    assert "The disk is away." in text


def test_the_command_says_the_same_and_names_what_is_waited_for(stranded):
    shown = Command().show({"id": stranded.pk})
    assert "Host b was last seen" in shown.text
    assert (shown.data["host"], shown.data["snapshot_elsewhere"]) == ("b", 2)
    Session.objects.filter(pk=stranded.pk).update(lease_until=None, lease_owner=None)
    [row] = Command().list({}).data
    assert row["waits_for"] == "Waits for the host b"


def test_the_command_moves_it(stranded):
    moved = Command().move({"id": stranded.pk, "to": "a"})
    assert (moved.data["host"], moved.text) == ("a", f"{stranded.ref} goes on on host a.")
    assert services.get_session(stranded.pk).host_moves == 1
