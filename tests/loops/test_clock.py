"""The clock goes on through an outage and says so once."""

import logging
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from loops import clockwork
from loops.management.commands.clock import run
from tests.conftest import eventually

pytestmark = pytest.mark.once
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_the_age_of_the_last_beat_is_told_to_the_second(settings, tmp_path):
    settings.DATA = tmp_path
    assert clockwork.age_seconds(NOON) is None
    clockwork.beat(NOON)
    assert clockwork.age_seconds(NOON + timedelta(seconds=90)) == 90
    assert clockwork.age_seconds(NOON - timedelta(seconds=5)) == 0


@pytest.mark.django_db(transaction=True)
def test_an_outage_costs_two_lines_and_no_clock(settings, tmp_path, caplog):
    settings.DATA = tmp_path / "missing"
    stop = threading.Event()
    with caplog.at_level(logging.WARNING, "loops.clock"):
        clock = threading.Thread(target=run, args=(stop,))
        clock.start()
        try:
            time.sleep(2.5)  # three ticks fail
            settings.DATA.mkdir()
            eventually(lambda: (settings.DATA / "clock").exists(), what="a beat")
            eventually(lambda: "works again" in caplog.text, what="the good news")
        finally:
            stop.set()
            clock.join(5)
    assert not clock.is_alive()
    said = [record.getMessage() for record in caplog.records if record.name == "loops.clock"]
    assert len(said) == 2
    assert "the clock goes on" in said[0]
