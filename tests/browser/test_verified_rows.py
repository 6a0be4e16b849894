"""The pages of sessions with verifiers hold up in a browser, with real rows, while one runs.

LOOPWATCH_SHOTS=FOLDER keeps a picture of every page in three looks.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from escalations.models import Escalation
from escalations.reading import question
from loops.pages.output import DiffPart, diff_files
from loops.reading import changes
from tests.browser import verified_rows
from tests.browser.stage import AUDIT
from tests.browser.story_texts import DIFF
from tests.browser.test_pages import WIDTHS
from tests.browser.test_rows import LOOKS, Site
from tests.browser.test_rows import chromium as chromium
from tests.loops.pages_kit import sign_in

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    """The world in memory has no git: every difference is this one."""

    def diff(session, old, new, against):
        return DiffPart(files=diff_files(DIFF) if old != new else (), against=against)

    monkeypatch.setattr(changes, "diff_of", diff)
    assert question.changes is changes


def paths() -> dict[str, str]:
    found = {}
    for name in ("waiting", "ceiling", "gate", "broken"):
        session = getattr(verified_rows, name)(f"csvlane-{name}")
        asked = Escalation.objects.get(session=session, status="open")
        found[f"session-{name}"] = f"/sessions/{session.pk}/"
        found[f"question-{name}"] = f"/queue/{asked.pk}/"
        if name == "waiting":
            base = f"/sessions/{session.pk}/iterations/"
            found["plan"] = f"{base}1/?show=plan"
            found["verdict"] = f"{base}4/?show=verdict"
            found["work-judged"] = f"{base}4/?show=diff"
            found["all-verdicts"] = f"{base}4/?show=verdicts"
            found["seen-verifier"] = f"{base}4/?show=prompt"
            found["seen-worker"] = f"{base}6/?show=prompt"
    return found


def during(client, chromium, look_at) -> None:
    """Call look_at(site, paths) while a session works on its second attempt."""
    sign_in(client, "you")
    found = paths()
    site = Site(client, chromium)
    verified_rows.during(
        "csvlane",
        lambda session: look_at(site, {"running": f"/sessions/{session.pk}/", **found}),
    )


def test_every_page_passes_the_audit_at_every_width_in_both_themes(client, chromium):
    found = []

    def look(site: Site, pages: dict[str, str]) -> None:
        for name, path in pages.items():
            page = site.open(path)
            if name.startswith("question"):
                _open_all(page)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                for theme in ("light", "dark"):
                    page.emulate_media(color_scheme=theme)
                    said = page.evaluate(AUDIT)
                    if said != "clean":
                        found.append(f"{name} {width} {theme}: {said}")
            found.extend(f"{name}: {fault}" for fault in page.faults)
            page.close()

    during(client, chromium, look)
    assert not found, "\n".join(found)


def _open_all(page) -> None:
    """Show the fields of every decision at once."""
    page.evaluate(
        "document.querySelectorAll('.more-fields').forEach(n => n.classList.add('more-fields-all'))"
    )
    page.evaluate(
        "(() => { const s = new CSSStyleSheet();"
        " s.replaceSync('.more-fields-all { display: grid !important; gap: 12px }');"
        " document.adoptedStyleSheets = [s]; })()"
    )


def test_the_button_repeats_what_is_allowed_and_what_0_does(client, chromium):
    said = []

    def look(site: Site, pages: dict[str, str]) -> None:
        page = site.open(pages["question-ceiling"])
        page.check("input[value=reject]")
        for number in ("3", "0"):
            page.fill("#id_attempts_reject", number)
            said.append(page.inner_text("[data-submit] .say-reject"))
        said.extend(page.faults)
        page.close()

    during(client, chromium, look)
    assert said[0] == "Reject, allow 3 more"
    assert said[1].startswith("Reject, end S-")
    assert said[1].endswith("as exhausted")
    assert said[2:] == []


@pytest.mark.skipif("LOOPWATCH_SHOTS" not in os.environ, reason="LOOPWATCH_SHOTS names no folder")
def test_pictures(client, chromium):
    folder = Path(os.environ["LOOPWATCH_SHOTS"])
    wanted = os.environ.get("LOOPWATCH_SHOTS_OF", "").split()
    chosen = {"question-ceiling": "reject", "question-broken": "change", "question-gate": "deny"}

    def look(site: Site, pages: dict[str, str]) -> None:
        for name, path in pages.items():
            for look in LOOKS if not wanted or name in wanted else ():
                page = site.open(path, look)
                if name in chosen:
                    page.check(f"input[value={chosen[name]}]")
                page.wait_for_timeout(150)
                target = folder / f"{name}-{look[0]}-{look[1]}.png"
                page.screenshot(path=target, full_page=look[1] < 500)
                page.close()

    during(client, chromium, look)
