"""Output from a cursor: what a page missed, no more and no less."""

import pytest

from loops.models import Iteration, OutputPiece, PromptText
from loops.moment import now
from loops.views import output
from tracker.services import members

pytestmark = pytest.mark.django_db


@pytest.fixture
def iteration(new_session):
    prompt = PromptText.objects.create(digest="d", text="Do it.")
    return Iteration.objects.create(
        session=new_session(), number=1, role="worker", rule="1", fence=1, before={},
        claimed_at_seq=1, started_at=now(), prompt=prompt,
    )  # fmt: skip


@pytest.fixture
def write(iteration):
    def write(*texts: str) -> None:
        known = iteration.pieces.count()
        for seq, text in enumerate(texts, known + 1):
            OutputPiece.objects.create(iteration=iteration, seq=seq, offset=0, text=text, at=now())

    return write


@pytest.fixture
def get(client, iteration):
    client.force_login(members.known_user("eve"))
    members.grant("eve", "viewer", iteration.session.project)

    def get(after="0", **headers):
        url = f"/sessions/{iteration.session_id}/iterations/1/output/"
        return client.get(url, {"after": after}, headers=headers or {"Accept": "application/json"})

    return get


def test_everything_after_the_cursor_comes_once_and_in_order(get, write):
    write("one\n", "two\n", "three\n")
    answer = get("1").json()
    assert [(p["seq"], p["text"]) for p in answer["pieces"]] == [(2, "two\n"), (3, "three\n")]
    assert (answer["more"], answer["rest"], answer["is_over"]) == (False, "", False)
    assert get("3").json()["pieces"] == []


@pytest.mark.parametrize("after", ["", "x", "-1", "9" * 40, "²"])
def test_a_cursor_that_is_none_starts_at_the_beginning(get, write, after):
    write("one\n")
    assert len(get(after).json()["pieces"]) == 1


def test_the_beginning_of_an_unfinished_line_comes_along(get, write):
    write("one\ntw", "o and a ha", "lf", "\nthree\n")
    assert get("3").json()["rest"] == "two and a half"
    assert get("4").json()["rest"] == ""


def test_long_output_comes_in_portions_until_nothing_is_left(get, write, monkeypatch):
    monkeypatch.setattr(output, "MOST_TEXT", 10)
    write("a" * 8, "b" * 8, "c" * 30, "d")
    seen, after = [], 0
    while True:
        answer = get(str(after)).json()
        seen += [piece["seq"] for piece in answer["pieces"]]
        after = seen[-1]
        if not answer["more"]:
            break
    assert seen == [1, 2, 3, 4]


def test_without_script_the_address_leads_to_the_iterations_page(get):
    assert get(Accept="text/html").status_code == 302


def test_strangers_to_the_project_get_nothing(get, write):
    write("secret\n")
    members.revoke("eve", Iteration.objects.get().session.project)
    answer = get()
    assert answer.status_code == 403
    assert b"secret" not in answer.content
