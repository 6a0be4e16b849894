"""What uvicorn serves."""

import os

from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loops.settings")

application = ASGIStaticFilesHandler(get_asgi_application())
