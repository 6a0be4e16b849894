"""Composition of every app's pages."""

urlpatterns: list = []
