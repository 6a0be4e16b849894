from importlib import import_module

from django.apps import AppConfig

from loops.celery import app as celery_app

__all__ = ["LoopsConfig", "celery_app"]


class LoopsConfig(AppConfig):
    name = "loops"

    def ready(self) -> None:
        import_module("loops.receivers")
