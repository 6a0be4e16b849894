"""Tracker and spec hold up with real rows, as the browser shows them while a loop runs.

LOOPWATCH_SHOTS=FOLDER keeps a picture of every page in three looks.
"""

from __future__ import annotations

import mimetypes
import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser import rows
from tests.browser.stage import _STATIC, AUDIT, ORIGIN, browser
from tests.browser.test_pages import WIDTHS
from tests.conftest import require
from tests.loops.pages_kit import sign_in
from tracker import services as tracker
from tracker.models import Project

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
LOOKS = (("light", 1440, 900), ("dark", 1440, 900), ("light", 390, 844))
BOARD, SPECS = "/p/csvlane/tracker/", "/p/csvlane/specs/"


@pytest.fixture(scope="module")
def chromium():
    require("chromium")
    # The browser's event loop runs in this thread, and so does the database, one after the other.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with browser() as one:
        yield one
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


class Site:
    """The pages by Django's client, in the browser: forms are sent, scripts run, policy holds."""

    def __init__(self, client, chromium: Browser) -> None:
        self.client, self.chromium = client, chromium

    def open(self, path: str, look=LOOKS[0], script: bool = True) -> Page:
        theme, width, height = look
        page = self.chromium.new_page(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            java_script_enabled=script,
        )
        page.faults = []
        page.on("pageerror", lambda fault: page.faults.append(str(fault)))
        page.on("console", lambda m: page.faults.append(m.text) if m.type == "error" else None)
        page.route("**/*", self._answer)
        page.sockets = []
        page.route_web_socket("**/live/**", lambda socket: page.sockets.append(socket))
        page.goto(f"{ORIGIN}{path}")
        return page

    def _answer(self, route: Route) -> None:
        request = route.request
        path = request.url.removeprefix(ORIGIN)
        if path.startswith("/static/"):
            name = path[8:].partition("?")[0]
            file = next(root / name for root in _STATIC if (root / name).is_file())
            return route.fulfill(
                body=file.read_bytes(), content_type=mimetypes.guess_type(name)[0] or "text/plain"
            )
        headers = {k: v for k, v in request.headers.items() if k in ("hx-request", "accept")}
        if request.method == "POST":
            answer = self.client.post(
                path,
                request.post_data_buffer or b"",
                content_type=request.headers["content-type"],
                headers=headers,
                follow=True,
            )
        else:
            answer = self.client.get(path, headers=headers, follow=True)
        return route.fulfill(
            status=answer.status_code,
            body=answer.content,
            content_type=answer.headers["Content-Type"],
            headers={"Content-Security-Policy": answer.headers.get("Content-Security-Policy", "")},
        )


@pytest.fixture
def csvlane(db):
    return rows.make_project()


def during(client, chromium, project, look_at) -> None:
    """Call look_at(site) in the middle of the second iteration."""
    sign_in(client, "you")
    rows.play(project, lambda session: look_at(Site(client, chromium)))


PAGES = {
    "board": BOARD,
    "board-task": f"{BOARD}?file=task",
    "board-code": f"{BOARD}?file=code",
    "board-spec": f"{BOARD}?file=spec",
    "board-blocks": f"{BOARD}?show=blocks",
    "entry": f"{BOARD}B-3/",
    "entry-dismiss": f"{BOARD}B-3/dismiss/",
    "entry-blocked": f"{BOARD}T-2/answer/",
    "entry-spec": f"{BOARD}Q-1/",
    "specs": SPECS,
    "requirement": f"{SPECS}R-12/",
    "requirement-write": f"{SPECS}R-12/?write=1",
    "requirement-compare": f"{SPECS}R-12/?compare=3",
    "requirement-remove": f"{SPECS}R-12/?remove=1",
    "requirement-new": f"{SPECS}new/",
    "project-new": "/projects/new/",
    "unknown": f"{BOARD}B-99/",
}


def test_every_page_passes_the_audit_at_every_width_in_both_themes(client, chromium, csvlane):
    found = []

    def look(site: Site) -> None:
        for name, path in PAGES.items():
            page = site.open(path)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                for theme in ("light", "dark"):
                    page.emulate_media(color_scheme=theme)
                    said = page.evaluate(AUDIT)
                    if said != "clean":
                        found.append(f"{name} {width} {theme}: {said}")
            found.extend(f"{name}: {fault}" for fault in page.faults if "404" not in fault)
            page.close()

    during(client, chromium, csvlane, look)
    assert not found, "\n".join(found)


