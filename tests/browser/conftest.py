"""A browser for the tests of a real installation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.stage import browser
from tests.conftest import require


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    require("chromium")
    with browser() as one:
        yield one
