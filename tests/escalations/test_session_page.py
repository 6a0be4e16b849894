"""What the session's page promises: right in every state, and what agents wrote is only text."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from escalations.models import Escalation
from escalations.reading.session import PARTS
from loops import runner, services
from loops.agents.base import Reply
from loops.engine.values import Role
from loops.models import Iteration, OutputPiece, Session
from tests.loops import behaviours as act
from tests.loops.behaviours import HONEST
from tracker import services as tracker

pytestmark = pytest.mark.django_db(transaction=True)
SCRIPT = "<script>alert(1)</script>"


def text_of(answer) -> str:
    """The page's words without tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def in_state(state, new_session, world, me, run):
    """A real session brought to that state, or as near as an idle machine keeps it there."""
    session = new_session()
    session.refresh_from_db()
    if state == "queued":
        return session
    if state == "waiting_human":
        return run(session, world({**HONEST, Role.REVIEWER: act.silent}))
    if state == "ended":
        return run(session, world(HONEST))
    runner.advance(session.pk, world(HONEST), iterations=1)
    session.refresh_from_db()
    if state in ("pausing", "paused"):
        services.pause(session, me)
    if state == "paused":
        runner.advance(session.pk, world(HONEST), iterations=1)
    if state in ("resuming", "stopping"):
        Session.objects.filter(pk=session.pk).update(state=state)
    session.refresh_from_db()
    return session


