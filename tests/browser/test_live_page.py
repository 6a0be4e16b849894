"""What a page does with its frames: nothing doubled, nothing missing, never a wrong "Live"."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, WebSocketRoute

from tests.browser.stage import CHROMIUM, browser, open_page

SEQ = 812  # where the story's pages stand
AT = {"at": "2026-11-30T06:42:00+00:00", "clock": "06:42:00"}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists() and "chromium" not in os.environ.get("LOOPWATCH_REQUIRE", ""):
        pytest.skip(f"{CHROMIUM} is not installed")
    with browser() as one:
        yield one


class Server:
    """The page's other side: sockets that it opened, parts and pieces that it asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.sockets: list[WebSocketRoute] = []
        self.asked: list[str] = []
        self.pieces: list[dict] = []
        self.takes_sockets = True
        self.is_away = False
        self.is_restless = False
        page.route_web_socket("**/live/*", self._open)
        page.route("**/parts/*/*", self._part)
        page.route("**/output/*", self._output)
        page.reload()
        self.eventually(lambda: self.sockets)
        self.eventually(lambda: self.first_seq() is not None)

    def first_seq(self) -> int | None:
        """The log asked once for how its last line goes on: it is ready for pieces."""
        return getattr(self, "_first", None)

    def _open(self, socket: WebSocketRoute) -> None:
        if not self.takes_sockets:
            socket.close()
            return
        self.sockets.append(socket)
        self.say(hello=True, seq=SEQ)

    def _part(self, route: Route) -> None:
        if self.is_away:
            route.abort()
            return
        names = route.request.url.split("/parts/")[1].split("/")[0].split("+")
        self.asked += names
        drawn = [name for name in names if name != "iteration"]
        html = "".join(f'<div data-part="{name}">fresh {name}</div>' for name in drawn)
        route.fulfill(body=html, content_type="text/html")

    def _output(self, route: Route) -> None:
        after = int(route.request.url.partition("after=")[2])
        if self.first_seq() is None:
            self._first = after
        missing = [piece for piece in self.pieces if piece["seq"] > after]
        if self.is_restless:  # before this answer is there, something else has happened
            self._last = getattr(self, "_last", SEQ) + 1
            told = {key: one for key, one in self.write("more\n").items() if key != "text"}
            self.say(seq=self._last, after=self._last - 1, parts=["limits"], output=[told])
        route.fulfill(json={"pieces": missing, "more": False, "rest": "", "is_over": False})

    def say(self, **frame: object) -> None:
        self.sockets[-1].send(json.dumps(frame))

    def write(self, text: str) -> dict:
        """A new piece of the running iteration, not said yet."""
        seq = self._first + len(self.pieces) + 1
        piece = {"iteration": 58, "seq": seq, "text": text, **AT}
        self.pieces.append(piece)
        return piece

    def lines(self) -> list[str]:
        """What the log shows of what was written here."""
        return self.page.eval_on_selector_all(
            "[data-log] li[data-seq]",
            f"all => all.filter(n => Number(n.dataset.seq) > {self._first})"
            ".map(n => n.querySelector('.msg').textContent)",
        )

    def eventually(self, look: Callable[[], object], within: float = 20) -> None:
        end = time.monotonic() + within
        while not look():
            assert time.monotonic() < end, "it did not happen"
            self.page.wait_for_timeout(50)


@pytest.fixture
def server(chromium: Browser) -> Iterator[Server]:
    page = open_page(chromium, "session", width=1440, height=900, theme="light")
    yield Server(page)
    expected = ("WebSocket", "ERR_FAILED")  # what a test itself took away
    faults = [fault for fault in page.faults if not any(word in fault for word in expected)]
    page.close()
    assert not faults


def word(server: Server) -> str:
    return server.page.text_content("[data-live-word]")


def test_a_change_fetches_the_parts_that_it_names_and_no_others(server):
    server.say(seq=SEQ + 1, after=SEQ, parts=["why", "cost", "not-on-this-page"])
    server.eventually(lambda: server.page.text_content('[data-part="why"]') == "fresh why")
    server.page.wait_for_timeout(700)
    assert sorted(server.asked) == ["cost", "why"]


