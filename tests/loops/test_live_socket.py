"""Who may listen: the socket asks the same guard as the pages, and only pages of this host."""

from __future__ import annotations

import asyncio
import json

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth import get_user_model
from django.test import Client

from loops import consumers, live
from loops.asgi import application
from loops.hub import hub
from tracker.services import members

pytestmark = pytest.mark.django_db(transaction=True)
HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"


@pytest.fixture
def cookie(db, settings):
    """Make a person with a role and sign them in: what the browser would send."""

    def make(name: str, role: str = "", project=None) -> str:
        client = Client()
        client.force_login(members.known_user(name))
        if role:
            members.grant(name, role, project)
        return client.cookies[settings.SESSION_COOKIE_NAME].value

    return make


class Socket(ApplicationCommunicator):
    """What uvicorn would make of a browser's socket."""

    def __init__(self, path: str, cookie: str = "", origin: str = ORIGIN, host: str = HOST) -> None:
        headers = [(b"host", host.encode()), (b"cookie", f"loopwatch_session={cookie}".encode())]
        if origin:
            headers.append((b"origin", origin.encode()))
        super().__init__(application, {"type": "websocket", "path": path, "headers": headers})

    async def opens(self) -> bool:
        await self.send_input({"type": "websocket.connect"})
        return (await self.receive_output(timeout=20))["type"] == "websocket.accept"

    async def frame(self) -> dict:
        return json.loads((await self.receive_output(timeout=10))["text"])

    async def close(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.wait(timeout=10)
        await hub().close()


def opens(path: str, cookie: str = "", **changed: str) -> bool:
    async def main() -> bool:
        one = Socket(path, cookie, **changed)
        try:
            return await one.opens()
        finally:
            await one.close()

    return asyncio.run(main())


def test_who_may_see_a_project_may_listen_to_its_sessions(live_broker, new_session, cookie):
    session = new_session()
    viewer = cookie("eve", "viewer", session.project)
    for path in (f"session/{session.pk}/", f"project/{session.project_id}/", ""):
        assert opens(f"/live/{path}", viewer)


def test_nobody_else_may(live_broker, new_session, cookie):
    session = new_session()
    for path in (f"session/{session.pk}/", f"project/{session.project_id}/", ""):
        assert not opens(f"/live/{path}")
        assert not opens(f"/live/{path}", "made-up")
        assert not opens(f"/live/{path}", cookie("eve"))


def test_what_is_not_there_is_refused_like_what_is_forbidden(cookie):
    admin = cookie("me", "admin")
    for path in ("/live/session/999/", "/live/session/x/", "/elsewhere/"):
        assert not opens(path, admin)
    assert not opens("/live/project/999/", cookie("eve", "viewer", None) and cookie("zoe"))


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://evil.example",
        "http://127.0.0.1:9999",  # another program on this machine
        "http://127.0.0.1",
        "http://127.0.0.1:8000.evil.example",
        "file://127.0.0.1:8000",
    ],
)
def test_a_page_of_another_origin_gets_nothing_though_the_browser_sends_the_cookie(origin, cookie):
    assert not opens("/live/", cookie("me", "admin"), origin=origin)


def test_a_name_that_is_not_ours_gets_nothing(cookie):
    evil = "rebound.example:8000"
    assert not opens("/live/", cookie("me", "admin"), origin=f"http://{evil}", host=evil)


def test_behind_a_proxy_with_tls_the_public_origin_counts(live_broker, cookie, settings):
    settings.CSRF_TRUSTED_ORIGINS = ["https://loops.example.org"]
    assert opens("/live/", cookie("me", "admin"), origin="https://loops.example.org")


def test_frames_arrive_on_the_socket(live_broker, new_session, cookie):
    session, admin = new_session(), cookie("me", "admin")
    topic = live.session_topic(session.pk)

    async def main() -> list[dict]:
        one = Socket(f"/live/session/{session.pk}/", admin)
        assert await one.opens()
        frames = [await one.frame()]
        await sync_to_async(live.send, thread_sensitive=False)((topic,), '{"parts":["why"]}')
        while "parts" not in frames[-1] and len(frames) < 9:
            frames.append(await one.frame())
        await one.close()
        return frames

    frames = asyncio.run(main())
    assert "hello" in frames[0]
    assert frames[-1]["parts"] == ["why"]
    assert frames[-1]["after"] == frames[0]["seq"]


@pytest.mark.parametrize("how", ["revoked", "left", "signed out"])
def test_a_socket_ends_when_its_right_does(how, live_broker, cookie, settings, monkeypatch):
    monkeypatch.setattr(consumers, "CHECK_EVERY", 0.2)
    key = cookie("eve", "viewer")

    def end() -> None:
        if how == "revoked":
            members.revoke("eve", None)
        elif how == "left":
            get_user_model().objects.filter(username="eve").update(is_active=False)
        else:
            client = Client()
            client.cookies[settings.SESSION_COOKIE_NAME] = key
            client.post("/logout/")

    async def main() -> dict:
        one = Socket("/live/", key)
        assert await one.opens()
        await sync_to_async(end)()
        while (said := await one.receive_output(timeout=10))["type"] != "websocket.close":
            pass
        await one.close()
        return said

    assert asyncio.run(main())["code"] == consumers.NOT_ALLOWED
