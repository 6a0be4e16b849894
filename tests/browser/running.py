"""A real installation as a person sees it: `up` with its processes, and a browser signed in."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page

from tests.browser.stage import AUDIT
from tests.loops.upping import Installation

WIDTHS = (1440, 820, 390, 360)
DESK = {"width": 1440, "height": 900}
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
NO_RELOAD = "window.neverReloaded = true"


def seen_from(page: Page, look: Callable[[], Any], *, within: float = 60, what: str = "it") -> Any:
    """The first true answer of look(). The browser's own events go on meanwhile."""
    end = time.monotonic() + within
    while True:
        if found := look():
            return found
        if time.monotonic() > end:
            pytest.fail(f"{what} was not seen within {within:g} s; the page says:\n{_words(page)}")
        page.wait_for_timeout(50)


def _words(page: Page) -> str:
    try:
        return page.inner_text("body")
    except Error as fault:
        return str(fault)


class Visitor:
    """One browser of one person. faults: what its pages complained about, policy included."""

    def __init__(self, chromium: Browser, installation: Installation, script: str = "") -> None:
        """script: runs in every page before the page's own."""
        self.installation = installation
        self.address = installation.up.wait_ready()
        self.context: BrowserContext = chromium.new_context(
            base_url=self.address, viewport=DESK, color_scheme="light"
        )
        if script:
            self.context.add_init_script(script)
        self.faults: list[str] = []
        self.context.on("page", self._listen)

    def _listen(self, page: Page) -> None:
        page.on("pageerror", lambda fault: self.faults.append(f"{page.url}: {fault}"))
        page.on("console", lambda said: self._hear(page, said))

    def _hear(self, page: Page, said: Any) -> None:
        if said.type in ("error", "warning"):
            self.faults.append(f"{page.url}: {said.text}")

    def sign_in(self) -> Page:
        """By the link that `up` printed, and its button; the page after it."""
        page = self.context.new_page()
        said = self.installation.up.said
        found = seen_from(page, lambda: re.search(r"Sign in .*: (http://\S+)", said()))
        page.goto(found[1])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(re.compile(re.escape(self.address) + "/(welcome/)?$"))
        return page

    def text(self, path: str) -> str:
        """What the server answers now, past the page; "" while it does not answer."""
        try:
            answer = self.context.request.get(f"{self.address}{path}", timeout=5_000)
        except Error:
            return ""
        return answer.text() if answer.ok else ""


def complaints(page: Page, name: str) -> list[str]:
    """What the audit says of the page at every width in both themes."""
    found = []
    page.bring_to_front()  # a page behind another is drawn once a second
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.evaluate(DRAWN)
            said = page.evaluate(AUDIT)
            if said != "clean":
                found.append(f"{name} {width} {theme}: {said}")
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")
    return found


def part(page: Page, name: str) -> str:
    """The words of one part, on one line."""
    return " ".join(page.inner_text(f"[data-part={name}]").split())


def log_lines(page: Page) -> tuple[int, list[str]]:
    """Number of the first line that the log shows, and the texts from there on."""
    numbers, texts = page.evaluate(
        """() => {
            const all = [...document.querySelectorAll("[data-log] li[data-seq]")];
            return [all.map(n => Number(n.id.slice(1))),
                    all.map(n => n.querySelector(".msg").textContent)];
        }"""
    )
    first = numbers[0] if numbers else 1
    assert numbers == list(range(first, first + len(numbers))), "line numbers have a hole"
    return first, texts
