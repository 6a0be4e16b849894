"""The parts of a page are read at one moment, however fast the loop goes on."""

from __future__ import annotations

from threading import Thread

import pytest
from django.db import connection

from loops.models import Session
from loops.reading.still import one_moment
from tests.loops.pages_kit import sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def count_elsewhere(session, number):
    """Another connection writes, as the worker's process does."""

    def write():
        Session.objects.filter(pk=session.pk).update(iteration_count=number)
        connection.close()

    thread = Thread(target=write)
    thread.start()
    thread.join()


def test_what_is_written_meanwhile_is_seen_only_afterwards(new_session):
    session = new_session()
    rows = Session.objects.filter(pk=session.pk)
    with one_moment():
        before = rows.get().iteration_count
        count_elsewhere(session, 7)
        assert rows.get().iteration_count == before
    assert rows.get().iteration_count == 7
    with one_moment():
        assert rows.get().iteration_count == 7


@pytest.mark.parametrize("path", ["", "parts/rows/", "parts/status+rows/"])
def test_a_page_and_its_parts_agree_on_how_many_iterations_there_are(
    client, new_session, monkeypatch, path
):
    session = new_session()
    sign_in(client)
    from loops.reading import iterations

    real = iterations.most

    def meanwhile(reading):
        count_elsewhere(session, 3)
        reading.session.refresh_from_db()
        return real(reading)

    monkeypatch.setattr(iterations, "most", meanwhile)
    page = client.get(f"/sessions/{session.pk}/{path}").content.decode()
    assert "3 of 40" not in page
    assert "0 of 40" in page
