"""A worker that dies at any point loses nothing but the step it was in (DESIGN 3)."""

from __future__ import annotations

import pytest

from loops import points, recovery, runner, turns, uptake
from loops.engine import controllers
from loops.models import Answer, Iteration, LogEntry, Session
from loops.snapshots import Fold
from tests.loops.behaviours import HONEST
from tracker import services as tracker

pytestmark = pytest.mark.django_db(transaction=True)

POINTS = (
    "taken",
    "opened",
    "before boundary",
    "in boundary",
    "after boundary",
    "claimed",
    "ran",
    "released",
)
DEAD = {"host": "", "boot_id": "another boot", "pid": 1, "start_ticks": 1, "mark": ""}


class Killed(BaseException):
    """Like SIGKILL, nothing of ours handles it: no lease is given back, no step is recorded."""


def die_at(name, turn):
    """Raise Killed when the point is passed for the turn-th time; returns how to disarm it."""
    passed = 0

    def hook(at):
        nonlocal passed
        passed += at == name
        if at == name and passed == turn:
            raise Killed

    return points.watch(hook)


def the_holder_is_dead(session):
    """What the kernel would say of a process that was killed on this host."""
    import socket

    Session.objects.filter(pk=session.pk).exclude(lease_owner=None).update(
        lease_owner=DEAD | {"host": socket.gethostname()}
    )


def run_through(session, world, *, most=60):
    """What clock and workers do, in one thread, until the session has ended."""
    for _ in range(most):
        for pk in recovery._lost():
            runner.recover(pk, world)
        for pk in Answer.objects.filter(taken_at=None).values_list("session", flat=True):
            uptake.take_up(pk)
        Session.objects.filter(pk=session.pk).update(not_before=None)
        for pk in turns.in_line():
            runner.advance(pk, world)
        session.refresh_from_db()
        if session.state == "ended":
            return
    pytest.fail(f"never ended: {session.state}")


def check_invariants(session):
    rows = list(Iteration.objects.filter(session=session).order_by("number"))
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert all(row.outcome for row in rows if row.ended_at)
    recorded = [
        row.payload["evidence"]["number"]
        for row in LogEntry.objects.filter(session=session, kind="recorded").order_by("seq")
    ]
    assert recorded == sorted(set(recorded)), "an iteration was recorded twice"
    assert recorded == [row.number for row in rows if row.ended_at]
    seqs = list(
        LogEntry.objects.filter(session=session).order_by("seq").values_list("seq", flat=True)
    )
    assert seqs == list(range(1, len(seqs) + 1))
    cached = controllers.state_to_json(Fold.load(session).state)
    session.fold = None
    assert controllers.state_to_json(Fold.load(session).state) == cached


@pytest.mark.parametrize("turn", [1, 2, 3])
@pytest.mark.parametrize("name", POINTS)
def test_a_kill_at_any_point_costs_at_most_the_step_it_hit(
    new_session, world, project, me, name, turn
):
    session = new_session()
    tracker.file_task(project, by=me, title="Add a file")
    w = world(HONEST)
    disarm = die_at(name, turn)
    died = False
    try:
        for _ in range(4):
            runner.advance(session.pk, w, iterations=2)
    except Killed:
        died = True
    finally:
        disarm()
    the_holder_is_dead(session)
    run_through(session, w)
    check_invariants(session)
    assert died
    assert session.end_reason == "done"
    assert w.most_alive == 1
    assert session.iterations.filter(outcome="INTERRUPTED").count() <= 1


def test_a_lost_step_shows_as_interrupted_and_is_repeated_at_once(new_session, world):
    session = new_session()
    w = world(HONEST)
    disarm = die_at("ran", 1)
    with pytest.raises(Killed):
        runner.advance(session.pk, w)
    disarm()
    the_holder_is_dead(session)
    assert runner.recover(session.pk, w)
    session.refresh_from_db()
    assert session.iterations.get(number=1).outcome == "INTERRUPTED"
    assert (session.state, session.lease_until, session.not_before) == ("running", None, None)


def test_a_holder_that_lives_is_left_alone(new_session, world):
    session = new_session()
    disarm = die_at("ran", 1)
    with pytest.raises(Killed):
        runner.advance(session.pk, world(HONEST))
    disarm()
    assert runner.recover(session.pk, world(HONEST)) is False


def test_what_a_lost_reviewer_changed_is_reverted(new_session, world):
    session = new_session()
    w = world(dict(HONEST))
    runner.advance(session.pk, w, iterations=1)

    def vandal(tools):
        tools.workspace.files["a.txt"] = "changed by a reviewer"
        raise Killed

    from loops.engine.values import Role

    honest = w.behaviours[Role.REVIEWER]
    w.behaviours[Role.REVIEWER] = vandal
    with pytest.raises(Killed):
        runner.advance(session.pk, w)
    w.behaviours[Role.REVIEWER] = honest
    the_holder_is_dead(session)
    run_through(session, w)
    assert w.workspace.files["a.txt"] == "one"
    assert session.end_reason == "no_op"
