"""Faults that users of other loops met (CASES.md), as promises about sessions. The other rows are
tested where their part is: O1-O3, O13, O15 agents' output and processes; O5, O7, O16 scripted
sessions; O6 runner; O11 tracker; O12 workspaces."""

from __future__ import annotations

import resource
from datetime import timedelta

import pytest

from loops import configuration, leases, moment, recovery, runner, turns
from loops.engine import bounds
from loops.engine.values import Limits
from loops.models import Iteration, OutputPiece, PromptText, Session
from loops.reading import lines
from tests.loops.behaviours import HONEST
from tests.loops.test_kills import Killed, die_at, the_holder_is_dead
from tracker.errors import Invalid

pytestmark = pytest.mark.django_db(transaction=True)


def test_o4_the_newest_lines_of_a_huge_output_are_read_without_the_rest(new_session):
    session = new_session()
    prompt = PromptText.objects.create(digest="0" * 64, text="")
    iteration = Iteration.objects.create(
        session=session, number=1, role="worker", rule="ST-0", fence=1, before={},
        claimed_at_seq=1, started_at=moment.now(), prompt=prompt,
    )  # fmt: skip
    piece = ("x" * 79 + "\n") * 40
    at, size = moment.now(), len(piece)
    for first in range(0, 16_000, 2_000):
        OutputPiece.objects.bulk_create(
            OutputPiece(iteration=iteration, seq=n + 1, offset=n * size, text=piece, at=at)
            for n in range(first, first + 2_000)
        )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    shown = lines.window(iteration)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB on Linux
    assert (len(shown.lines), shown.total) == (lines.SHOWN, 640_000)
    assert shown.lines[-1].number == 640_000
    assert grown < 160_000  # of which SQLite's own map of the file may be 128 MiB


def test_o8_a_dead_worker_s_iteration_is_interrupted_and_its_slot_freed(new_session, world):
    session = new_session()
    w = world(HONEST)
    disarm = die_at("ran", 1)
    with pytest.raises(Killed):
        runner.advance(session.pk, w)
    disarm()
    the_holder_is_dead(session)
    recovery.sweep(w)
    session.refresh_from_db()
    assert session.iterations.get().outcome == "INTERRUPTED"
    assert (session.lease_until, session.lease_owner, session.process) == (None, None, None)


def test_o8_a_worker_that_only_went_silent_is_lost_when_its_lease_is_over(new_session, world):
    """Another host, a frozen process: nobody sees it dead, but its right to record ends."""
    session = new_session()
    w = world(HONEST)
    disarm = die_at("ran", 1)
    with pytest.raises(Killed):
        runner.advance(session.pk, w)
    disarm()
    assert runner.recover(session.pk, w) is False
    Session.objects.filter(pk=session.pk).update(lease_until=moment.now() - timedelta(seconds=1))
    assert runner.recover(session.pk, w) is True


def test_o9_a_session_that_ended_stays_ended(new_session, world):
    session = new_session()
    w = world(HONEST)
    runner.advance(session.pk, w)
    session.refresh_from_db()
    late = leases.Lease(session.pk, session.fence - 1)
    late._look()  # a heartbeat after the end
    assert late.lost
    leases.release(late)
    recovery.sweep(w)
    assert runner.advance(session.pk, w) is False
    again = Session.objects.get(pk=session.pk)
    assert (again.state, again.end_reason, again.fence) == ("ended", "no_op", session.fence)
    assert again.iteration_count == session.iteration_count


def test_o9_a_quiet_agent_that_exits_0_is_no_fault(new_session, world):
    session = new_session()
    runner.advance(session.pk, world(HONEST), iterations=1)
    assert session.iterations.get().detail == ""
    assert not session.escalations.exists()


def test_o10_a_session_that_waits_for_a_person_is_never_woken_by_itself(new_session, world):
    session = new_session(limits={"iterations": 1})
    w = world(HONEST)
    runner.advance(session.pk, w)
    for _ in range(3):
        recovery.sweep(w)
        assert session.pk not in turns.in_line()
        assert runner.advance(session.pk, w) is False
    session.refresh_from_db()
    assert (session.state, session.iteration_count) == ("waiting_human", 1)


@pytest.mark.parametrize("limits", [{"iterations": 0}, {"iterations": ""}, {"wall_seconds": -1},
                                    {"no_progress": None}, {"tokens": 0}])  # fmt: skip
def test_o14_a_limit_that_is_zero_or_empty_is_refused_with_a_sentence(limits):
    agent = {"argv": ["true"]}
    raw = {"agents": {"worker": agent, "reviewer": agent}, "limits": limits}
    with pytest.raises(Invalid, match=rf"limits\.{next(iter(limits))}"):
        configuration.parse(raw)


def test_o14_the_engine_refuses_it_too():
    with pytest.raises(ValueError, match="iterations"):
        bounds.check_limits(Limits(iterations=0))
