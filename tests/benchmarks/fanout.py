"""Live updates to many pages: deliveries per second, and the server's CPU for each of them.

One web server process (uvicorn) with the product's own sockets, guard included; one publisher;
VIEWERS sockets in a process of their own. The baseline is a plain Channels consumer with
group_send (tests.benchmarks.plain_channels) in the same run, with the same messages.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import redis

from tests.benchmarks.figures import say
from tests.conftest import TOP, Broker, plain_environment

SESSIONS, VIEWERS_EACH, RATE, SECONDS = 20, 20, 9, 8.0  # RATE: messages a second and session
PARTS = [f"part-of-the-page-{n}" for n in range(12)]  # about 300 characters


def prepare(data: Path) -> tuple[str, list[int]]:
    """A database with sessions and somebody who may see them: the cookie, the sessions' ids."""
    os.environ["LOOPWATCH_DATA"] = str(data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "loops.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from django.test import Client

    from loops import services
    from tracker import services as tracker
    from tracker.services import members

    me = tracker.person("benchmark")
    project = tracker.create_project(name="fanout", repo_path="/nowhere", by=me)
    tracker.edit_requirement(project, None, text="It works.", by=me)
    agent = {"argv": ["true"]}
    config = {"agents": {"worker": agent, "reviewer": agent}}
    ids = [services.create_session(project, by=me, config=config).pk for _ in range(SESSIONS)]
    members.grant("benchmark", "admin", None)
    client = Client()
    client.force_login(members.known_user("benchmark"))
    return client.cookies["loopwatch_session"].value, ids


def watch(port: int, cookie: str, ids: list[int], pipe: Any) -> None:
    """The viewers: says when all are there, then how many frames came and how late they were."""

    counted: list[tuple[float, float]] = []  # came at, was said at

    async def one(session: int, ready: asyncio.Queue[int]) -> None:
        from websockets.asyncio.client import connect

        async with connect(
            f"ws://127.0.0.1:{port}/live/session/{session}/",
            origin=f"http://127.0.0.1:{port}",
            additional_headers={"Cookie": f"loopwatch_session={cookie}"},
            compression=None,
            open_timeout=60,
        ) as link:
            ready.put_nowait(1)
            async for text in link:
                if "parts" in text:
                    counted.append((time.time(), json.loads(text)["parts"][0]))

    async def main() -> None:
        ready: asyncio.Queue[int] = asyncio.Queue()
        tasks = []
        for n in range(SESSIONS * VIEWERS_EACH):
            tasks.append(asyncio.create_task(one(ids[n % SESSIONS], ready)))
            await ready.get()
        pipe.send("ready")
        await asyncio.to_thread(pipe.recv)
        while True:  # a server that is behind gets the time to catch up
            known = len(counted)
            await asyncio.sleep(1.5)
            if len(counted) == known:
                break
        pipe.send(counted)
        for task in tasks:
            task.cancel()

    asyncio.run(main())


def measure(app: str, data: Path, url: str, cookie: str, ids: list[int]) -> dict[str, Any]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [sys.executable, "-m", "uvicorn", app, "--port", str(port), "--log-level", "warning",
            "--ws", "websockets-sansio", "--ws-per-message-deflate", "false",
            "--lifespan", "off"]  # fmt: skip
    env = plain_environment(LOOPWATCH_DATA=str(data), REDIS_URL=url)
    server = subprocess.Popen(argv, env=env, cwd=TOP)
    here, there = multiprocessing.Pipe()
    viewers = multiprocessing.get_context("fork").Process(
        target=watch, args=(port, cookie, ids, there)
    )
    try:
        wait_for(port)
        viewers.start()
        assert here.recv() == "ready"
        time.sleep(1)
        spent, began = cpu(server.pid), time.time()
        publish(url, ids)
        here.send("stop")
        counted = here.recv()
        spent = cpu(server.pid) - spent
    finally:
        server.kill()
        server.wait()
        viewers.kill()
        viewers.join()
    late = sorted(came - said for came, said in counted)
    took = max(came for came, _ in counted) - began
    wanted = int(SECONDS * RATE) * SESSIONS * VIEWERS_EACH
    return {
        "delivered_per_second": round(len(late) / took),
        "delivered_share": round(len(late) / wanted, 3),
        "cpu_us_per_delivery": round(1e6 * spent / len(late), 1),
        "late_ms_median": round(1000 * late[len(late) // 2], 1),
        "late_ms_99th": round(1000 * late[int(len(late) * 0.99)], 1),
    }


def publish(url: str, ids: list[int]) -> None:
    """RATE messages a second for each session, spread evenly. The first part is the time."""
    broker = redis.Redis.from_url(url)
    began = time.time()
    for turn in range(int(SECONDS * RATE)):
        for place, session in enumerate(ids):
            due = began + turn / RATE + place / RATE / len(ids)
            time.sleep(max(0.0, due - time.time()))
            body = json.dumps({"parts": [time.time(), *PARTS]})
            broker.publish("loopwatch:live", f"session-{session}={turn + 1} {body}")


def cpu(pid: int) -> float:
    return sum(psutil.Process(pid).cpu_times()[:2])


def wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError("the server does not listen")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="loopwatch-fanout-") as folder:
        data = Path(folder) / "data"
        cookie, ids = prepare(data)
        with Broker(data) as broker:
            plain, ours = (
                measure(app, data, broker.url, cookie, ids)
                for app in ("tests.benchmarks.plain_channels:application", "loops.asgi:application")
            )
    say(
        {
            "benchmark": "fanout",
            "figure": ours["cpu_us_per_delivery"],
            "unit": "µs of server CPU per delivery",
            "baseline": plain["cpu_us_per_delivery"],
            "ratio": round(plain["cpu_us_per_delivery"] / ours["cpu_us_per_delivery"], 2),
            "viewers": SESSIONS * VIEWERS_EACH,
            "messages_per_second": SESSIONS * RATE,
            "loopwatch": ours,
            "channels_group_send": plain,
        },
        __doc__ or "",
    )


if __name__ == "__main__":
    main()
