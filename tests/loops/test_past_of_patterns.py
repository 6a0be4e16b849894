"""Replay, history and forks of every pattern, on the recorded sessions of tests/histories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.utils import timezone

from loops import replays
from loops.engine import controllers
from loops.engine.values import Configured, Forked, Recorded, RunRole, Snapshot
from loops.models import Iteration, LogEntry, PromptText, Session
from loops.reading.compare import compare_page
from loops.reading.history import history_page
from tracker.models import Project

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
FILES = sorted((Path(__file__).parents[1] / "histories").glob("*.json"))
LIMITS = {"iterations": 40, "wall_seconds": 28800, "no_progress": 6, "tokens": None, "money": None}


def kept(project, file):
    """The recorded session as rows."""
    told, now = json.loads(file.read_text()), timezone.now()
    session = Session.objects.create(
        project=project, pattern=told["pattern"], config={"agents": {}, "limits": LIMITS},
        state="ended" if told["end_reason"] else "waiting_human", end_reason=told["end_reason"],
        log_seq=told["log"][-1]["seq"], iteration_count=len(told["iterations"]), created_at=now,
    )  # fmt: skip
    LogEntry.objects.bulk_create(LogEntry(session=session, at=now, **row) for row in told["log"])
    revs = {
        row["payload"]["evidence"]["number"]: row["payload"]["evidence"]["after"]
        for row in told["log"] if row["kind"] == "recorded"
    }  # fmt: skip
    text, _ = PromptText.objects.get_or_create(digest="x", text="x")
    for row in told["iterations"]:
        after = revs.get(row["number"], {"rev": "", "head": ""})  # what failed has no entry
        Iteration.objects.create(
            session=session, number=row["number"], role=row["role"], agent=row["agent"],
            rule=row["rule"], outcome=row["outcome"], claimed_at_seq=row["claimed_at"], fence=1,
            before=after, rev=after["rev"], head=after["head"], started_at=now, ended_at=now,
            prompt=text,
        )  # fmt: skip
    return session


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recorded_session_replays_and_shows_its_state_at_every_iteration(project, file):
    session = kept(project, file)
    found = replays.replay(session)
    assert found.differences == []
    recorded = session.own_log.filter(kind="recorded").count()
    assert found.iterations == recorded
    assert recorded == session.iteration_count or session.end_reason == "failed"
    for number in range(recorded + 1, session.iteration_count + 1):
        page = history_page(session, at=number, before=None, may_fork=True)
        assert "left no entry in the log" in page.fault
    for number in range(1, recorded + 1):
        page = history_page(session, at=number, before=None, may_fork=True)
        assert page.fault == ""
        assert page.state is not None
        assert page.state.due.words
        assert page.state.due.text, page.state.due.rule


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_after_any_iteration_a_fork_has_everything_before_it_and_nothing_used(file):
    told = json.loads(file.read_text())
    log = [controllers.entry_from_json(*row.values()) for row in (
        {"seq": r["seq"], "kind": r["kind"], "payload": r["payload"]} for r in told["log"]
    )]  # fmt: skip
    config = log[0].config
    controller = controllers.controller_of(config.pattern)
    for place, entry in enumerate(log):
        if not isinstance(entry, Recorded):
            continue
        after = entry.evidence.after
        base = Snapshot(after.rev, after.head)
        begun = (
            Forked(entry.seq + 1, 7, entry.evidence.number, base),
            Configured(entry.seq + 2, config),
        )
        state = controllers.fold(config, (*log[: place + 1], *begun))
        assert {now.used for now in controller.limits_now(state)} == {0}
        assert isinstance(controller.direct(state), RunRole)
        assert controller.at_most(state) > 0
        assert controllers.state_from_json(controllers.state_to_json(state)) == state


def test_sessions_of_different_patterns_can_be_compared(project):
    one, two, three = (
        kept(project, next(file for file in FILES if file.stem == name))
        for name in ("single_done", "feedback_done", "maker_done")
    )
    for a, b in ((one, two), (two, three), (three, one)):
        page = compare_page(Project.objects.all(), a, b)
        assert page.headline == "They differ from the first directive on"
        assert any(fact.name == "Pattern" and fact.differs for fact in page.setup)
