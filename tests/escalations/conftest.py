"""The in-memory world of tests/loops, and browsers of people with different roles."""

from __future__ import annotations

import pytest
from django.test import Client

from loops import runner
from loops.models import Session
from tests.loops.conftest import me, new_session, project, world  # noqa: F401
from tracker.services import members


@pytest.fixture
def sign_in(project):  # noqa: F811
    """A browser of somebody with that role in the project; None = no role at all."""

    def make(role: str | None, name: str = "") -> Client:
        name = name or role or "nobody"
        client = Client()
        if role:
            members.grant(name, role, project)
        client.force_login(members.known_user(name))
        return client

    return make


@pytest.fixture
def operator(sign_in):
    return sign_in("operator", "olga")


@pytest.fixture
def viewer(sign_in):
    return sign_in("viewer", "vera")


@pytest.fixture
def admin(project):  # noqa: F811
    client = Client()
    members.grant("ada", "admin", None)
    client.force_login(members.known_user("ada"))
    return client


@pytest.fixture
def run():
    """Run a session until it cannot go on by itself; waits are skipped."""

    def to_its_end(session: Session, equipment, most: int = 60) -> Session:
        for _ in range(most):
            Session.objects.filter(pk=session.pk).update(not_before=None)
            more = runner.advance(session.pk, equipment, iterations=1)
            session.refresh_from_db()
            if not more and (session.state not in ("queued", "running") or session.lease_until):
                return session
        pytest.fail("the session still runs")

    return to_its_end
