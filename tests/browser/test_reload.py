"""A page that is loaded at any moment of a session says what the log in the database says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page

from loops.agents import scripted
from tests.browser.running import NO_RELOAD, Visitor, seen_from
from tests.loops.upping import Installation

pytestmark = [pytest.mark.slow, pytest.mark.once]
LONG = 300  # seconds in which a loaded machine plays the whole session
LOADS = 12  # fewer would be no random moments
WORDS = {
    "WORK": "Work", "DONE": "Done signal", "CONFLICT": "Conflict", "REJECTED": "Done rejected",
    "STALL": "Stall", "REVIEW_CLEAN": "Review clean", "REVIEW_STALL": "Review, no verdict",
    "REVIEW_BUGS": "Review, bugs", "INTERRUPTED": "Interrupted",
}  # fmt: skip
STATES = {"queued": "Queued", "running": "Running", "ended": "Done"}
# One statement, so that no step falls between its columns.
STAND = """
SELECT state, (SELECT COUNT(*) FROM loops_iteration), (
    SELECT COALESCE(GROUP_CONCAT(outcome), '') FROM (
        SELECT json_extract(payload, '$.outcome') AS outcome FROM loops_logentry
        WHERE kind = 'recorded' ORDER BY seq))
FROM loops_session
"""
READ = """() => ({
  state: document.querySelector("[data-part=status] .st").textContent.trim(),
  count: Number(document.querySelector("[data-part=rows] .pane-h .num").textContent.split(" ")[0]),
  rows: [...document.querySelectorAll("[data-part=rows] .it")].reverse().map((row) => [
    Number(row.querySelector(".n").textContent), row.querySelector(".st").textContent.trim()]),
  pane: document.querySelector("#log-h").textContent,
})"""


@dataclass(frozen=True)
class Stand:
    """What the database says at one moment. outcomes: of the log's records, in their order."""

    state: str
    started: int
    outcomes: list[str]


def stand(installation: Installation) -> Stand:
    state, started, outcomes = installation.rows(STAND)[0]
    return Stand(state, started, [word for word in outcomes.split(",") if word])


def check(shown: dict, before: Stand, after: Stand) -> None:
    """What was shown is what the database said at some moment between `before` and `after`."""
    case = (shown, before, after)
    assert before.started <= shown["count"] <= after.started, case
    numbers, words = zip(*shown["rows"], strict=True) if shown["rows"] else ((), ())
    assert list(numbers) == list(range(1, shown["count"] + 1)), case
    ended = [_plain(word) for word in words if word != "Running"]
    assert "Running" not in words[:-1], case
    assert len(before.outcomes) <= len(ended) <= len(after.outcomes), case
    assert ended == [WORDS[outcome] for outcome in after.outcomes[: len(ended)]], case
    assert shown["pane"] == (f"Iteration {shown['count']}" if shown["count"] else "Output"), case
    assert shown["state"] in {STATES[before.state], STATES[after.state]}, case


def _plain(word: str) -> str:
    """A review's number of bugs is not in its outcome."""
    return "Review, bugs" if word.startswith("Review, ") and "bug" in word else word


@pytest.fixture
def visitor(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    installation = Installation(tmp_path_factory.mktemp("reload"))
    with installation.up:
        one = Visitor(chromium, installation)
        yield one
        one.context.close()


def play(installation: Installation) -> int:
    """Start a session of honest agents, with four things to mend one by one."""
    installation.add_project("app.txt has the words of the greeting.\n")
    checks = [("--check", f"R-1 app.txt has word{n}") for n in range(1, 5)]
    reviewer = scripted.argv("reviewer", *[word for check in checks for word in check])
    agents = {"worker": {"argv": scripted.argv("finisher", "--pause", "0.4")}}
    agents["reviewer"] = {"argv": reviewer}
    return installation.start_session({"agents": agents, "limits": {"iterations": 40}})


def test_a_page_is_right_after_a_reload_at_any_moment(visitor: Visitor) -> None:
    installation, moments = visitor.installation, random.Random(7)
    page = visitor.sign_in()
    path = f"/sessions/{play(installation)}/"
    left_open = visitor.context.new_page()
    left_open.goto(path)
    left_open.evaluate(NO_RELOAD)
    loads, is_over = 0, False
    while not is_over:
        is_over = stand(installation).state == "ended"  # then one more load
        before = stand(installation)
        page.goto(path, wait_until="domcontentloaded")
        shown = page.evaluate(READ)
        check(shown, before, stand(installation))
        loads += 1
        page.wait_for_timeout(moments.uniform(0, 1500))
        _check_live(page, installation)
    assert loads >= LOADS
    assert len(shown["rows"]) >= 6
    seen_from(left_open, lambda: left_open.evaluate(READ) == shown, what="the same without reload")
    assert left_open.evaluate("window.neverReloaded")
    assert visitor.faults == []


def _check_live(page: Page, installation: Installation) -> None:
    """The page that stayed where it is may be late, never wrong: it shows an earlier moment."""
    shown = page.evaluate(READ)
    after = stand(installation)
    ended = [_plain(word) for _, word in shown["rows"] if word != "Running"]
    assert ended == [WORDS[outcome] for outcome in after.outcomes[: len(ended)]]
