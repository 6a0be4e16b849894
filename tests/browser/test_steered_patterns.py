"""A person watches a session of each pattern on a real repository, pauses it, and when it has ended
forks it, compares the two and hands the result over."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from loops.agents import scripted
from tests.browser.running import NO_RELOAD, Visitor, complaints, seen_from
from tests.browser.test_three_patterns import shoot
from tests.loops.upping import Installation

pytestmark = [pytest.mark.slow, pytest.mark.once]
LONG = 240  # seconds in which a loaded machine takes the loop from one event to the next
CHECKS = ("--check", "R-1 app.txt has good", "--check", "R-1 app.txt has better")


def agent(name: str) -> dict:
    return {"argv": scripted.argv(name, "--pause", "1", *CHECKS)}


JUDGE = [{"name": "judge", "agent": agent("checker")}]
PATTERNS = {
    "single_thread": {"agents": {"worker": agent("finisher"), "reviewer": agent("reviewer")}},
    "maker_verifier": {"agents": {"maker": agent("slow-builder")}, "verifiers": JUDGE},
    "thinker_worker_verifier": {
        "agents": {"thinker": agent("planner")},
        "pool": [{"name": name, "agent": agent("slow-builder")} for name in ("coder", "writer")],
        "verifiers": JUDGE,
    },
}


@pytest.fixture(scope="module")
def visitor(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    installation = Installation(tmp_path_factory.mktemp("steered"))
    with installation.up:
        one = Visitor(chromium, installation)
        installation.add_project("app.txt has good and better.\n")
        yield one
        one.context.close()


@pytest.fixture(scope="module")
def home(visitor: Visitor) -> Page:
    return visitor.sign_in()


def state(visitor: Visitor, session: int) -> tuple[str, str | None]:
    sql = f"SELECT state, end_reason FROM loops_session WHERE id = {session}"
    return visitor.installation.rows(sql)[0]


def until(page: Page, visitor: Visitor, session: int, *wanted: str) -> None:
    seen_from(
        page,
        lambda: state(visitor, session)[0] in (*wanted, "waiting_human"),
        within=LONG,
        what=f"S-{session} in state {wanted}",
    )
    assert state(visitor, session)[0] in wanted


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_session_is_watched_paused_forked_compared_and_delivered(
    home: Page, visitor: Visitor, pattern: str, tmp_path: Path
) -> None:
    page, found = home, []
    config = {**PATTERNS[pattern], "pattern": pattern}
    session = visitor.installation.start_session(config)
    page.goto(f"/sessions/{session}/")
    page.evaluate(NO_RELOAD)
    rows = page.locator("[data-part=rows] a.it")
    expect(rows).not_to_have_count(0, timeout=LONG * 1000)
    pause_and_go_on(page, visitor, session)
    found += complaints(page, f"{pattern}, running")
    until(page, visitor, session, "ended")
    assert state(visitor, session) == ("ended", "done")
    expect(page.locator("[data-part=status]")).to_contain_text("Done", timeout=LONG * 1000)
    assert page.evaluate("window.neverReloaded"), "all of it arrived by itself"
    shoot(page, f"{pattern}-ended")
    found += complaints(page, f"{pattern}, ended")

    fork = fork_after_first(page, visitor, session)
    until(page, visitor, fork, "ended")
    assert state(visitor, fork) == ("ended", "done")
    page.goto(f"/sessions/compare/?a={session}&b={fork}")
    expect(page.locator("h1")).to_be_visible()
    shoot(page, f"{pattern}-compare")
    found += complaints(page, f"{pattern}, compared")
    deliver(page, visitor, fork, tmp_path)
    assert not found, "\n".join(found)
    assert visitor.faults == []


def pause_and_go_on(page: Page, visitor: Visitor, session: int) -> None:
    page.get_by_role("button", name="Pause").click()
    until(page, visitor, session, "paused")
    expect(page.locator("[data-part=status]")).to_contain_text("Paused", timeout=LONG * 1000)
    page.evaluate(NO_RELOAD)
    page.get_by_role("button", name="Resume").click()
    until(page, visitor, session, "running", "ended", "queued")
    page.evaluate(NO_RELOAD)


def fork_after_first(page: Page, visitor: Visitor, session: int) -> int:
    page.goto(f"/sessions/{session}/history/?at=1")
    page.get_by_role("link", name="Fork from here").click()
    page.get_by_role("button", name="Start fork").click()
    page.wait_for_url("**/sessions/*/", timeout=120_000)
    number = int(page.url.rstrip("/").rpartition("/")[2])
    assert number != session
    expect(page.locator("[data-part=lineage]")).to_contain_text(f"S-{session}")
    return number


def deliver(page: Page, visitor: Visitor, session: int, folder: Path) -> None:
    target = folder / "target.git"
    subprocess.run(["git", "init", "-q", "--bare", str(target)], check=True)
    page.goto(f"/sessions/{session}/")
    page.locator("summary", has_text="Push the branch").click()
    page.fill("[data-part=deliver] input[name=address]", str(target))
    page.locator("[data-part=deliver] form.dialog button").click()
    expect(page.locator("[data-part=deliver] .checks")).to_contain_text(str(target))
    branch = f"loopwatch/S-{session}"
    shown = subprocess.run(
        ["git", "-C", str(target), "show", f"{branch}:app.txt"], capture_output=True, text=True
    )
    assert "better" in shown.stdout, shown.stderr
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the patch").click()
    assert "better" in Path(waiting.value.path()).read_text()
