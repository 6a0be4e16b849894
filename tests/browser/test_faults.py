"""What breaks between the page and its loop is said, and then made good: nothing is doubled and
nothing is missing, in the log or in the parts (CASES P1, P2)."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.running import NO_RELOAD, Visitor, log_lines, part, seen_from
from tests.loops.upping import Installation, health

pytestmark = [pytest.mark.slow, pytest.mark.once]
CONVERGED = 5.0  # seconds from the service's return, on an idle machine
# Whole lines, lines in two pieces, a line that is written over, and a flood now and then.
TALK = """
import itertools, sys, time
for n in itertools.count(1):
    sys.stdout.write(f"line {n} begins, ")
    if n % 3 == 0:
        sys.stdout.flush()
        time.sleep(0.15)
    sys.stdout.write(f"line {n} ends\\n")
    if n % 10 == 0:
        sys.stdout.write(f"{n} percent\\r{n} per mille\\n")
    if n % 50 == 0:
        sys.stdout.write("".join(f"flood {n} {m}\\n" for m in range(40)))
    sys.stdout.flush()
    time.sleep(0.15)
"""
# Real sockets that a test may cut, refuse, and take frames from.
SOCKETS = """
window.fault = { lose: 0, refuse: false, lost: 0, sockets: [] };
window.WebSocket = class extends WebSocket {
  constructor(...words) {
    super(...words);
    window.fault.sockets.push(this);
    if (window.fault.refuse) this.close();
  }
  addEventListener(kind, hear, ...more) {
    super.addEventListener(kind, kind !== "message" ? hear : (event) => {
      if (Math.random() < window.fault.lose) window.fault.lost += 1;
      else hear(event);
    }, ...more);
  }
};
"""


class Watch:
    """A page that follows one long iteration of a running session."""

    def __init__(self, visitor: Visitor, session: int) -> None:
        self.installation = visitor.installation
        self.visitor, self.session = visitor, session
        self.filed = 0
        visitor.sign_in().close()
        self.page = visitor.context.new_page()
        self.page.goto(f"/sessions/{session}/")
        self.see(lambda: len(log_lines(self.page)[1]) > 5, what="output", within=90)
        began = time.monotonic()
        self.page.reload()
        self.load = time.monotonic() - began  # how slow this machine is now
        self.page.evaluate(NO_RELOAD)

    def see(self, look: Callable[[], object], **how: object) -> object:
        return seen_from(self.page, look, **how)

    def word(self) -> str:
        return self.page.inner_text("[data-live-word]")

    def banner(self) -> str:
        # One look: between two the banner may go.
        return self.page.evaluate(
            "document.querySelector('[data-stale-banner]:not([hidden])')?.innerText ?? ''"
        )

    def file(self) -> str:
        """A person files a task in another terminal; what the page is to say then."""
        self.filed += 1
        self.installation.command("task", "file", "p", f"Task number {self.filed}")
        return "1 task is open" if self.filed == 1 else f"{self.filed} tasks are open"

    def written(self) -> list[str]:
        """The whole lines that the agent wrote so far, as the server keeps them."""
        texts = self.installation.rows("SELECT text FROM loops_outputpiece ORDER BY seq")
        whole = "".join(text for (text,) in texts).split("\n")[:-1]
        return [line.rpartition("\r")[2] for line in whole]

    def has(self, lines: list[str]) -> bool:
        first, shown = log_lines(self.page)
        wanted = lines[first - 1 :]
        return len(shown) >= len(wanted) and all(
            mine == its or number == len(wanted) - 1
            for number, (mine, its) in enumerate(zip(shown, wanted, strict=False))
        )

    def converges(self, news: str, *, since: float) -> float:
        """Seconds since then after which the page shows all there was, and that news."""
        lines = self.written()
        first: dict[str, float] = {}  # when each was seen at last to hold, for who reads a failure

        def look() -> bool:
            holds = {
                "lines": self.has(lines),
                "news": news in part(self.page, "why"),
                "live": self.word() == "Live",
                "no banner": not self.banner(),
            }
            for name, one in holds.items():
                first.setdefault(name, time.monotonic() - since) if one else first.pop(name, None)
            return all(holds.values())

        self.see(look, what=f"the page with {news} and {len(lines)} lines", within=60)
        took = time.monotonic() - since
        when = ", ".join(f"{name} {at:.1f} s" for name, at in first.items())
        print(f"converged in {took:.1f} s ({when}); a load took {self.load:.1f} s")
        return took

    def check(self) -> None:
        """Every line once and in order, by the page's log and by what the server serves."""
        raw = self.visitor.text(f"/sessions/{self.session}/iterations/1/raw/")
        lines = [line.rpartition("\r")[2] for line in raw.split("\n")[:-1]]
        self.see(lambda: self.has(lines), what="what the server serves as raw output")
        first, shown = log_lines(self.page)
        assert shown[:-1] == self.written()[first - 1 :][: len(shown) - 1]
        numbers = [int(n) for n in re.findall(r"line (\d+) ends", "\n".join(shown))]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert self.page.inner_text("[data-log-state]").strip() == "Following"
        assert self.page.evaluate("window.neverReloaded")

    @property
    def soon(self) -> float:
        """Seconds for catching up, which takes no longer than a few loads of the page."""
        return CONVERGED + 3 * self.load

    def notices(self) -> None:
        """After five seconds the page says since when it is not live."""
        self.see(lambda: re.search(r"Not live since \d\d:\d\d:\d\d", self.banner()), what="banner")
        assert self.word() == "Connecting"


