"""What All loops promises: the answer first, and a way on where there is nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from loops import hosts, services
from loops.engine.values import Role
from loops.models import Session
from tests.escalations.test_session_page import text_of
from tests.loops import behaviours as act
from tests.loops.behaviours import HONEST
from tracker import services as tracker

pytestmark = pytest.mark.django_db(transaction=True)


def test_before_the_first_loop_there_are_ways_on(admin, viewer):
    page = admin.get("/")
    assert "No loop has run yet" in text_of(page)
    assert 'action="/demo/"' in page.content.decode()
    assert 'href="/projects/new/"' in page.content.decode()
    assert 'action="/demo/"' not in viewer.get("/").content.decode()


def test_what_waits_for_a_person_comes_first(operator, new_session, project, me, world, run):
    run(new_session(), world({**HONEST, Role.WORKER: act.cheat}))
    config = {"agents": {"worker": {"argv": ["true"]}, "reviewer": {"argv": ["true"]}}}
    services.create_session(project, by=me, config=config)
    page = text_of(operator.get("/"))
    assert "1 loop waits for a decision, none is running" in page
    assert "It holds a loop up" in page
    assert page.rindex("Waiting for human") < page.rindex("Draft")
    assert page.index("Waiting for a person") < page.index("Active")


def test_ended_loops_are_shown_for_a_day(operator, new_session, world, run):
    session = run(new_session(), world(HONEST))
    assert "Nothing had to be done" in text_of(operator.get("/"))
    Session.objects.filter(pk=session.pk).update(ended_at=timezone.now() - timedelta(hours=25))
    assert "Nothing had to be done" not in text_of(operator.get("/"))


def test_a_second_session_says_behind_which_one_it_waits(operator, new_session, world, run):
    first = run(new_session(), world({**HONEST, Role.WORKER: act.cheat}))
    second = new_session()
    page = text_of(operator.get("/"))
    assert f"Waits behind {first.ref} on this project" in page
    assert f"Waits behind {first.ref}" in text_of(operator.get(f"/sessions/{second.pk}/"))


def test_only_visible_projects_are_counted(sign_in, new_session, world, run, me):
    run(new_session(), world({**HONEST, Role.WORKER: act.cheat}))
    tracker.create_project(name="other", repo_path="/elsewhere", by=me)
    page = text_of(sign_in(None).get("/"))
    assert "You see no project yet" in page
    assert "demo" not in page


def test_the_age_of_the_engine_is_on_the_page(operator, new_session):
    new_session()
    assert "Engine silent" in text_of(operator.get("/"))
    hosts.beat(timezone.now())
    html = operator.get("/").content.decode()
    assert "data-engine-banner hidden" in html


def test_the_part_is_what_the_page_includes(operator, new_session):
    new_session()
    part = operator.get("/parts/index/").content.decode().strip()
    assert part.startswith('<div data-part="index">')
    assert "<html" not in part
