"""What uvicorn serves: pages, static files and the pages' sockets."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loops.settings")
pages = get_asgi_application()  # before anything that needs models

from loops.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": ASGIStaticFilesHandler(pages),
        "websocket": URLRouter(websocket_urlpatterns),
    }
)
