"""Two processes never touch one clone, whoever may think that the session is theirs."""

from __future__ import annotations

import pytest

from loops import stage
from loops.leases import LeaseLost
from tests.loops.test_scripted_sessions import play, repo  # noqa: F401

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


def test_a_workspace_in_use_is_left_alone_and_the_caller_does_not_hang(
    play,  # noqa: F811
    monkeypatch,
):
    session = play(("finisher",), limit=1)
    monkeypatch.setattr(stage, "LOCK_SECONDS", 0.2)
    first, second = stage.equip(session), stage.equip(session)
    first.open()
    with pytest.raises(LeaseLost):
        second.open()
    second.close()
    first.close()
    third = stage.equip(session)
    third.open()
    third.close()
