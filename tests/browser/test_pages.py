"""Every page of the story holds up: the design's audit is clean at four widths in both themes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.render import pages
from tests.browser.stage import AUDIT, CHROMIUM, browser, open_page

WIDTHS = (1440, 820, 390, 360)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists() and "chromium" not in os.environ.get("LOOPWATCH_REQUIRE", ""):
        pytest.skip(f"{CHROMIUM} is not installed")
    with browser() as one:
        yield one


@pytest.mark.slow
@pytest.mark.parametrize("name", pages())
def test_a_page_passes_the_audit_at_every_width_in_both_themes(
    chromium: Browser, name: str
) -> None:
    page = open_page(chromium, name, width=WIDTHS[0], height=900, theme="light")
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            said = page.evaluate(AUDIT)
            if said != "clean":
                found.append(f"{width} {theme}: {said}")
    faults = page.faults
    page.close()
    assert not found, "\n".join(found)
    assert not faults, "the browser complained, or the content policy was broken"
