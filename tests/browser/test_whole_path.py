"""The first complete path of a person: sign in, watch the demo's loop live, steer it, answer it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.running import (
    NO_RELOAD,
    Visitor,
    complaints,
    log_lines,
    part,
    seen_from,
)
from tests.loops.upping import Installation

pytestmark = [pytest.mark.slow, pytest.mark.once]
BOARD, SPECS = "/p/demo/tracker/", "/p/demo/specs/"
LONG = 240  # seconds in which a loaded machine takes the loop from one event to the next
# What each part said since the page was loaded, each text once in a row.
REMEMBER = """
addEventListener("DOMContentLoaded", () => {
  window.said = {};
  const look = () => document.querySelectorAll("[data-part]").forEach((part) => {
    const text = part.textContent.replace(/\\s+/g, " ").trim();
    const all = window.said[part.dataset.part] ??= [];
    if (all.at(-1) !== text) all.push(text);
  });
  const all = { subtree: true, childList: true, characterData: true };
  new MutationObserver(look).observe(document.body, all);
  look();
});
"""
PAGES = (
    "/", "/sessions/new/", "/sessions/new/?project=demo", "/agents/new/", "/projects/new/",
    "/settings/agents/", "/settings/agents/demo-worker/", "/settings/prices/", "/settings/secrets/",
    "/welcome/",
    "/sessions/1/", "/sessions/1/?show=diff", "/sessions/1/?show=prompt", "/sessions/1/?show=files",
    "/sessions/1/iterations/3/", "/sessions/1/iterations/3/?show=diff",
    "/sessions/1/iterations/3/?show=files", "/queue/", "/queue/?show=decided", "/queue/1/",
    BOARD, f"{BOARD}?file=task", f"{BOARD}?file=code", f"{BOARD}?file=spec", f"{BOARD}B-3/",
    f"{BOARD}T-1/", SPECS, f"{SPECS}R-2/", f"{SPECS}R-2/?write=1", f"{SPECS}R-2/?compare=1",
    f"{SPECS}new/", "/account/", "/login/", "/nothing/here/",
)  # fmt: skip


@pytest.fixture(scope="module")
def visitor(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    installation = Installation(tmp_path_factory.mktemp("whole"), "--demo")
    with installation.up:
        one = Visitor(chromium, installation, REMEMBER)
        yield one
        one.context.close()


@pytest.fixture(scope="module")
def home(visitor: Visitor) -> Page:
    return visitor.sign_in()


def said(page: Page, name: str) -> list[str]:
    return page.evaluate("name => window.said[name]", name)


def happened(page: Page) -> str:
    """What the page says became of what was sent."""
    note = page.locator(".banner-note")
    seen_from(page, lambda: note.count(), within=30, what="the note of what happened")
    return note.inner_text()


def visit(page: Page, path: str) -> None:
    answered = page.goto(path)
    assert answered.status == 200, answered.text()


def file_a_task(page: Page) -> None:
    visit(page, f"{BOARD}?file=task")
    foretold = page.inner_text("[data-part=filing]")
    assert re.search(r"S-1 reads it with iteration \d+", foretold)
    assert re.search(r"Its done streak (goes back to|stays at) 0 of 2", foretold)
    page.fill("#id_title", "Leave out what only holds a place (PIE790)")
    page.fill("#id_text", "ruff finds no PIE790.")
    page.get_by_role("button", name="File it").click()
    assert re.search(r"T-1 filed\. S-1 reads it with iteration \d+\.", happened(page))


def edit_the_requirement(page: Page) -> None:
    visit(page, f"{SPECS}R-2/?write=1")
    text = page.input_value("[data-editor]")
    page.fill("[data-editor]", f"{text.rstrip()}\nErrors have their real names (UP041).")
    expect(page.locator("[data-part=saving] ins").first).to_be_visible(timeout=30_000)
    foretold = page.inner_text("[data-part=saving]")
    assert re.search(r"S-1 reads v2 with iteration \d+", foretold)
    page.keyboard.press("Control+s")
    assert re.search(r"R-2 saved as v2\. S-1 reads v2 with iteration \d+\.", happened(page))


def change_a_priority(page: Page) -> None:
    visit(page, f"{BOARD}B-3/priority/")
    assert "The streak stays." in page.locator("details[open]").inner_text()
    page.locator("details[open] label", has_text="P0").click()
    page.get_by_role("button", name="Set the priority").click()
    assert "its streak stays" in happened(page)


def answer(page: Page) -> None:
    expect(page.get_by_role("heading", name="Your decision")).to_be_visible()
    page.locator("label.opt", has_text="Answer").first.click()
    page.get_by_text("Dismiss it, the answer is the reason").click()
    page.fill("[name=text_answer]", "Their callers log the cause already; accepted as it is.")
    page.locator("[data-submit]").click()
    assert "S-1 takes it up now" in happened(page)


def streak(page: Page) -> str:
    return re.search(r"Done streak (\d) of 2", part(page, "why"))[1]


def test_a_person_sees_the_loop_live_steers_it_answers_it_and_it_ends_done(
    visitor: Visitor, home: Page
) -> None:
    # All loops: the row moves by itself.
    home.evaluate(NO_RELOAD)
    bars = home.locator(".loops .mini rect").count()
    seen_from(home, lambda: home.locator(".loops .mini rect").count() > bars, what="a new bar")
    assert home.evaluate("window.neverReloaded")
    home.locator(".loops .c-name a").first.click()
    page, other = home, visitor.context.new_page()

    # The session's page: iterations and their output arrive.
    page.evaluate(NO_RELOAD)
    rows = page.locator("[data-part=rows] .it")
    before = rows.count()
    seen_from(page, lambda: rows.count() >= before + 2, what="two more iterations", within=LONG)
    seen_from(page, lambda: log_lines(page)[1], what="output of the running iteration")

    # Steering while it runs.
    file_a_task(other)
    edit_the_requirement(other)
    seen_from(page, lambda: "T-1" in part(page, "why"), what="the task among what is open")
    seen_from(page, lambda: "R-2 v2" in part(page, "edits"), what="the edit on its way")
    seen_from(page, lambda: "in use since" in _edit(page), what="the edit in use", within=LONG)
    seen_from(page, lambda: "Waiting for human" in part(page, "status"), within=LONG)
    # A quick machine reads the edit before the page heard that it waits; never in another order.
    fates = [re.sub(r" \d+$", "", _edit_in(text)) for text in said(page, "edits")]
    steps = ["", "with iteration", "read by", "in use since"]
    assert fates == sorted(fates, key=steps.index)
    assert fates[-1] == steps[-1], fates
    assert "filed" in " ".join(_log_of_all(visitor)), "the new line of R-2 had no effect"
    assert page.evaluate("window.neverReloaded")
    audited = complaints(page, "waiting session")

    # A priority keeps the streak, and the answer ends it.
    assert streak(page) == "2"
    with page.expect_response("**/parts/**", timeout=60_000):
        change_a_priority(other)
    seen_from(page, lambda: streak(page) == "2")
    visit(other, "/queue/")
    other.locator(".q-item").first.click()
    audited += complaints(other, "question")
    answer(other)
    seen_from(page, lambda: "Done" in part(page, "status"), what="the end", within=LONG)
    assert page.evaluate("window.neverReloaded")
    states = " ".join(said(page, "status"))
    assert re.search(r"Running.*Waiting for human.*(Resuming|Running).*Done", states), states
    closed = visitor.installation.rows("SELECT state FROM tracker_bug WHERE kind = 'task'")
    assert closed == [("CLOSED",)]
    assert not audited, "\n".join(audited)
    assert not visitor.faults, "the console complained, or the content policy was broken"


def _edit_in(text: str) -> str:
    found = re.search(r"R-2 v2.*?(with iteration \d+|read by \d+|in use since \d+)", text)
    return found[1] if found else ""


def _edit(page: Page) -> str:
    return _edit_in(part(page, "edits"))


def _log_of_all(visitor: Visitor) -> list[str]:
    sql = "SELECT text FROM loops_outputpiece WHERE text LIKE '%R-2: filed UP041%'"
    return [text for (text,) in visitor.installation.rows(sql)]


def test_every_page_of_the_demo_passes_the_audit_at_every_width_in_both_themes(
    visitor: Visitor, home: Page
) -> None:
    settled = "SELECT 1 FROM loops_session WHERE state IN ('ended', 'waiting_human')"
    seen_from(home, lambda: visitor.installation.rows(settled), within=LONG, what="rows to show")
    visitor.faults.clear()
    found = []
    for path in PAGES:
        answered = home.goto(path)
        assert answered.status == (404 if path == "/nothing/here/" else 200), path
        found += complaints(home, path)
    assert not found, "\n".join(found)
    assert [fault for fault in visitor.faults if "404" not in fault] == []
