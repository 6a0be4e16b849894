"""Finding a session on the page of all loops, without a script, however many there are."""

from __future__ import annotations

import re
import time

import pytest
from django.db import connection
from django.utils import timezone

from loops.models import Session
from tests.escalations.test_session_page import text_of
from tracker import services as tracker

pytestmark = pytest.mark.django_db(transaction=True)
CONFIG = {"limits": {"iterations": 40, "wall_seconds": 3600, "no_progress": 6, "tokens": None,
                     "money": None}}  # fmt: skip
BIG = {"padding": "x" * 3000}  # about what a folded state and a preflight weigh


def make(project, count=1, *, state="ended", end="done", **fields):
    now = timezone.now()
    ended_at = now if state == "ended" else None
    rows = [
        Session(
            project=project, state=state, end_reason=end if state == "ended" else None,
            config=CONFIG, created_at=now, created_by="ana", ended_at=ended_at,
            **({"pattern": "single_thread", "goal": "Quiet work", "fold": BIG} | fields),
        )
        for _ in range(count)
    ]  # fmt: skip
    Session.objects.bulk_create(rows, batch_size=500)
    return Session.objects.order_by("-pk").first()


@pytest.fixture
def sessions(project, me):
    other = tracker.create_project(name="geotiles", repo_path="/nowhere", by=me)
    return {
        "csv": make(project, goal="Detect the Encoding of a file"),
        "tiles": make(other, goal="Evict the tile cache", end="exhausted",
                      pattern="maker_verifier", end_sentence="All 4 attempts are used."),
        "waits": make(other, state="waiting_human", goal="Read sockets",
                      pattern="thinker_worker_verifier"),
        "draft": make(project, state="draft", goal="100% done_ness"),
    }  # fmt: skip


def found(client, **query) -> list[str]:
    html = client.get("/", query).content.decode()
    table = html.partition('class="loops found"')[2].partition("</table>")[0]
    return re.findall(r'class="key">(S-\d+)<', table)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"q": "encoding"}, ["csv"]),
        ({"q": "ENCODING file"}, ["csv"]),
        ({"q": "encoding cache"}, []),
        ({"q": "geotiles"}, ["waits", "tiles"]),
        ({"q": "exhausted"}, ["tiles"]),
        ({"q": "waiting"}, ["waits"]),
        ({"q": "maker"}, ["tiles"]),
        ({"q": "100% done_ness"}, ["draft"]),
        ({"state": "ended"}, ["tiles", "csv"]),
        ({"state": "done"}, ["csv"]),
        ({"state": "draft"}, ["draft"]),
        ({"pattern": "thinker_worker_verifier"}, ["waits"]),
        ({"project": "geotiles", "state": "exhausted"}, ["tiles"]),
        ({"project": "geotiles", "q": "encoding"}, []),
        ({"project": "nowhere"}, []),
    ],
)
def test_sessions_are_found_by_words_state_pattern_and_project(query, names, admin, sessions):
    assert found(admin, **query) == [sessions[name].ref for name in names]


def test_a_session_is_found_by_its_number(admin, sessions):
    for said in (sessions["tiles"].ref, sessions["tiles"].ref.lower()):
        assert found(admin, q=said) == [sessions["tiles"].ref]
    assert sessions["tiles"].ref in found(admin, q=str(sessions["tiles"].pk))
    page = text_of(admin.get("/", {"q": sessions["tiles"].ref}))
    assert "All 4 attempts are used." in page
    assert "Exhausted" in page


@pytest.mark.parametrize(
    "query",
    [{"q": "x" * 5000}, {"q": "S-" + "9" * 15}, {"q": "\0 %_\\ '\""}, {"q": "zebra"},
     {"state": "nonsense", "q": "zebra"}, {"before": "x", "q": "zebra"},
     {"before": "9" * 40, "q": "zebra"}, {"pattern": "<b>", "q": "zebra"}],
)  # fmt: skip
def test_what_makes_no_sense_finds_nothing_and_breaks_nothing(query, admin, sessions):
    answer = admin.get("/", query)
    assert answer.status_code == 200
    assert "No session fits" in text_of(answer)


def test_without_a_search_the_page_is_as_it_was(admin, sessions):
    page = admin.get("/")
    assert "Ended in the last 24 h" in text_of(page)
    assert 'class="loops found"' not in page.content.decode()
    assert "Clear" not in text_of(page)


def test_the_part_that_refreshes_a_search_keeps_it(admin, sessions):
    part = admin.get("/parts/index/", {"q": "encoding"}).content.decode()
    assert sessions["csv"].ref in part
    assert sessions["tiles"].ref not in part
    assert 'value="encoding"' in part


def test_only_what_a_person_may_see_is_found(client, sessions):
    from tests.loops.pages_kit import sign_in

    guest = sign_in(client, "guest", "viewer", sessions["csv"].project)
    assert found(guest, q="cache") == []
    assert found(guest, q=sessions["tiles"].ref) == []
    assert found(guest, project="geotiles") == []
    assert "geotiles" not in guest.get("/").content.decode()


def test_pages_follow_each_other_and_new_sessions_move_nothing(admin, project):
    make(project, 120, goal="needle here")
    pages, address = [], {"q": "needle"}
    for _ in range(4):
        html = admin.get("/", address).content.decode()
        pages.append(found(admin, **address))
        make(project, goal="needle, newer")
        older = re.search(r'href="/\?([^"]*before=(\d+))" rel="next"', html)
        if older is None:
            break
        assert "q=needle" in older[1]
        address["before"] = older[2]
    shown = [ref for page in pages for ref in page]
    assert [len(page) for page in pages] == [50, 50, 20]
    assert len(set(shown)) == 120


def test_ten_thousand_sessions_stay_fast(admin, project, sessions):
    make(project, 9_990, goal="Some ordinary words of a goal that somebody typed")
    make(project, 10, goal="A needle among them")
    began = time.monotonic()
    queries = (
        {"q": "needle"}, {"q": "no such word"}, {"state": "exhausted"}, {"project": "geotiles"},
        {"pattern": "maker_verifier"}, {"q": "S-3"},
    )  # fmt: skip
    for query in queries:
        assert admin.get("/", query).status_code == 200
    assert time.monotonic() - began < 15
    assert len(found(admin, q="needle")) == 10


@pytest.mark.once
def test_filters_are_served_by_an_index(sessions):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL prefers to read a table whole while it is small")
    for fields, index in (
        ({"state": "draft"}, "session_by_state"),
        ({"end_reason": "exhausted"}, "session_by_end_reason"),
        ({"pattern": "maker_verifier"}, "session_by_pattern"),
        ({"project": sessions["csv"].project_id}, "session_by_project"),
    ):
        plan = Session.objects.filter(**fields).order_by("-pk")[:51].explain()
        assert index in plan, plan
        assert "TEMP B-TREE" not in plan, plan
