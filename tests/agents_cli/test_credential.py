"""A question about a credential takes "retry" only once a tiny call was let through (RULES 6)."""

import sys

import pytest

from escalations import services as escalations
from escalations.models import Escalation
from escalations.word import Word
from loops import secrets
from loops.engine.values import Choice
from tests.loops.test_scripted_sessions import play, repo  # noqa: F401
from tracker import services as tracker
from tracker.errors import Invalid

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]

# Speaks as Claude Code does; only one key is right.
CLAUDE = f"""\
#!{sys.executable}
import json, os, sys
if "--version" in sys.argv:
    sys.exit(print("2.1.332 (Claude Code)"))
right = os.environ["ANTHROPIC_API_KEY"] == "sk-the-right-key"
print(json.dumps({{"type": "system", "subtype": "init", "session_id": "c", "model": "m"}}))
print(json.dumps({{"type": "result", "subtype": "success", "is_error": not right,
                  "result": "ready" if right else "invalid x-api-key", "session_id": "c",
                  **({{}} if right else {{"api_error_status": 401}})}}))
sys.exit(0 if right else 1)
"""


def test_a_credential_that_is_refused_still_is_not_tried_on_the_loop(play, tmp_path):  # noqa: F811
    program = tmp_path / "claude"
    program.write_text(CLAUDE)
    program.chmod(0o755)
    secrets.keep("key", "sk-the-wrong-key")
    agent = {"adapter": "claude", "program": str(program), "key": "key", "model": "m"}
    session = play(None, agents={"worker": agent}, limit=4)
    asked = Escalation.objects.get(session=session)
    assert asked.kind == "auth"
    me = tracker.person("me")
    with pytest.raises(Invalid, match=r"credential of the worker is refused still: .*x-api-key"):
        escalations.decide(asked, Word(choice=Choice.RETRY), me)
    assert Escalation.objects.get(session=session).status == "open"

    secrets.keep("key", "sk-the-right-key")
    escalations.decide(asked, Word(choice=Choice.RETRY), me)
    session.refresh_from_db()
    assert session.state in ("resuming", "queued")
