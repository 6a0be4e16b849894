"""Take a picture of every page: python -m tests.browser.shots FOLDER [name ...]"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()  # before the story, which is made of the product's own page values

from tests.browser.render import pages  # noqa: E402
from tests.browser.stage import browser, open_page  # noqa: E402

LOOKS = (("light", 1440, 900), ("dark", 1440, 900), ("light", 390, 844))


def main(folder: str, *names: str) -> None:
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with browser() as chromium:
        for name in names or pages():
            for theme, width, height in LOOKS:
                page = open_page(chromium, name, width=width, height=height, theme=theme)
                page.wait_for_timeout(150)
                page.screenshot(path=target / f"{name}-{theme}-{width}.png", full_page=width < 500)
                for fault in page.faults:
                    print(f"{name} {theme} {width}: {fault}")
                page.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