def test_a_hole_in_the_numbers_fetches_everything_and_a_frame_that_comes_twice_nothing(server):
    server.say(seq=SEQ, after=SEQ - 1, parts=["why"])
    server.page.wait_for_timeout(700)
    assert server.asked == []
    server.say(seq=SEQ + 2, after=SEQ + 1, parts=["why"])
    server.eventually(lambda: {"status", "rows", "limits", "cost"} <= set(server.asked))


@pytest.mark.parametrize("frame", [{"lagged": True}, {"resync": True, "seq": 3}])
def test_a_page_that_is_told_to_fetch_fetches_everything(server, frame):
    server.say(**frame)
    server.eventually(lambda: {"status", "rows", "limits", "cost"} <= set(server.asked))


def test_two_beats_that_say_more_than_came_fetch_everything(server):
    server.say(beat=True, seq=SEQ + 1)
    server.page.wait_for_timeout(700)
    assert server.asked == []
    server.say(beat=True, seq=SEQ + 1)
    server.eventually(lambda: "status" in server.asked)


def test_output_grows_line_by_line_as_text_only(server):
    first = server.write("one\n<b>two</b> &amp;\nthr")
    second = server.write("ee\n\x1b[31mred\x1b[0m [secret removed]\nprogress 1\rprogress 2\n")
    server.say(seq=SEQ + 1, after=SEQ, output=[first])
    server.say(seq=SEQ + 2, after=SEQ + 1, output=[second])
    wanted = ["one", "<b>two</b> &amp;", "three", "red secret removed", "progress 2"]
    server.eventually(lambda: server.lines() == wanted)
    assert server.page.locator("[data-log] li .cut").last.text_content() == "secret removed"


def test_a_piece_that_comes_twice_is_shown_once_and_one_that_is_missing_is_fetched(server):
    pieces = [server.write(f"line {n}\n") for n in range(5)]
    server.say(seq=SEQ + 1, after=SEQ, output=[pieces[0]])
    server.say(seq=SEQ + 2, after=SEQ + 1, output=[pieces[0], pieces[1]])
    server.say(seq=SEQ + 3, after=SEQ + 2, output=[pieces[4]])
    server.eventually(lambda: len(server.lines()) >= 5)
    server.page.wait_for_timeout(300)
    assert server.lines() == [f"line {n}" for n in range(5)]


def test_output_that_is_only_announced_is_fetched(server):
    piece = server.write("long\n")
    server.say(seq=SEQ + 1, after=SEQ, output=[{"iteration": 58, "seq": piece["seq"]}])
    server.eventually(lambda: server.lines() == ["long"])


def test_one_frame_in_five_lost_leaves_no_hole_and_no_double(server):
    chance, seq = random.Random(5), SEQ
    for n in range(40):
        piece = server.write(f"line {n}\n")
        seq += 1
        if chance.random() > 0.2:
            server.say(seq=seq, after=seq - 1, output=[piece])
        if n % 8 == 0 and chance.random() > 0.2:
            server.say(beat=True, seq=seq)
    for _ in range(5):  # a beat each second, and these get lost like all others
        if chance.random() > 0.2:
            server.say(beat=True, seq=seq)
        server.page.wait_for_timeout(1000)
    assert server.lines() == [f"line {n}" for n in range(40)]
    assert word(server) == "Live"


def test_a_page_says_since_when_it_is_not_live_and_when_it_has_caught_up(server):
    banner = server.page.locator("[data-stale-banner]")
    assert word(server) == "Live"
    assert banner.is_hidden()
    server.takes_sockets = False
    server.sockets[-1].close()
    server.eventually(lambda: word(server) == "Connecting")
    server.eventually(banner.is_visible)
    assert "Not live since" in banner.text_content()
    assert "stopped" not in banner.text_content()
    server.write("meanwhile\n")
    server.takes_sockets = True
    server.eventually(banner.is_hidden, within=40)
    server.eventually(lambda: word(server) == "Live")
    assert server.lines() == ["meanwhile"]
    assert "status" in server.asked


