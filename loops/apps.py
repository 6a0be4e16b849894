from django.apps import AppConfig


class LoopsConfig(AppConfig):
    name = "loops"
