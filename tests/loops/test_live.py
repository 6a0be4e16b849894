"""Live updates from the commit to the viewer, with the real broker."""

from __future__ import annotations

import asyncio
import json

import pytest
import redis
from asgiref.sync import sync_to_async
from django.db import transaction

from loops import hub as hubs
from loops import journal, live, services
from loops.engine.lifecycle import Move
from loops.heartbeat import Heartbeat
from loops.hub import Hub, Viewer
from loops.models import Session
from loops.moment import now
from tests.conftest import Broker
from tracker import services as tracker

pytestmark = pytest.mark.once


@pytest.fixture
def wire(live_broker):
    """What is published, as a list that grows; the broker is empty before."""
    client = redis.Redis.from_url(live_broker)
    client.flushall()
    subscription = client.pubsub(ignore_subscribe_messages=True)
    subscription.subscribe(live.CHANNEL)
    subscription.get_message(timeout=2)

    def heard(within: float = 0.3) -> list[str]:
        said = []
        while message := subscription.get_message(timeout=within):
            said.append(message["data"].decode())
        return said

    yield heard
    subscription.close()
    client.close()


# --- publishing ----------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_nothing_is_said_before_the_commit_and_nothing_after_a_rollback(wire):
    with transaction.atomic():
        live.session_changed(7, 3, ["status"])
        assert wire() == []
    assert wire() == ['session-7=1 project-3=1 all=1 {"parts":["status"]}']
    with transaction.atomic():
        live.session_changed(7, 3, ["rows"])
        transaction.set_rollback(True)
    with transaction.atomic():
        live.session_changed(7, 3, ["why"])
    assert wire() == ['session-7=2 project-3=2 all=2 {"parts":["why"]}']


@pytest.mark.django_db(transaction=True)
def test_one_transaction_says_the_same_topics_once(wire):
    with transaction.atomic():
        for part in ("status", "rows", "status"):
            live.session_changed(7, 3, [part])
    assert wire() == ['session-7=1 project-3=1 all=1 {"parts":["status","rows"]}']


@pytest.mark.django_db(transaction=True)
def test_a_broken_broker_fails_no_transaction_and_costs_next_to_nothing(settings, tmp_path, me):
    settings.REDIS_URL = f"unix://{tmp_path}/nothing.sock"
    live._rests_until = float("-inf")
    with transaction.atomic():
        tracker.create_project(name="kept", repo_path="/nowhere", by=me)
        live.session_changed(7, 3, ["status"])
    assert tracker.get_project("kept")
    assert live.sequences(["all"]) is None
    assert live.sequence("all") == 0


@pytest.mark.django_db(transaction=True)
def test_what_people_do_is_said_to_every_page_that_shows_it(wire, new_session, project, me):
    session = new_session()
    wire()
    tracker.file_task(project, by=me, title="Add a file")
    [said] = wire()
    names = {word.partition("=")[0] for word in said.partition(" {")[0].split()}
    assert names == {f"session-{session.pk}", f"project-{project.pk}", "all"}
    assert "why" in said
    services.stop(session, me)
    assert "status" in wire()[0]


def test_output_that_is_too_long_for_a_message_is_only_announced():
    pieces = [{"iteration": 2, "seq": n, "text": "x" * 30_000} for n in (1, 2, 3)]
    assert live.bounded(pieces[:2]) == pieces[:2]
    assert live.bounded(pieces) == [{"iteration": 2, "seq": 3}]
    both = [*pieces, {"iteration": 3, "seq": 1, "text": "x"}]
    assert live.bounded(both) == [{"iteration": 2, "seq": 3}, {"iteration": 3, "seq": 1}]


# --- the clock -----------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_what_was_committed_and_never_said_is_said_by_the_clock(wire, new_session):
    session, heart = new_session(), Heartbeat()

    def beat() -> list[str]:
        heart.looked_at = float("-inf")
        heart.beat(now())
        return [said for said in wire() if not said.startswith("engine=")]

    wire()
    assert beat() == []  # the first look
    assert beat() == []  # nothing changed
    Session.objects.filter(pk=session.pk).update(state="paused")  # by who died before saying so
    [said] = beat()
    assert said.startswith(f"session-{session.pk}=")
    assert beat() == []
    with transaction.atomic():
        journal.move(Session.objects.get(pk=session.pk), Move.RESUME, by="me", at=now())
    assert len(wire()) == 1
    assert beat() == []  # it was said


@pytest.mark.django_db(transaction=True)
def test_the_clock_gives_a_sign_of_life(wire):
    Heartbeat().beat(now())
    assert [said.partition("=")[0] for said in wire()] == ["engine"]


# --- the hub -------------------------------------------------------------------------------------


class Page:
    """A viewer that remembers its frames."""

    def __init__(self) -> None:
        self.frames: list[dict] = []
        self.open = asyncio.Event()
        self.open.set()
        self.viewer = Viewer(self._take)
        self.task = asyncio.create_task(self.viewer.run())

    async def _take(self, text: str) -> None:
        await self.open.wait()
        self.frames.append(json.loads(text))

    def of(self, *names: str) -> list[dict]:
        return [frame for frame in self.frames if any(name in frame for name in names)]

    async def until(self, *names: str, within: float = 10) -> list[dict]:
        async with asyncio.timeout(within):
            while not self.of(*names):
                await asyncio.sleep(0.01)
        return self.of(*names)


async def say(*args) -> None:
    await sync_to_async(live.send, thread_sensitive=False)(*args)


