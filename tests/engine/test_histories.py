"""Recorded sessions replay: the same log gives the same directives, outcomes and end (RULES)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loops.engine import controllers
from loops.engine.values import AskHuman, EndReason, Finish, Kind, Recorded, RunRole

FILES = sorted((Path(__file__).resolve().parent.parent / "histories").glob("*.json"))
STORIES = {file.stem: json.loads(file.read_text()) for file in FILES}


def entries_of(story):
    return [
        controllers.entry_from_json(one["seq"], one["kind"], one["payload"]) for one in story["log"]
    ]


@pytest.mark.parametrize("name", STORIES)
def test_a_recorded_session_replays_to_the_same_directives_and_end(name):
    story = STORIES[name]
    first, *rest = entries_of(story)
    controller = controllers.controller_of(story["pattern"])
    state = controller.apply(controller.initial(first.config), first)
    claims = {one["claimed_at"]: one for one in story["iterations"]}
    for entry in rest:
        if state.seq in claims and isinstance(entry, Recorded):
            due, then = controller.direct(state), claims[state.seq]
            assert isinstance(due, RunRole)
            assert (due.role, due.agent, due.rule) == (then["role"], then["agent"], then["rule"])
        state = controller.apply(state, entry)
        if isinstance(entry, Recorded):
            assert entry.outcome == story["iterations"][entry.evidence.number - 1]["outcome"]
    due = controller.direct(state)
    if isinstance(due, Finish):
        assert due.reason == story["end_reason"]
    elif story["end_reason"] != "failed":  # the workspace was lost: no rule was asked
        assert isinstance(due, AskHuman)
        assert story["end_reason"] in (None, "stopped")
    assert all(
        then == now for _seq, then, now in controllers.replay(first.config, entries_of(story))
    )


def test_the_histories_hold_every_kind_of_question_and_every_end():
    asked = {kind for story in STORIES.values() for kind in story["asked"]}
    # quarantine comes with the firewall
    assert asked == {kind.value for kind in Kind} - {Kind.QUARANTINE.value}
    ends = {story["end_reason"] for story in STORIES.values()}
    assert {EndReason(end) for end in ends if end} == set(EndReason)
    assert len(STORIES) >= 14
