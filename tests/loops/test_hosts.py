"""Several hosts: who may touch a session, whose turn it is, and how it leaves a dead host."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import timedelta

import pytest
import redis

from loops import broker as embedded
from loops import hosts, leases, moment, moving, recovery, runner, services, tasks, wake
from loops.celery import app
from loops.environment import BadSetting
from loops.leases import LeaseLost
from loops.models import Host, Session, Transition
from loops.reading.waiting import waits
from tests.loops.behaviours import HONEST
from tests.loops.conftest import CONFIG
from tests.loops.hosts_kit import BUSY, kill_at, lose, stand_on
from tracker import services as tracker
from tracker.errors import Conflict, Invalid

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def begun(settings, new_session, world):
    """A session that host "b" began, three steps old, cut off in the fourth; "a" acts now."""
    stand_on(settings, "b")
    session = new_session()
    here = world(BUSY)
    runner.advance(session.pk, here, iterations=3)
    kill_at("claimed", lambda: runner.advance(session.pk, here))
    snapshot = here.workspace.stamp()
    kept = {"iteration": 3, "host": "b", "rev": snapshot.rev, "head": snapshot.head}
    Session.objects.filter(pk=session.pk).update(
        kept={**kept, "head_ref": "refs/heads/x", "snapshot": "5" * 40}
    )
    settings.STORE_URL = "/somewhere"
    stand_on(settings, "a")
    session.refresh_from_db()
    session.world = here
    return session


@pytest.fixture
def queues(settings, broker, monkeypatch):
    """The real broker carries wake-ups; how many wait in a queue."""
    settings.REDIS_URL = broker
    link = redis.Redis.from_url(broker)
    link.flushall()
    monkeypatch.setitem(app.conf, "broker_url", embedded.celery_url(broker))
    app.amqp._producer_pool = app._pool = None
    yield link.llen
    app.amqp._producer_pool = app._pool = None


# --- hosts ----------------------------------------------------------------------------------------


def test_a_host_is_lost_when_it_was_silent_for_the_lease_and_some_seconds(settings):
    assert hosts.age_seconds() is None
    stand_on(settings, "b")
    stand_on(settings, "a")
    now = moment.now()
    assert [host.name for host in hosts.living(now)] == ["a", "b"]
    just = now - timedelta(seconds=settings.LEASE_SECONDS + 1)
    Host.objects.filter(name="b").update(seen_at=just)
    assert hosts.lost_names(now) == set()
    Host.objects.filter(name="b").update(seen_at=just - timedelta(seconds=5))
    assert hosts.lost_names(moment.now()) == {"b"}
    assert hosts.age_seconds() < 5 < hosts.age_seconds("b")


def test_two_installations_of_one_name_are_refused_unless_the_first_is_gone(settings, tmp_path):
    stand_on(settings, "a", tmp_path / "one")
    hosts.settle_name()  # itself, started again
    (tmp_path / "two").mkdir()
    settings.DATA = tmp_path / "two"
    with pytest.raises(BadSetting, match="LOOPWATCH_HOST"):
        hosts.settle_name()
    lose("a")
    hosts.settle_name()


def test_a_machine_that_got_another_name_keeps_its_sessions(settings, tmp_path, new_session, world):
    stand_on(settings, "laptop", tmp_path / "data")
    hosts.settle_name()
    session = new_session()
    runner.advance(session.pk, world(BUSY), iterations=1)
    settings.HOST = "laptop.home"
    hosts.settle_name()
    runner.advance(session.pk, world(BUSY), iterations=1)
    session.refresh_from_db()
    assert (session.host, session.iteration_count) == ("laptop.home", 2)
    assert not Host.objects.filter(name="laptop").exists()


# --- pinned to a host -----------------------------------------------------------------------------


def test_a_session_stays_on_the_host_that_first_claimed_it(settings, new_session, world):
    stand_on(settings, "b")
    session = new_session()
    here = world(HONEST)
    runner.advance(session.pk, here, iterations=1)
    stand_on(settings, "a")
    assert runner.advance(session.pk, here, iterations=1) is False
    assert runner.take_turn(here) is None
    session.refresh_from_db()
    assert (session.host, session.iteration_count) == ("b", 1)
    stand_on(settings, "b")
    runner.advance(session.pk, here, iterations=1)
    session.refresh_from_db()
    assert session.iteration_count == 2


def test_a_step_that_a_silent_host_lost_is_not_recovered_elsewhere(begun):
    lose("b")
    recovery.sweep(begun.world)
    begun.refresh_from_db()
    assert begun.lease_until is not None
    assert begun.iterations.filter(ended_at=None).count() == 1


def test_a_message_that_reaches_the_wrong_host_goes_on_to_the_right_one(begun, queues):
    Session.objects.filter(pk=begun.pk).update(lease_until=None, lease_owner=None)
    tasks.run_session(begun.pk)
    assert queues("iterations.b") == 1
    assert queues("iterations") == queues("iterations.a") == 0
    begun.refresh_from_db()
    assert begun.lease_until is None


def test_a_new_sessions_message_may_be_taken_by_any_host(settings, new_session, queues):
    stand_on(settings, "a")
    session = new_session()
    assert (queues("iterations"), queues("iterations.a")) == (1, 0)
    wake.wake(session.pk)
    assert queues("iterations") == 1, "one message is enough"


def test_a_new_session_begins_where_its_repository_is(settings, new_session, world, tmp_path):
    stand_on(settings, "b")
    stand_on(settings, "a")
    session = new_session()
    assert runner.take_turn(world(HONEST)) is None  # "/nowhere" is not on this host
    session.project.repo_path = str(tmp_path)
    session.project.save()
    runner.take_turn(world(HONEST))
    session.refresh_from_db()
    assert session.host == "a"


# --- slots and turns ------------------------------------------------------------------------------


@pytest.fixture
def three(me):
    """Runnable sessions of three projects."""
    made = []
    for name in ("one", "two", "three"):
        project = tracker.create_project(name=name, repo_path="/nowhere", by=me)
        tracker.edit_requirement(project, None, text="It holds.", by=me)
        config = {**CONFIG, "limits": {"iterations": 4000}}
        session = services.create_session(project, by=me, config=config)
        Session.objects.filter(pk=session.pk).update(preflight={"refusals": []})
        session.refresh_from_db()
        services.start(session, me)
        session.refresh_from_db()
        made.append(session)
    return made


def test_with_one_slot_three_sessions_get_a_slice_in_turn(
    settings, three, queues, world, monkeypatch
):
    """One worker process, its messages taken in the order in which the broker has them."""
    settings.HOST = "a"
    monkeypatch.setattr(runner, "SLICE_SECONDS", 0.2)
    worlds = {session.pk: world(BUSY) for session in three}
    turns = []

    def equip(session):
        turns.append(session.pk)
        return worlds[session.pk](session)

    monkeypatch.setattr(tasks.stage, "equip", equip)
    for _ in range(12):
        recovery.sweep(equip)  # the clock is as eager as it can be
        assert queues("iterations") + queues("iterations.a") <= 4
        tasks.run_session(next_message("a"))
    assert turns == [session.pk for session in three] * 4
    assert all(session.iterations.count() > 1 for session in three)


def next_message(host):
    """As a worker takes it, from both its queues: the session that the message names."""
    link = redis.Redis.from_url(wake.settings.REDIS_URL)
    _queue, raw = link.brpop([wake.queue_of(host), wake.queue_of("")], timeout=5)
    [session_id], _, _ = json.loads(b64decode(json.loads(raw)["body"]))
    return session_id


def test_who_waits_says_for_what(settings, three, new_session):
    settings.SLOTS = 2
    stand_on(settings, "a")
    first, second, third = three
    assert waits(first) == "A slot is free; it goes on within seconds"
    for session in (first, second):
        assert leases.take(session.pk)
        session.refresh_from_db()
    assert waits(third) == "Waits for a slot, 2 of 2 busy"
    assert waits(first) is None
    stand_on(settings, "b")  # two more slots
    assert waits(third) == "A slot is free; it goes on within seconds"
    ahead, behind = new_session(), new_session()
    behind.refresh_from_db()
    assert waits(behind) == f"Waits behind {ahead.ref} on this project"


def test_who_waits_for_a_lost_host_says_so(begun):
    Session.objects.filter(pk=begun.pk).update(lease_until=None, lease_owner=None)
    lose("b")
    begun.refresh_from_db()
    assert waits(begun) == "Waits for the host b"


# --- going on elsewhere ---------------------------------------------------------------------------


def test_a_session_leaves_a_lost_host_with_the_cut_off_step_recorded_as_interrupted(begun, me):
    lose("b")
    moving.move(begun, "a", "me")
    begun.refresh_from_db()
    last = begun.iterations.get(number=4)
    assert (last.outcome, last.rev) == ("INTERRUPTED", begun.kept["rev"])
    assert (begun.host, begun.host_moves, begun.lease_until) == ("a", 1, None)
    assert begun.state == "running"
    moved = Transition.objects.get(session=begun, move="moved")
    assert (moved.by, moved.note) == ("me", "from host b to a")
    Session.objects.filter(pk=begun.pk).update(not_before=None)
    runner.advance(begun.pk, begun.world, iterations=2)
    numbers = list(begun.iterations.order_by("number").values_list("number", flat=True))
    assert numbers == [1, 2, 3, 4, 5, 6]


def test_the_old_host_can_never_record_again_and_ends_what_it_left(settings, begun, monkeypatch):
    process = {"host": "b", "boot_id": "x", "pid": 1, "start_ticks": 1, "mark": "m"}
    Session.objects.filter(pk=begun.pk).update(process=process)
    late = leases.Lease(begun.pk, begun.fence)
    lose("b")
    moving.move(begun, "a", "me")
    stand_on(settings, "b")
    assert Host.objects.get(name="b").leftovers == [process]
    recovery.sweep(begun.world)
    assert Host.objects.get(name="b").leftovers == []
    with pytest.raises(LeaseLost):
        runner.Drive(Session.objects.get(pk=begun.pk), late, begun.world).settle_lost()
    assert runner.take_turn(begun.world) is None
    assert runner.recover(begun.pk, begun.world) is False


def test_why_a_session_has_to_stay(settings, begun):
    with pytest.raises(Conflict, match=r"The host b lives, so S-\d+ stays there\. Pause"):
        moving.move(begun, "a", "me")
    with pytest.raises(Invalid, match="no living host 'c'; living are: a, b"):
        moving.move(begun, "c", "me")
    Host.objects.filter(name="b").update(seen_at=moment.now() - timedelta(minutes=5))
    with pytest.raises(Conflict, match="may go on for"):
        moving.move(begun, "a", "me")
    lose("b")
    Session.objects.filter(pk=begun.pk).update(kept=None)
    with pytest.raises(Conflict, match="No other host reaches a snapshot"):
        moving.move(begun, "a", "me")
    stand_on(settings, "b")
    Session.objects.filter(pk=begun.pk).update(host="")
    with pytest.raises(Conflict, match="no clone on any host yet"):
        moving.move(begun, "a", "me")
    begun.refresh_from_db()
    assert (begun.host_moves, begun.iterations.filter(ended_at=None).count()) == (0, 1)


def test_a_paused_session_may_leave_a_host_that_lives_once_its_snapshot_is_whole(
    settings, new_session, world, me
):
    settings.STORE_URL = "/somewhere"
    stand_on(settings, "a")
    stand_on(settings, "b")
    session = new_session()
    runner.advance(session.pk, world(BUSY), iterations=2)
    services.pause(session, me)
    runner.advance(session.pk, world(HONEST), iterations=1)
    session.refresh_from_db()
    kept = {"host": "b", "rev": "1", "head": "2", "head_ref": "HEAD", "snapshot": "3"}
    count = session.iteration_count
    Session.objects.filter(pk=session.pk).update(kept={**kept, "iteration": count - 1})
    with pytest.raises(Conflict, match="b has more"):
        moving.move(session, "a", "me")
    Session.objects.filter(pk=session.pk).update(kept={**kept, "iteration": count})
    moving.move(session, "a", "me")
    session.refresh_from_db()
    assert (session.state, session.host) == ("paused", "a")


def test_a_policy_moves_what_waited_long_enough_and_only_then(settings, begun):
    lose("b", minutes=4)
    recovery.sweep(begun.world)
    settings.MOVE_AFTER = 5
    recovery.sweep(begun.world)
    begun.refresh_from_db()
    assert begun.host == "b"
    lose("b", minutes=6)
    recovery.sweep(begun.world)
    begun.refresh_from_db()
    assert (begun.host, begun.iterations.get(number=4).outcome) == ("a", "INTERRUPTED")


def test_a_stop_ends_even_where_the_host_is_gone(begun, me):
    services.stop(begun, me)
    recovery.sweep(begun.world)
    begun.refresh_from_db()
    assert begun.state == "stopping", "something may still run there"
    lose("b")
    recovery.sweep(begun.world)
    begun.refresh_from_db()
    assert (begun.state, begun.end_reason) == ("ended", "stopped")
    assert begun.iterations.get(number=4).outcome == "INTERRUPTED"
