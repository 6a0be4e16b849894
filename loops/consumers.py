"""The page's socket: who may listen to what, checked when it opens and every half minute."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.http.request import split_domain_port, validate_host

from loops import live, services
from loops.hub import Viewer, hub
from tracker.access import Right, User, require, role_of, visible_projects
from tracker.errors import DomainError
from tracker.models import Project

CHECK_EVERY = 30.0  # seconds; a revoked role or a sign-out ends the socket by then
NOT_ALLOWED = 4403


class LiveConsumer(AsyncWebsocketConsumer):
    """Sends frames (see loops.hub); what the page sends is ignored."""

    topic = ""
    _tasks: tuple[asyncio.Task[None], ...] = ()

    async def connect(self) -> None:
        if not is_same_origin(self.scope) or not await self._is_allowed():
            await self.close()
            return
        await self.accept()
        self._viewer = Viewer(self._pass_on)
        self.topic = topic_of(self.scope)
        self._tasks = (
            asyncio.create_task(self._viewer.run()),
            asyncio.create_task(self._watch()),
        )
        await hub().join(self.topic, self._viewer)

    async def disconnect(self, code: int) -> None:
        if self.topic:
            hub().leave(self.topic, self._viewer)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pass_on(self, text: str) -> None:
        # Straight to the server: send() would look for a close code each time.
        await self.base_send({"type": "websocket.send", "text": text})

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY)
            if not await self._is_allowed():
                hub().leave(self.topic, self._viewer)
                with suppress(Exception):  # it may be gone already
                    await self.close(NOT_ALLOWED)
                return

    @database_sync_to_async
    def _is_allowed(self) -> bool:
        return may_listen(user_of(self.scope), self.scope["url_route"]["kwargs"])


def topic_of(scope: dict[str, Any]) -> str:
    kwargs = scope["url_route"]["kwargs"]
    if "session" in kwargs:
        return live.session_topic(kwargs["session"])
    if "project" in kwargs:
        return live.project_topic(kwargs["project"])
    return live.ALL


def may_listen(user: User, kwargs: dict[str, int]) -> bool:
    """The same guard as the pages': SEE in the project; any role for the lists of all."""
    try:
        if "session" in kwargs:
            require(user, Right.SEE, services.get_session(kwargs["session"]).project)
        elif "project" in kwargs:
            require(user, Right.SEE, Project.objects.filter(pk=kwargs["project"]).first())
        else:
            return role_of(user, None) is not None or visible_projects(user).exists()
    except DomainError:
        return False
    return True


def user_of(scope: dict[str, Any]) -> User:
    """Who the session cookie says it is, read anew each time."""
    cookies: SimpleCookie = SimpleCookie()
    with suppress(CookieError):
        cookies.load(_header(scope, b"cookie"))
    found = cookies.get(settings.SESSION_COOKIE_NAME)
    store = import_module(settings.SESSION_ENGINE).SessionStore(found.value if found else None)
    return get_user(SimpleNamespace(session=store))


def is_same_origin(scope: dict[str, Any]) -> bool:
    """A page of this very host and port opened it: browsers send cookies with sockets that any
    other site opens, and every program on this machine has an origin on another port."""
    host, origin = _header(scope, b"host"), _header(scope, b"origin")
    domain, _port = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    is_own = urlsplit(origin).scheme in ("http", "https") and urlsplit(origin).netloc == host
    return is_own or origin in settings.CSRF_TRUSTED_ORIGINS


def _header(scope: dict[str, Any], name: bytes) -> str:
    return next((v.decode("latin1") for k, v in scope["headers"] if k == name), "")
