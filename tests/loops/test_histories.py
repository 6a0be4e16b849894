"""Told again, each story comes to the same questions, the same outcomes and the same end."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from loops.models import Iteration, LogEntry, Session
from tests.loops.histories import STORIES, Stage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
FOLDER = Path(__file__).resolve().parent.parent / "histories"


def told(asked, session):
    rows = Iteration.objects.filter(session=session).order_by("number")
    log = LogEntry.objects.filter(session=session).order_by("seq")
    return {
        "pattern": session.pattern,
        "asked": asked,
        "end_reason": session.end_reason,
        "iterations": [
            {"number": r.number, "role": r.role, "agent": r.agent, "rule": r.rule,
             "outcome": r.outcome, "claimed_at": r.claimed_at_seq}
            for r in rows
        ],
        "log": [{"seq": e.seq, "kind": e.kind, "payload": e.payload} for e in log],
    }  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
def test_the_story_comes_to_the_same_end(name, project, me, new_session):
    stage = Stage(project, me, new_session)
    STORIES[name](stage)
    compare(name, told(stage.asked, Session.objects.get()))


def compare(name, now):
    """With what was recorded once; the iterations' numbers and rules, the questions, the end."""
    file = FOLDER / f"{name}.json"
    if os.environ.get("LOOPWATCH_RECORD"):
        file.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
    then = json.loads(file.read_text())
    for what in ("pattern", "asked", "end_reason", "iterations"):
        assert now[what] == then[what], what
