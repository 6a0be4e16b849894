"""The pages hold up with real rows too: sessions that really ran."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from escalations.models import Escalation
from loops import runner, services
from loops.engine.values import Role
from loops.models import Iteration, OutputPiece, Session
from tests.browser.stage import AUDIT, browser
from tests.browser.test_pages import WIDTHS
from tests.conftest import require
from tests.loops import behaviours as act
from tests.loops.behaviours import HONEST
from tests.loops.conftest import CONFIG, me, new_session, project, world  # noqa: F401
from tracker import services as tracker
from tracker.services import members

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
LONG = "A title that nobody kept short, with a_name_that_has_no_place_to_break_" + "x" * 60


@pytest.fixture
def rows(new_session, project, me, world) -> dict[str, int]:  # noqa: F811
    """One ended session, one that waits, one queued behind it, a draft; long words everywhere."""
    ended = new_session()
    w = world(HONEST)
    w.workspace.files["b.txt"] = "this is bad"
    runner.advance(ended.pk, w)
    tracker.edit_requirement(project, "R-1", text=LONG, by=me)
    waiting = new_session()
    tracker.file_task(project, by=me, title=LONG, text=LONG)
    runner.advance(waiting.pk, world({**HONEST, Role.WORKER: act.blocker}))
    _talk(Iteration.objects.filter(session=waiting).latest("number"))
    draft = services.create_session(project, by=me, config=CONFIG, goal=LONG)
    services.save_agent("my-worker", {"argv": ["true"]})
    return {
        "ended": ended.pk,
        "waiting": waiting.pk,
        "queued": new_session().pk,
        "draft": draft.pk,
        "asked": Escalation.objects.get().pk,
    }


def _talk(one: Iteration) -> None:
    text = f"a line\n{LONG}\n" * 40
    OutputPiece.objects.create(iteration=one, seq=9, offset=0, text=text, at=timezone.now())
    Session.objects.filter(pk=one.session_id).update(held_until=timezone.now() + timedelta(hours=1))


@pytest.fixture
def cookie(rows) -> dict[str, str]:
    members.grant("ada", "admin", None)
    client = Client()
    client.force_login(members.known_user("ada"))
    return {
        "name": settings.SESSION_COOKIE_NAME,
        "value": client.cookies[settings.SESSION_COOKIE_NAME].value,
    }


def test_the_pages_pass_the_audit_with_real_rows(live_server, rows, cookie) -> None:
    require("chromium")
    ended, waiting = f"/sessions/{rows['ended']}/", f"/sessions/{rows['waiting']}/"
    paths = (
        "/", ended, waiting, f"{waiting}?show=prompt", f"{ended}iterations/1/?show=files",
        f"{ended}?show=diff", f"/sessions/{rows['queued']}/", f"/sessions/{rows['draft']}/",
        "/queue/", "/queue/?show=decided", f"/queue/{rows['asked']}/", "/sessions/new/",
        "/agents/new/", "/settings/agents/", "/settings/prices/", "/settings/secrets/",
        "/welcome/", "/nothing/here/", f"{ended}history/?at=2", f"{ended}replay/",
        f"{ended}fork/?at=2", f"/sessions/compare/?a={rows['ended']}&b={rows['waiting']}",
        "/sessions/compare/",
    )  # fmt: skip
    found, faults = [], []
    # Opened here, not by a fixture: the database may not be used while its event loop runs.
    with browser() as chromium:
        context = chromium.new_context()
        context.add_cookies([{**cookie, "url": live_server.url}])
        page = context.new_page()
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.on("console", lambda said: faults.append(said.text) if _is_fault(said) else None)
        for path in paths:
            page.goto(live_server.url + path)
            found += [f"{path} {said}" for said in _audited(page)]
    assert not found, "\n".join(found)
    assert not faults, "the browser complained, or the content policy was broken"


def _audited(page) -> Iterator[str]:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            said = page.evaluate(AUDIT)
            if said != "clean":
                yield f"{width} {theme}: {said}"


def _is_fault(said) -> bool:
    """This server has no sockets, and one of the pages is meant to be missing."""
    expected = ("WebSocket", "404")
    return said.type == "error" and not any(word in said.text for word in expected)
