"""The baseline of tests.benchmarks.fanout: a consumer in a group, as Channels' tutorial writes it.

Its layer is the one in memory, the cheapest that Channels has, with room enough to drop nothing; a
task of the same process hears the broker and calls group_send.
"""

from __future__ import annotations

import asyncio
import os

import redis.asyncio
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from django.conf import settings
from django.urls import path

settings.configure(
    CHANNEL_LAYERS={
        "default": {
            "BACKEND": "channels.layers.InMemoryChannelLayer",
            "CONFIG": {"capacity": 100_000},
        }
    }
)
_relays: list[asyncio.Task[None]] = []


class Consumer(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        self.group = f"session-{self.scope['url_route']['kwargs']['session']}"
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        if not _relays:
            _relays.append(asyncio.create_task(relay()))

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(self.group, self.channel_name)

    async def changed(self, message: dict[str, str]) -> None:
        await self.send(text_data=message["text"])


async def relay() -> None:
    layer = get_channel_layer()
    async with redis.asyncio.Redis.from_url(os.environ["REDIS_URL"]) as broker:
        subscription = broker.pubsub(ignore_subscribe_messages=True)
        await subscription.subscribe("loopwatch:live")
        async for message in subscription.listen():
            head, brace, body = message["data"].decode().partition("{")
            group = head.partition("=")[0]
            await layer.group_send(group, {"type": "changed", "text": brace + body})


application = URLRouter([path("live/session/<int:session>/", Consumer.as_asgi())])