STATES = (
    "queued",
    "running",
    "pausing",
    "paused",
    "waiting_human",
    "resuming",
    "stopping",
    "ended",
)
WORDS = {
    "queued": "Queued", "running": "Running", "pausing": "Pausing", "paused": "Paused",
    "waiting_human": "Waiting for human", "resuming": "Resuming", "stopping": "Stopping",
    "ended": "Nothing to do",
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_a_session_has_a_page_in_each_state(state, operator, new_session, world, me, run):
    session = in_state(state, new_session, world, me, run)
    assert session.state == state
    answer = operator.get(f"/sessions/{session.pk}/")
    assert answer.status_code == 200
    assert WORDS[state] in text_of(answer)
    assert operator.get("/").status_code == 200
    for tab in ("diff", "prompt", "files", "nonsense"):
        assert operator.get(f"/sessions/{session.pk}/?show={tab}").status_code == 200


def test_a_draft_says_that_nothing_runs_and_offers_to_start(operator, project, me):
    config = {"agents": {"worker": {"argv": ["true"]}, "reviewer": {"argv": ["true"]}}}
    session = services.create_session(project, by=me, config=config)
    answer = operator.get(f"/sessions/{session.pk}/")
    assert "It has not been started." in text_of(answer)
    assert f'action="/sessions/{session.pk}/start/"' in answer.content.decode()


@pytest.fixture
def talkative(new_session, world):
    """A session whose first iteration wrote hostile lines and a title to match."""
    session = new_session()
    runner.advance(session.pk, world(HONEST), iterations=1)
    one = Iteration.objects.get(session=session, number=1)
    for seq, text in enumerate((f"first {SCRIPT}\nsec", "ond\n\x1b[31mred\x1b[0m\n"), start=1):
        OutputPiece.objects.create(iteration=one, seq=seq, offset=0, text=text, at=timezone.now())
    return session


def test_what_agents_write_is_text_and_never_markup(operator, talkative, project, me):
    Session.objects.filter(pk=talkative.pk).update(goal=f"{SCRIPT} goal")
    tracker.file_task(project, by=me, title=f"{SCRIPT} title", text=SCRIPT)
    for path in ("/", f"/sessions/{talkative.pk}/", f"/sessions/{talkative.pk}/iterations/1/"):
        html = operator.get(path).content.decode()
        assert SCRIPT not in html
        assert "&lt;script&gt;" in html


def test_lines_have_numbers_though_pieces_cut_them(operator, talkative):
    html = operator.get(f"/sessions/{talkative.pk}/iterations/1/").content.decode()
    lines = re.findall(r'id="L(\d+)" data-seq="(\d+)".*?class="msg">(.*?)</span></li>', html)
    assert [(number, seq) for number, seq, _ in lines] == [("1", "1"), ("2", "2"), ("3", "2")]
    assert [text for *_, text in lines][1:] == ["second", "red"]


def test_long_output_shows_its_end_and_leads_to_the_lines_before(operator, talkative):
    one = Iteration.objects.get(session=talkative, number=1)
    OutputPiece.objects.filter(iteration=one).delete()
    for seq in range(1, 51):
        text = "".join(f"line {(seq - 1) * 100 + n}\n" for n in range(1, 101))
        OutputPiece.objects.create(iteration=one, seq=seq, offset=0, text=text, at=timezone.now())
    base = f"/sessions/{talkative.pk}/iterations/1/"
    html = operator.get(base).content.decode()
    assert 'id="L3001"' in html
    assert 'id="L5000"' in html
    assert 'id="L3000"' not in html
    assert f'href="{base}?before=3001"' in html
    older = operator.get(f"{base}?before=3001", headers={"HX-Request": "true"}).content.decode()
    assert older.lstrip().startswith("<li")
    assert "<html" not in older
    assert 'id="L1001"' in older
    assert ">line 3000<" in older
    assert 'id="L3001"' not in older
    first = operator.get(f"{base}?before=1001").content.decode()
    assert 'id="L1"' in first
    assert "data-log-older" not in first


def test_one_endless_line_is_cut_on_the_page_and_whole_in_raw(operator, talkative):
    one = Iteration.objects.get(session=talkative, number=1)
    OutputPiece.objects.filter(iteration=one).delete()
    for seq in range(1, 41):
        OutputPiece.objects.create(
            iteration=one, seq=seq, offset=0, text="x" * 65_536, at=timezone.now()
        )
    answer = operator.get(f"/sessions/{talkative.pk}/iterations/1/")
    assert "more characters, see Raw" in text_of(answer)
    assert len(answer.content) < 200_000
    raw = operator.get(f"/sessions/{talkative.pk}/iterations/1/raw/")
    assert len(raw.content) == 40 * 65_536
    assert raw["Content-Type"].startswith("text/plain")


def test_why_not_done_names_what_is_open_and_links_to_it(operator, new_session, project, me, world):
    session = new_session()
    tracker.file_task(project, by=me, title="Add a file", text="There is a file.")
    runner.advance(session.pk, world({**HONEST, Role.WORKER: act.vandal}), iterations=1)
    answer = operator.get(f"/sessions/{session.pk}/parts/why/")
    assert "1 task is open" in text_of(answer)
    assert 'href="/p/demo/tracker/T-1/"' in answer.content.decode()
    assert "1 file not committed" in text_of(answer)


def test_a_part_is_the_same_alone_with_others_and_in_its_page(operator, new_session, world):
    session = new_session()
    runner.advance(session.pk, world(HONEST), iterations=1)

    def get(path):
        html = operator.get(f"/sessions/{session.pk}/{path}").content.decode()
        return re.sub(r'(csrfmiddlewaretoken" value=)"\w+"|\s+', r"\1 ", html).strip()

    with time_machine.travel(timezone.now(), tick=False):
        page, together = get(""), get(f"parts/{'+'.join(PARTS)}/")
        alone = {name: get(f"parts/{name}/") for name in PARTS}
    for name, html in alone.items():
        assert f'data-part="{name}"' in html
        assert html in page
        assert html in together
    assert operator.get(f"/sessions/{session.pk}/parts/why+nonsense/").status_code == 404


def test_an_edit_is_pending_then_read_then_in_use(operator, new_session, project, me, world):
    session = new_session()
    part = f"/sessions/{session.pk}/parts/edits/"
    w = world(HONEST)
    runner.advance(session.pk, w, iterations=1)
    tracker.edit_requirement(project, "R-1", text="a.txt is there, always.", by=me)
    assert "R-1 v2" in text_of(operator.get(part))
    assert "with iteration 2" in text_of(operator.get(part))
    seen = []

    def looks(tools):
        seen.append(text_of(operator.get(part)))

    runner.advance(session.pk, world({**HONEST, Role.REVIEWER: looks, Role.WORKER: looks},
                                     workspace=w.workspace), iterations=1)  # fmt: skip
    assert "read by 2" in seen[0]
    assert "in use since 2" in text_of(operator.get(part))


def test_the_timeline_shows_turns_bugs_and_what_people_did(
    operator, new_session, project, me, world, run
):
    session = new_session()
    w = world(HONEST)
    w.workspace.files["b.txt"] = "this is bad"
    runner.advance(session.pk, w, iterations=1)
    tracker.file_task(project, by=me, title="Add a file", text="There is one.")
    run(session, w)
    html = operator.get(f"/sessions/{session.pk}/").content.decode()
    assert html.count(f'<a href="/sessions/{session.pk}/iterations/') >= session.iteration_count
    assert "T-1 filed" in html
    assert re.search(r"peaked at 1 and are 0 now", html)
    assert "It counts as done because:" in html


def test_a_running_session_shows_what_it_is_doing(operator, new_session, world):
    session = new_session()
    seen = []

    def looks(tools):
        seen.append(operator.get(f"/sessions/{session.pk}/"))
        seen.append(operator.get("/"))

    runner.advance(session.pk, world({**HONEST, Role.WORKER: looks}), iterations=1)
    page, index = (text_of(one) for one in seen)
    assert "Live output" in page
    assert "Pause after 1" in page
    assert "Worker · iteration 1" in index
    assert "1 loop is running" in index


def test_a_silent_engine_is_not_called_running(operator, new_session, world):
    session = new_session()
    runner.advance(session.pk, world(HONEST), iterations=1)
    gone = timezone.now() - timedelta(seconds=60)
    Session.objects.filter(pk=session.pk).update(state="running", lease_until=gone)
    assert "Not responding" in text_of(operator.get(f"/sessions/{session.pk}/"))


def test_why_an_iteration_failed_is_said_on_its_page(operator, new_session, world, run):
    crash = lambda tools: Reply(fault="crash", detail=f"It fell over {SCRIPT}")  # noqa: E731
    session = new_session()
    runner.advance(session.pk, world({**HONEST, Role.WORKER: crash}), iterations=1)
    html = operator.get(f"/sessions/{session.pk}/iterations/1/").content.decode()
    assert "It fell over &lt;script&gt;" in html


@pytest.mark.parametrize(
    "path",
    [
        "/sessions/999999/", "/sessions/99999999999999999999999/", "/sessions/x/", "/sessions/0/",
        "/sessions/1/iterations/99/", "/sessions/1/iterations/999999999999999/", "/queue/77/",
        "/sessions/1/parts/nonsense/", "/sessions/1/iterations/0/raw/", "/nothing/here/",
    ],
)  # fmt: skip
def test_odd_addresses_end_on_a_page_that_says_so(path, operator, new_session):
    new_session()
    answer = operator.get(path)
    assert answer.status_code == 404
    assert "All loops" in text_of(answer)


@pytest.mark.parametrize(
    "query",
    [
        "?before=-1",
        "?before=1e9",
        "?before=99999999999999999999",
        "?rows=abc&show=%00",
        "?before=²",
        "?show=diff&show=prompt",
    ],
)
def test_odd_questions_count_as_not_asked(query, operator, talkative):
    for path in (
        f"/sessions/{talkative.pk}/",
        f"/sessions/{talkative.pk}/iterations/1/",
        "/queue/",
    ):
        assert operator.get(path + query).status_code == 200


# --- rights --------------------------------------------------------------------------------------


def test_a_viewer_sees_everything_and_can_press_nothing(viewer, new_session, world, me, run):
    session = in_state("paused", new_session, world, me, run)
    html = viewer.get(f"/sessions/{session.pk}/").content.decode()
    assert "Paused" in html
    assert f'action="/sessions/{session.pk}/' not in html
    for verb in ("pause", "resume", "step", "stop", "start"):
        answer = viewer.post(f"/sessions/{session.pk}/{verb}/")
        assert answer.status_code == 403
        assert "needs the role operator" in text_of(answer)
    session.refresh_from_db()
    assert session.state == "paused"


def test_who_has_no_role_sees_no_session_and_no_part_of_one(sign_in, new_session, world, run):
    session = run(new_session(), world({**HONEST, Role.REVIEWER: act.silent}))
    stranger = sign_in(None)
    asked = Escalation.objects.get(session=session)
    for path in ("", "parts/status/", "iterations/1/", "iterations/1/raw/"):
        assert stranger.get(f"/sessions/{session.pk}/{path}").status_code == 403
    assert stranger.get(f"/queue/{asked.pk}/").status_code == 403
    assert "S-1" not in text_of(stranger.get("/"))
    assert str(asked) not in text_of(stranger.get("/queue/"))


def test_an_operator_pauses_steps_resumes_and_stops(operator, new_session, world):
    session = new_session()
    w = world(HONEST)
    base = f"/sessions/{session.pk}/"
    runner.advance(session.pk, w, iterations=1)
    for verb, state in (("pause", "pausing"), ("resume", "queued"), ("stop", "ended")):
        answer = operator.post(f"{base}{verb}/", {"reason": "wrong goal"}, follow=True)
        assert answer.status_code == 200
        session.refresh_from_db()
        assert session.state == state
        if state == "pausing":
            runner.advance(session.pk, w, iterations=1)
    assert "Stopped by olga: wrong goal" in text_of(operator.get(base))


def test_what_a_session_cannot_do_now_is_refused_with_a_sentence(operator, new_session):
    session = new_session()
    answer = operator.post(f"/sessions/{session.pk}/resume/")
    assert answer.status_code == 409
    assert "is queued" in text_of(answer)
    assert operator.get(f"/sessions/{session.pk}/resume/").status_code == 405
