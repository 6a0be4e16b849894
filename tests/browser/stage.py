"""A browser that shows the story: every request is answered here, nothing leaves the machine."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django_htmx
from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.browser.render import ROOT, render

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
ORIGIN = "http://127.0.0.1:9"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self' ws:; form-action 'self'; base-uri 'none'"
)
AUDIT = (Path(__file__).parent / "audit.js").read_text()
_STATIC = (ROOT / "static", Path(django_htmx.__file__).parent / "static")


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


def open_page(
    chromium: Browser, name: str, *, width: int, height: int, theme: str, script: bool = True
) -> Page:
    """Show one page of the story. Faults of the console and of the policy are in `page.faults`."""
    page = chromium.new_page(
        viewport={"width": width, "height": height}, color_scheme=theme, java_script_enabled=script
    )
    page.faults = []
    page.on("pageerror", lambda fault: page.faults.append(str(fault)))
    page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" else None)
    page.route("**/*", _answer)
    page.route_web_socket(
        "**/live/*", lambda socket: socket.send(json.dumps({"hello": True, "seq": 812}))
    )
    page.goto(f"{ORIGIN}/{name}")
    return page


def _answer(route: Route) -> None:
    path = route.request.url.removeprefix(ORIGIN).partition("?")[0]
    if path.startswith("/static/"):
        file = next((root / path[8:] for root in _STATIC if (root / path[8:]).is_file()), None)
        kind = mimetypes.guess_type(path)[0] or "text/plain"
        if file is None:
            route.fulfill(status=404, body=path)
        else:
            route.fulfill(body=file.read_bytes(), content_type=kind)
    elif path.endswith("/output/"):
        route.fulfill(json={"pieces": [], "more": False, "rest": "", "is_over": False})
    elif path.startswith("/health"):
        is_silent = route.request.headers.get("referer", "").endswith("/silent")
        route.fulfill(json={"seconds": 48.0 if is_silent else 3.2})
    elif path.count("/") == 1:
        html = render(path[1:])
        route.fulfill(
            body=html, content_type="text/html", headers={"Content-Security-Policy": POLICY}
        )
    else:
        route.fulfill(body="", content_type="text/html")
