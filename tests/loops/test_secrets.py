"""A secret is never stored in the clear, from the first iteration on and for every role (O15)."""

from __future__ import annotations

import pytest

from loops import secrets
from loops.models import Iteration, OutputPiece, Secret
from tests.loops.test_scripted_sessions import play, repo  # noqa: F401
from tracker.errors import NotFound

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
TELL = ["/bin/sh", "-c", "echo key=$API_KEY token=$LOOPWATCH_TOKEN; loopwatch done"]


def output(number):
    pieces = OutputPiece.objects.filter(iteration__number=number).order_by("seq")
    return "".join(pieces.values_list("text", flat=True))


def test_what_an_agent_prints_of_its_secrets_is_removed_in_every_iteration(play):  # noqa: F811
    secrets.keep("worker-key", "hunter2-worker-value")
    secrets.keep("reviewer-key", "hunter3-reviewer-value")
    play(
        None,
        worker_argv=TELL,
        reviewer_argv=TELL,
        secret_env={"worker": "worker-key", "reviewer": "reviewer-key"},
        limit=3,
    )
    roles = dict(Iteration.objects.values_list("number", "role"))
    assert roles[1] == "worker"
    assert "reviewer" in roles.values()
    for number in roles:
        assert output(number).startswith("key=[secret removed] token=[secret removed]")


def test_a_secret_that_is_not_kept_is_named_in_the_iteration(play):  # noqa: F811
    session = play(None, worker_argv=TELL, secret_env={"worker": "nosuch"}, limit=3)
    details = set(Iteration.objects.values_list("detail", flat=True))
    assert session.state == "waiting_human"
    assert details == {"There is no secret named nosuch; keep it with: loopwatch secret set nosuch"}


def test_a_kept_secret_is_encrypted_and_a_missing_one_is_refused(db):
    secrets.keep("a-key", "the value")
    assert b"the value" not in bytes(Secret.objects.get().ciphertext)
    assert secrets.reveal("a-key") == "the value"
    with pytest.raises(NotFound, match="secret set other"):
        secrets.reveal("other")
