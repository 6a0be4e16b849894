"""A project with two requirements, and sessions on it that live in memory (see world.py)."""

from __future__ import annotations

import pytest

from loops import live, services
from loops.models import Session
from tests.loops.world import World
from tracker import services as tracker

CONFIG = {"agents": {"worker": {"argv": ["true"]}, "reviewer": {"argv": ["true"]}}}


@pytest.fixture
def live_broker(settings, broker, monkeypatch):
    """The real broker carries live updates in this test; its URL."""
    settings.REDIS_URL = broker
    monkeypatch.setattr(live, "_rests_until", float("-inf"))
    return broker


@pytest.fixture
def me(db):
    return tracker.person("me")


@pytest.fixture
def project(me):
    made = tracker.create_project(name="demo", repo_path="/nowhere", by=me)
    tracker.edit_requirement(made, None, text="The file a.txt is there.", by=me)
    tracker.edit_requirement(made, None, text="No file holds the word bad.", by=me)
    return made


@pytest.fixture
def new_session(project, me):
    """Make and start a session; keyword arguments change its configuration."""

    def make(**changes) -> Session:
        session = services.create_session(project, by=me, config={**CONFIG, **changes})
        Session.objects.filter(pk=session.pk).update(preflight={"refusals": []})
        session.refresh_from_db()
        services.start(session, me)
        return session

    return make


@pytest.fixture
def world():
    return World
