"""Sockets."""

from channels.generic.websocket import AsyncWebsocketConsumer
from django.urls import path, re_path

from loops.consumers import LiveConsumer


class Nowhere(AsyncWebsocketConsumer):
    """Refuses every other path; without it each one would be an error in the log."""

    async def connect(self) -> None:
        await self.close()


websocket_urlpatterns = [
    path("live/", LiveConsumer.as_asgi()),
    path("live/session/<int:session>/", LiveConsumer.as_asgi()),
    path("live/project/<int:project>/", LiveConsumer.as_asgi()),
    re_path("", Nowhere.as_asgi()),
]
