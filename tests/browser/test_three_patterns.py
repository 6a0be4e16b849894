"""One session of each pattern is set up in the form by a person and runs to its proved end."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from loops.agents import scripted
from tests.browser.running import NO_RELOAD, Visitor, complaints, part, seen_from
from tests.loops.upping import Installation

pytestmark = [pytest.mark.slow, pytest.mark.once]
LONG = 240  # seconds in which a loaded machine takes the loop from one event to the next
CHECK = ("--check", "R-1 app.txt has good")
AGENTS = {
    "a-worker": "finisher", "a-reviewer": "reviewer", "a-thinker": "planner",
    "a-builder": "builder", "a-verifier": "checker",
}  # fmt: skip


@pytest.fixture(scope="module")
def visitor(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    installation = Installation(tmp_path_factory.mktemp("patterns"))
    with installation.up:
        one = Visitor(chromium, installation)
        installation.add_project("app.txt has good.\n")
        for name, behaviour in AGENTS.items():
            command = shlex.join(scripted.argv(behaviour, *CHECK))
            installation.command("agent", "add", name, command)
        yield one
        one.context.close()


@pytest.fixture(scope="module")
def home(visitor: Visitor) -> Page:
    return visitor.sign_in()


def open_form(page: Page, pattern: str) -> None:
    assert page.goto("/sessions/new/").status == 200
    page.locator(f"input[name=pattern][value={pattern}]").check()
    page.fill("#id_goal", "app.txt has good in it.")


def bound(page: Page) -> str:
    return page.locator(".bound").inner_text()


def start_and_end(page: Page, visitor: Visitor, pattern: str) -> None:
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/sessions/*/", timeout=120_000)
    number = page.url.rstrip("/").rpartition("/")[2]
    sql = f"SELECT state, end_reason, pattern FROM loops_session WHERE id = {int(number)}"
    seen_from(
        page,
        lambda: visitor.installation.rows(sql)[0][0] in ("ended", "waiting_human"),
        within=LONG,
        what=f"the end of {pattern}",
    )
    assert visitor.installation.rows(sql) == [("ended", "done", pattern)]


def shoot(page: Page, name: str) -> None:
    """Only where somebody wants to look: LOOPWATCH_SHOTS names a folder."""
    folder = os.environ.get("LOOPWATCH_SHOTS")
    if not folder:
        return
    for theme, width in (("light", 1440), ("dark", 1440), ("light", 390)):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        page.screenshot(path=Path(folder) / f"{name}-{theme}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light")


def audited(page: Page, name: str) -> list[str]:
    shoot(page, name)
    return complaints(page, name)


def test_the_fields_of_the_chosen_pattern_show_and_the_bound_follows(home: Page) -> None:
    page = home
    found = []
    open_form(page, "single_thread")
    expect(page.locator("#id_reviewer")).to_be_visible()
    expect(page.locator("#id_thinker")).to_be_hidden()
    found += audited(page, "single-thread")
    page.locator("input[value=maker_verifier]").check()
    expect(page.locator("#id_maker")).to_be_visible()
    expect(page.locator("#id_reviewer")).to_be_hidden()
    expect(page.locator(".sum")).to_contain_text("maker attempts")
    page.fill("#id_attempts", "2")
    page.locator("#id_attempts").blur()
    expect(page.locator(".bound")).to_have_text("2")
    page.select_option("#id_maker", "a-verifier")
    expect(page.locator("#family")).to_contain_text("are the same agent")
    found += audited(page, "maker-verifier")
    assert not found, "\n".join(found)


def test_a_worker_joins_the_pool_with_script_and_the_session_ends_done(
    home: Page, visitor: Visitor
) -> None:
    page = home
    open_form(page, "thinker_worker_verifier")
    page.select_option("#id_thinker", "a-thinker")
    page.fill("#id_pool-0-name", "coder")
    page.select_option("#id_pool-0-agent", "a-builder")
    expect(page.locator(".formula")).to_contain_text("reassigns 0")
    assert bound(page) == "6"
    page.evaluate(NO_RELOAD)
    page.get_by_role("button", name="Add a worker").click()
    expect(page.locator("#id_pool-1-name")).to_be_focused()
    page.keyboard.type("writer")
    page.select_option("#id_pool-1-agent", "a-builder")
    expect(page.locator(".bound")).to_have_text("8")
    assert page.evaluate("window.neverReloaded")
    assert page.input_value("#id_pool-0-name") == "coder"
    assert page.input_value("#id_goal") == "app.txt has good in it."
    found = audited(page, "thinker")

    # What is kept, and what a dry run shows, before it starts.
    page.locator("summary", has_text="Save as template").click()
    page.fill("#template-name", "two builders")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".banner-note")).to_contain_text("two builders is kept")
    page.get_by_role("button", name="Dry run").click()
    expect(page.locator("[data-prompt]")).to_contain_text("You are the thinker", timeout=60_000)
    found += audited(page, "dry-run")
    assert visitor.installation.rows("SELECT count(*) FROM loops_session") == [(0,)]
    start_and_end(page, visitor, "thinker_worker_verifier")
    assert not found, "\n".join(found)


def test_a_worker_joins_the_pool_without_script(visitor: Visitor, home: Page) -> None:
    plain = home.context.browser.new_context(
        base_url=visitor.address,
        java_script_enabled=False,
        storage_state=home.context.storage_state(),
    )
    page = plain.new_page()
    page.goto("/sessions/new/?template=two+builders")
    assert page.input_value("#id_pool-1-name") == "writer"
    page.fill("#id_goal", "Typed before")
    page.fill("#id_retries", "0")
    page.get_by_role("button", name="Add a worker").click()
    page.fill("#id_pool-2-name", "analyst")
    page.get_by_role("button", name="Remove worker 1").click()
    names = [one.input_value() for one in page.locator("[name^=pool-][name$=-name]").all()]
    assert names == ["writer", "analyst"]
    assert (page.input_value("#id_goal"), page.input_value("#id_retries")) == ("Typed before", "0")
    assert bound(page) == "6", "1 + 0 + 2 + 2 + 1"
    page.locator("#id_retries").press("Enter")  # takes nothing away and starts nothing
    assert bound(page) == "6"
    assert page.input_value("#id_pool-2-name" if page.locator("#id_pool-2-name").count() else
                            "#id_pool-1-name") == "analyst"  # fmt: skip
    plain.close()


def test_a_maker_session_and_a_single_thread_one_end_done_and_are_found(
    home: Page, visitor: Visitor
) -> None:
    page = home
    open_form(page, "maker_verifier")
    page.select_option("#id_maker", "a-builder")
    page.select_option("#id_verifiers-0-agent", "a-verifier")
    start_and_end(page, visitor, "maker_verifier")
    open_form(page, "single_thread")
    page.select_option("#id_worker", "a-worker")
    page.select_option("#id_reviewer", "a-reviewer")
    start_and_end(page, visitor, "single_thread")
    page.goto("/")
    found = audited(page, "loops")
    page.fill("[name=q]", "good done")
    page.select_option("select[name=pattern]", "maker_verifier")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**pattern=maker_verifier*")
    assert page.locator(".found tbody tr").count() == 1
    assert "Maker, Verifier" in part(page, "index")
    found += audited(page, "search")
    assert not found, "\n".join(found)
    assert [fault for fault in visitor.faults if "422" not in fault] == []