@pytest.fixture(scope="module")
def watch(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    installation = Installation(tmp_path_factory.mktemp("faults"))
    with installation.up:
        visitor = Visitor(chromium, installation, SOCKETS)
        installation.add_project()
        worker = {"argv": [sys.executable, "-I", "-S", "-c", TALK], "wall_seconds": 3000}
        agents = {"worker": worker, "reviewer": {"argv": ["true"]}}
        watch = Watch(visitor, installation.start_session({"agents": agents}))
        yield watch
        crashes = [
            fault for fault in visitor.faults if re.search(r"Error: |Security Policy", fault)
        ]
        visitor.context.close()
        assert crashes == []


def set_fault(page: Page, **values: object) -> None:
    page.evaluate("values => Object.assign(window.fault, values)", values)


def test_a_page_whose_socket_is_cut_says_so_and_loses_nothing(watch: Watch) -> None:
    set_fault(watch.page, refuse=True)
    watch.page.evaluate("window.fault.sockets.at(-1).close()")
    watch.see(lambda: watch.word() == "Connecting", what="the word on the pill")
    news = watch.file()
    watch.notices()
    assert "Loops go on without this page" in watch.banner()
    set_fault(watch.page, refuse=False)
    back = time.monotonic()
    watch.page.evaluate("dispatchEvent(new Event('online'))")
    assert watch.converges(news, since=back) < watch.soon
    watch.check()


def test_one_lost_frame_in_five_delays_the_page_and_loses_nothing(watch: Watch) -> None:
    page = watch.page
    set_fault(page, lose=0.2, lost=0)
    try:
        while page.evaluate("window.fault.lost") < 15:
            news = watch.file()
            assert watch.converges(news, since=time.monotonic()) < watch.soon
    finally:
        set_fault(page, lose=0)
    watch.check()


def kill(watch: Watch, child: str) -> None:
    up = watch.installation.up
    if up.pid(child) in up.alive():  # else it is between its death and its next start
        with suppress(ProcessLookupError):
            os.kill(up.pid(child), signal.SIGKILL)


def is_back(watch: Watch) -> bool:
    return health(watch.visitor.address)[0] == 200


def keep_down(watch: Watch, child: str) -> str:
    """Kill it again and again until the page says that it is not live; `up` restarts it each time.
    What is to be said of a task that was filed meanwhile."""
    news = ""

    def look() -> bool:
        nonlocal news
        kill(watch, child)
        news = news or watch.file()
        return "Not live since" in watch.banner()

    watch.see(look, what=f"the banner while {child} is away", within=90)
    assert watch.word() == "Connecting"
    return news


@pytest.mark.parametrize("child", ["broker", "web"])
def test_a_page_outlives_a_killed_service(watch: Watch, child: str) -> None:
    news = keep_down(watch, child)
    watch.see(lambda: is_back(watch), what=f"{child} at work again", within=120)
    back = time.monotonic()
    assert watch.converges(news, since=back) < watch.soon
    watch.check()