def test_a_loop_that_never_rests_does_not_keep_the_page_from_being_live_again(server):
    banner = server.page.locator("[data-stale-banner]")
    server.takes_sockets = False
    server.sockets[-1].close()
    server.eventually(banner.is_visible)
    server.takes_sockets = server.is_restless = True
    server.eventually(banner.is_hidden, within=20)
    server.eventually(lambda: word(server) == "Live")


def test_a_server_that_is_back_is_noticed_before_the_next_try_is_due(server):
    server.takes_sockets, server.is_away = False, True
    server.sockets[-1].close()
    server.page.wait_for_timeout(12_000)  # tries after 1, 2, 4 s; the next one would be 8 s later
    server.takes_sockets, server.is_away = True, False
    server.eventually(lambda: word(server) == "Live", within=6)


def test_a_socket_that_is_open_and_silent_is_not_called_live(server):
    server.eventually(lambda: word(server) == "Connecting")
    server.eventually(lambda: len(server.sockets) > 1)  # it tries a new one


def test_a_paused_page_changes_nothing_and_says_how_much_waits(server):
    server.page.keyboard.press(".")
    server.say(seq=SEQ + 1, after=SEQ, parts=["why"])
    server.say(seq=SEQ + 2, after=SEQ + 1, output=[server.write("held\n")])
    server.eventually(lambda: "2 waiting" in server.page.text_content("[data-live-pill]"))
    assert word(server) == "Paused"
    assert (server.asked, server.lines()) == ([], [])
    server.page.keyboard.press(".")
    server.eventually(lambda: "why" in server.asked and server.lines() == ["held"])


def test_a_part_in_which_somebody_types_waits(server):
    server.page.evaluate(
        """() => {
          const box = document.createElement("input");
          box.id = "draft";
          document.querySelector('[data-part="why"]').append(box);
          box.focus();
        }"""
    )
    server.page.keyboard.type("half a sen")
    server.say(seq=SEQ + 1, after=SEQ, parts=["why", "cost"])
    server.eventually(lambda: "cost" in server.asked)
    server.page.wait_for_timeout(700)
    assert server.page.input_value("#draft") == "half a sen"
    server.page.evaluate("document.activeElement.blur()")
    server.eventually(lambda: server.page.text_content('[data-part="why"]') == "fresh why")


def test_a_reader_further_up_is_not_moved_and_sees_that_lines_wait(server):
    node = server.page.locator("[data-log]")
    lines = [server.write(f"{n}\n") for n in range(60)]
    server.say(seq=SEQ + 1, after=SEQ, output=lines)
    server.eventually(lambda: len(server.lines()) == 60)
    node.evaluate("n => { n.scrollTop = 40; }")
    server.page.wait_for_timeout(200)
    server.say(seq=SEQ + 2, after=SEQ + 1, output=[server.write("new\n")])
    server.eventually(lambda: "1 new line" in server.page.text_content("[data-log-new]"))
    assert node.evaluate("n => n.scrollTop") == 40
    server.page.click("[data-log-new]")
    server.eventually(lambda: server.page.locator("[data-log-new]").is_hidden())


def test_a_log_at_its_end_stays_there_when_something_above_takes_its_room(server):
    lines = [server.write(f"{n}\n") for n in range(60)]
    server.say(seq=SEQ + 1, after=SEQ, output=lines)
    server.eventually(lambda: len(server.lines()) == 60)
    server.page.eval_on_selector("[data-stale-banner]", "n => { n.hidden = false; }")
    server.say(seq=SEQ + 2, after=SEQ + 1, output=[server.write("new\n")])
    server.eventually(lambda: len(server.lines()) == 61)
    assert server.page.text_content("[data-log-state]").strip() == "Following"
    gap = "n => n.scrollHeight - n.scrollTop - n.clientHeight"
    server.eventually(lambda: server.page.eval_on_selector("[data-log]", gap) < 24)
    assert server.page.locator("[data-log-new]").is_hidden()
