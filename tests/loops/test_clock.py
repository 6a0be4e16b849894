"""The clock goes on through an outage and says so once; it shows its life in the host's row."""

import logging
import threading
import time

import pytest
from django.db import connection

from loops import hosts
from loops.clockwork import Clockwork
from loops.management.commands.clock import run
from loops.models import Host
from tests.conftest import eventually

pytestmark = pytest.mark.once


@pytest.mark.django_db(transaction=True)
def test_a_tick_shows_that_this_host_lives(settings):
    assert hosts.age_seconds() is None
    Clockwork().tick(hosts.moment.now())
    me = Host.objects.get()
    assert (me.name, me.slots, me.data) == (settings.HOST, settings.SLOTS, str(settings.DATA))
    assert hosts.age_seconds(settings.HOST) < 30


@pytest.mark.django_db(transaction=True)
def test_ticks_in_quick_succession_write_once():
    clockwork = Clockwork()
    clockwork.tick(hosts.moment.now())
    clockwork.beaten_at += 600  # however slow this machine is
    seen = Host.objects.get().seen_at
    clockwork.tick(hosts.moment.now())
    assert Host.objects.get().seen_at == seen
    clockwork.beaten_at -= 1200
    clockwork.tick(hosts.moment.now())
    assert Host.objects.get().seen_at > seen


@pytest.mark.django_db(transaction=True)
def test_an_outage_costs_two_lines_and_no_clock(caplog):
    table = Host._meta.db_table
    rename(table, "away")
    stop = threading.Event()
    with caplog.at_level(logging.WARNING, "loops.clock"):
        clock = threading.Thread(target=run, args=(stop,))
        clock.start()
        try:
            time.sleep(2.5)  # three ticks fail
            rename("away", table)
            eventually(Host.objects.exists, what="a beat")
            eventually(lambda: "works again" in caplog.text, what="the good news")
        finally:
            stop.set()
            clock.join(5)
    assert not clock.is_alive()
    said = [record.getMessage() for record in caplog.records if record.name == "loops.clock"]
    assert len(said) == 2
    assert "the clock goes on" in said[0]


def rename(old, new):
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")
