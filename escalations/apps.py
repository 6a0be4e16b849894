from importlib import import_module

from django.apps import AppConfig


class EscalationsConfig(AppConfig):
    name = "escalations"

    def ready(self) -> None:
        import_module("escalations.receivers")
