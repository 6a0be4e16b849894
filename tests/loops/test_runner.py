"""What a person may rely on while a session runs: it ends for a proven reason, or it asks."""

from __future__ import annotations

import pytest

from loops import runner
from loops.models import Iteration, Session
from tests.loops.behaviours import HONEST
from tests.loops.world import World

pytestmark = pytest.mark.django_db(transaction=True)


def outcomes(session):
    return list(session.iterations.order_by("number").values_list("role", "outcome"))


def test_with_nothing_to_do_the_loop_needs_two_dones_around_a_clean_review(new_session):
    session = new_session()
    assert runner.advance(session.pk, World(HONEST)) is False
    session.refresh_from_db()
    assert (session.state, session.end_reason) == ("ended", "no_op")
    assert outcomes(session) == [
        ("worker", "DONE"),
        ("reviewer", "REVIEW_CLEAN"),
        ("worker", "DONE"),
    ]