def parts(*names: str) -> str:
    return json.dumps({"parts": names})


async def open_page(hub: Hub, topic: str) -> Page:
    page = Page()
    await hub.join(topic, page.viewer)
    return page


def in_loop(test):
    """Run an async test without a database, its hub closed at the end."""

    def run(broker, wire):
        async def main():
            hub = Hub(broker)
            try:
                async with asyncio.timeout(40):
                    await test(hub)
            finally:
                await hub.close()

        asyncio.run(main())

    run.__name__ = test.__name__
    return run


@in_loop
async def test_a_page_is_told_where_the_topic_stands_and_then_each_change_of_it(hub):
    await say(("session-7", "all"), parts("status"))
    page, other = await open_page(hub, "session-7"), await open_page(hub, "session-8")
    assert await page.until("hello") == [{"hello": True, "seq": 1}]
    await say(("session-7", "all"), parts("rows"))
    assert await page.until("parts") == [{"seq": 2, "after": 1, "parts": ["rows"]}]
    assert other.of("parts") == []


@in_loop
async def test_many_changes_arrive_in_order_in_at_most_ten_frames_a_second(hub):
    page = await open_page(hub, "session-7")
    began = asyncio.get_running_loop().time()
    for n in range(200):
        piece = {"iteration": 1, "seq": n, "text": str(n), "at": "", "clock": ""}
        await say(("session-7",), json.dumps({"output": [piece]}))
    while page.frames[-1].get("seq") != 200:
        await asyncio.sleep(0.01)
    took = asyncio.get_running_loop().time() - began
    frames = page.of("output")
    assert [p["seq"] for frame in frames for p in frame["output"]] == list(range(200))
    assert len(frames) <= took * 10 + 2
    stands = [0, *(frame["seq"] for frame in frames)]
    assert [frame["after"] for frame in frames] == stands[:-1]


@in_loop
async def test_a_lost_message_shows_in_the_next_frame(hub):
    page = await open_page(hub, "session-7")
    await say(("session-7",), parts("status"))
    await page.until("parts")
    client = redis.asyncio.Redis.from_url(hub._url)
    await client.incr(live.key_of("session-7"))  # counted, and never published
    await client.aclose()
    await say(("session-7",), parts("rows"))
    while len(page.of("parts")) < 2:
        await asyncio.sleep(0.01)
    assert page.of("parts")[1] == {"seq": 3, "after": None, "parts": ["rows"]}


@in_loop
async def test_a_beat_every_second_says_where_the_topic_stands(hub):
    page = await open_page(hub, "session-7")
    client = redis.asyncio.Redis.from_url(hub._url)
    await client.incr(live.key_of("session-7"))
    await client.aclose()
    assert (await page.until("beat", within=5))[0] == {"beat": True, "seq": 1}


@in_loop
async def test_the_sign_of_life_of_the_clock_reaches_every_page(hub):
    pages = [await open_page(hub, "session-7"), await open_page(hub, "all")]
    await sync_to_async(live.engine_ticked, thread_sensitive=False)()
    for page in pages:
        await page.until("engine")


@in_loop
async def test_a_viewer_that_is_too_slow_holds_up_nobody_and_is_told_that_it_lagged(hub):
    slow, quick = await open_page(hub, "session-7"), await open_page(hub, "session-7")
    slow.open.clear()
    topic = hub._topics["session-7"]
    for n in range(3 * hubs.LONGEST_QUEUE):
        topic.push(json.dumps({"seq": n}))
        await asyncio.sleep(0)
    assert len(slow.viewer._queue) <= hubs.LONGEST_QUEUE
    assert not quick.of("lagged")
    assert len([f for f in quick.frames if "beat" not in f and "hello" not in f]) == 192
    slow.open.set()
    await slow.until("lagged")
    assert slow.frames[-1] == {"seq": 191}


@in_loop
async def test_a_viewer_that_left_costs_nothing_any_more(hub):
    page = await open_page(hub, "session-7")
    hub.leave("session-7", page.viewer)
    hub.leave("session-7", page.viewer)
    assert hub._topics == {}
    await say(("session-7",), parts("rows"))
    await asyncio.sleep(0.3)
    assert page.of("parts") == []


def test_after_a_restart_of_the_broker_pages_are_told_to_fetch_and_go_on(own_broker):
    async def main():
        hub = Hub(own_broker.url)
        page = await open_page(hub, "session-7")
        await page.until("hello")
        await asyncio.to_thread(own_broker.kill)
        await asyncio.sleep(1.5)
        beats = len(page.of("beat"))
        await asyncio.sleep(1.5)
        assert len(page.of("beat")) == beats, "a page without a broker must not look live"
        await asyncio.to_thread(own_broker.start)
        await page.until("resync")
        client = redis.asyncio.Redis.from_url(own_broker.url)
        seq = int(await client.incr(live.key_of("session-7")))
        await client.publish(live.CHANNEL, f'session-7={seq} {{"parts":["rows"]}}')
        await client.aclose()
        assert (await page.until("parts"))[0]["seq"] == seq
        await hub.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_page_that_opens_while_the_broker_is_away_hears_when_it_is_back(own_broker):
    own_broker.kill()

    async def main():
        hub = Hub(own_broker.url)
        page = await open_page(hub, "session-7")
        assert page.frames == []
        await asyncio.to_thread(own_broker.start)
        assert await page.until("resync")
        await hub.close()

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.fixture
def own_broker(tmp_path):
    """A server that a test may kill and start again."""
    with Broker(tmp_path) as server:
        yield server