@pytest.mark.skipif("LOOPWATCH_SHOTS" not in os.environ, reason="LOOPWATCH_SHOTS names no folder")
def test_pictures(client, chromium, csvlane):
    folder = Path(os.environ["LOOPWATCH_SHOTS"])

    def shoot(site: Site, name: str, path: str, act=None) -> None:
        for look in LOOKS:
            page = site.open(path, look)
            if act:
                act(page)
            page.wait_for_timeout(150)
            page.screenshot(
                path=folder / f"{name}-{look[0]}-{look[1]}.png", full_page=look[1] < 500
            )
            page.close()

    def look(site: Site) -> None:
        wanted = os.environ.get("LOOPWATCH_SHOTS_OF", "").split()
        for name, path in PAGES.items():
            if not wanted or name in wanted:
                shoot(site, name, path)
        if not wanted or "draft" in wanted:
            shoot(site, "draft", PAGES["requirement-write"], _write_draft)
        if not wanted or "picker" in wanted:
            shoot(site, "picker", PAGES["board-code"], _search)
        if not wanted or "refused" in wanted:
            shoot(site, "refused", PAGES["board-code"], lambda p: p.click("text=File it"))

        if not wanted or "conflict" in wanted:
            shoot(site, "conflict", PAGES["requirement-write"], _be_too_late)

    during(client, chromium, csvlane, look)


def _be_too_late(page: Page) -> None:
    page.fill("[data-editor]", rows.DRAFT)
    project = Project.objects.get()
    text = f"{rows.OLD}\nA quote in a field without quotes is kept.\n"
    text += f"{project.tracker_seq}\n"
    tracker.edit_requirement(project, "R-12", text=text, by=tracker.person("ana"))
    page.click("text=Save v")
    page.wait_for_selector("text=Nothing of yours was saved")


def _write_draft(page: Page) -> None:
    page.fill("[data-editor]", rows.DRAFT)
    page.wait_for_selector("[data-part=saving] ins")


def _search(page: Page) -> None:
    page.fill("#id_title", "Old Mac line breaks inside quotes are dropped")
    page.fill("[role=combobox]", "line break")


def test_the_picker_finds_a_line_by_its_words_and_the_keyboard_files_it(client, chromium, csvlane):
    said = []

    def act(site: Site) -> None:
        page = site.open(PAGES["board-code"])
        _search(page)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.fill("#id_contradiction", "A lone CR is removed.")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("text=filed.")
        said.append(page.inner_text(".banner-note"))
        said.extend(page.faults)
        page.close()

    during(client, chromium, csvlane, act)
    assert said[0].startswith("B-8 filed. S-")
    assert said[0].endswith("reads it with iteration 3.")
    assert said[1:] == []
    bug = csvlane.bugs.get(kind="code", number=8)
    assert "line break" in bug.quote.lower()


def test_writing_shows_what_the_draft_changes_without_a_reload(client, chromium, csvlane):
    seen = []

    def act(site: Site) -> None:
        page = site.open(PAGES["requirement-write"])
        _write_draft(page)
        seen.append(page.inner_text("[data-part=saving]"))
        page.keyboard.press("Control+s")
        page.wait_for_selector("text=R-12 saved as v5.")
        seen.extend(page.faults)
        page.close()

    during(client, chromium, csvlane, act)
    assert "reads v5 with iteration 3" in seen[0]
    assert "B-3 cites v4 and becomes stale" in seen[0]
    assert seen[1:] == []


def test_a_change_elsewhere_reaches_the_board_and_leaves_what_is_typed_alone(
    client, chromium, csvlane
):
    you = tracker.person("you")
    sign_in(client, "you")
    site = Site(client, chromium)
    page = site.open(PAGES["board-task"])
    page.fill("#id_title", "Half a")
    tracker.file_task(csvlane, by=you, title="From somewhere else", text="x")
    page.sockets[0].send('{"seq": 1, "after": null, "parts": ["board", "entry", "list"]}')
    page.wait_for_selector(".board >> text=From somewhere else")
    assert page.input_value("#id_title") == "Half a"
    page.close()
    page = site.open(f"{BOARD}T-1/dismiss/")
    page.fill("#id_dismiss-reason", "Because it")
    page.evaluate("document.activeElement.blur()")
    tracker.set_priority(tracker.get_bug(csvlane, "T-1"), you, "P0")
    page.sockets[0].send('{"seq": 1, "after": null, "parts": ["board", "entry"]}')
    page.wait_for_selector(".board >> text=P0")
    assert page.input_value("#id_dismiss-reason") == "Because it"
    assert page.faults == []
    page.close()
