"""The pages' own behaviour: with script it helps, without script everything still works."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.stage import CHROMIUM, browser, open_page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists() and "chromium" not in os.environ.get("LOOPWATCH_REQUIRE", ""):
        pytest.skip(f"{CHROMIUM} is not installed")
    with browser() as one:
        yield one


@pytest.fixture
def show(chromium):
    shown = []

    def _show(name, **more):
        page = open_page(chromium, name, width=1440, height=900, theme="light", **more)
        shown.append(page)
        return page

    yield _show
    for page in shown:
        page.close()


def sent(page, act):
    """What the form sends when `act` is done."""
    with page.expect_request(lambda request: request.method == "POST") as caught:
        act()
    return caught.value.post_data


def test_a_code_bug_can_be_filed_without_script(show):
    page = show("tracker", script=False)
    page.locator(".kind label", has_text="Code bug").click()
    page.get_by_label("Which requirement").select_option("R-12.3@4")
    assert page.get_by_label("What must be true").is_hidden()
    data = sent(page, lambda: page.get_by_role("button", name="File it").click())
    assert "cites=R-12.3%404" in data
    assert "kind=code" in data


def test_the_picker_finds_a_line_by_its_words_and_sends_its_key(show):
    page = show("tracker-code")
    box = page.get_by_role("combobox", name="Which requirement")
    box.fill("row 1")
    expect(page.get_by_role("option")).to_have_count(1)
    box.press("ArrowDown")
    box.press("Enter")
    assert "cites=R-8.1" in sent(page, lambda: page.get_by_role("button", name="File it").click())


def test_words_that_match_no_line_leave_no_citation_behind(show):
    page = show("tracker-code")
    page.get_by_role("combobox", name="Which requirement").fill("nothing like it")
    expect(page.get_by_text("No line has these words")).to_be_visible()
    assert page.locator("select[name=cites]").input_value() == ""


@pytest.mark.parametrize("script", [True, False])
def test_the_one_button_names_the_chosen_decision(show, script):
    page = show("question", script=script)
    button = page.locator("[data-submit]")
    expect(button).to_contain_text("Grant 10 more" if script else "Grant more")
    page.get_by_text("Stop the session").click()
    expect(button).to_contain_text("Stop S-42")
    assert "choice=stop" in sent(page, button.click)


def test_number_keys_choose_a_decision_and_never_send_it(show):
    page = show("question")
    page.keyboard.press("7")
    assert page.locator("[name=choice]:checked").input_value() == "amend"
    expect(page.get_by_label("Its new text")).to_be_visible()
    assert page.url.endswith("/question")


@pytest.mark.parametrize("script", [True, False])
def test_a_stop_takes_two_steps(show, script):
    page = show("session", script=script)
    assert page.get_by_role("button", name="Stop S-41").is_hidden()
    page.get_by_text("Stop…").click()
    expect(page.get_by_text("Stop S-41 now?")).to_be_visible()
    if script:
        page.keyboard.press("Escape")
        assert page.get_by_role("button", name="Stop S-41").is_hidden()


def test_the_line_numbers_of_the_editor_follow_what_is_typed(show):
    page = show("requirement-new")
    text = page.locator("[data-editor]")
    text.fill("one\ntwo\nthree")
    expect(page.locator("[data-gutter] span")).to_have_text(["1", "2", "3"])


def test_the_theme_button_goes_round_and_lasts(show):
    page = show("index")
    button = page.locator("[data-theme-toggle]")
    button.click()
    button.click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
