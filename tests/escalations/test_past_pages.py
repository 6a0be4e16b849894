"""The past of a session in the browser: its state after any iteration, replay, fork, comparison,
export. Without a script; every page says who may see it."""

from __future__ import annotations

import io
import json
import re
import zipfile
from html import unescape

import pytest

from loops import forks, runner, services, stage
from loops.engine.values import Role
from loops.models import Iteration, Session
from loops.reading import entries
from tests.loops import behaviours as act
from tests.loops.behaviours import HONEST
from tests.loops.pages_kit import text_of
from tests.loops.test_forks import LOOK, as_it_stood
from tracker import services as tracker
from tracker.services import members

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


@pytest.fixture(autouse=True)
def stored(monkeypatch):
    """The world in memory has no store of git; forks find their trees there all the same."""
    monkeypatch.setattr(stage, "lacks", lambda session, rev, head: "")


@pytest.fixture
def ended(new_session, world, run):
    w = world(HONEST)
    w.workspace.files["b.txt"] = "this is bad"
    session = run(new_session(), w)
    session.world = w
    return session


def page(client, path):
    answer = client.get(path)
    assert answer.status_code == 200, text_of(answer)
    return text_of(answer)


# --- history -------------------------------------------------------------------------------------


def test_the_history_shows_what_the_rules_said_after_an_iteration(operator, ended):
    said = page(operator, f"/sessions/{ended.pk}/history/?at=2")
    assert "After iteration 2: Worker" in said
    assert "A review with findings: the coach if due, else the worker." in said
    assert "Iteration 3 ran: worker, by rule ST-R2." in said
    assert "Still open: B-1" in said
    assert "Done streak 0 of 2" in said
    assert "2 of 40" in said


def test_every_iteration_has_its_state_and_neighbours(operator, ended):
    for number in range(1, ended.iteration_count + 1):
        html = operator.get(f"/sessions/{ended.pk}/history/?at={number}").content.decode()
        assert ('rel="prev"' in html) == (number > 1)
        assert ('rel="next"' in html) == (number < ended.iteration_count)
    said = page(operator, f"/sessions/{ended.pk}/history/")
    assert f"After iteration {ended.iteration_count}: End: Done" in said


def test_a_long_log_is_read_a_page_at_a_time(operator, ended, monkeypatch):
    monkeypatch.setattr(entries, "SHOWN", 4)
    path, seen = f"/sessions/{ended.pk}/history/?at={ended.iteration_count}", []
    while path:
        html = operator.get(path).content.decode()
        seen.append([int(one) for one in re.findall(r'<span class="key">(\d+)</span><time', html)])
        older = re.search(r'href="([^"]+)">Older entries', html)
        path = unescape(older[1]) if older else ""
    last = ended.log.filter(kind="recorded").latest("seq").seq
    assert [seq for one in seen for seq in one] == list(range(last, 0, -1))
    assert max(len(one) for one in seen) == 4


def test_the_history_of_what_has_not_begun_says_so(operator, new_session):
    session = new_session()
    assert "No iteration has ended yet" in page(operator, f"/sessions/{session.pk}/history/")
    assert operator.get(f"/sessions/{session.pk}/history/?at=1").status_code == 404


def test_the_replay_page_shows_a_changed_rule_as_a_difference(operator, ended):
    path = f"/sessions/{ended.pk}/replay/"
    assert "Today's rules say the same of 7 iterations" in page(operator, path)
    Iteration.objects.filter(session=ended, number=3).update(rule="ST-W5")
    said = page(operator, path)
    assert "Today's rules differ in 1 of 7 iterations" in said
    assert "3 Worker ST-W5 Work Worker ST-R2 Work" in said


# --- fork ----------------------------------------------------------------------------------------


def posted(**changes):
    form = {"iterations": "40", "minutes": "480", "no_progress": "6", "no_tokens": "on",
            "no_money": "on", "agent_worker": "", "agent_reviewer": ""}  # fmt: skip
    return form | changes


def test_a_fork_is_started_from_its_form_and_says_where_it_comes_from(operator, ended):
    path = f"/sessions/{ended.pk}/fork/?at=2"
    said = page(operator, path)
    assert "Start fork" in said
    assert "40 iterations" in said
    assert "B-1 open then; it stays with" in said
    answer = operator.post(path, posted(iterations="7"), follow=True)
    new = Session.objects.latest("pk")
    assert answer.redirect_chain[-1][0] == f"/sessions/{new.pk}/"
    assert new.config["limits"]["iterations"] == 7
    assert new.config["limits"]["wall_seconds"] == ended.config["limits"]["wall_seconds"]
    said = text_of(answer)
    assert f"Forked from S-{ended.pk} after iteration 2; its spending stays there." in said
    assert "Tracker, 1 difference since then" in said
    parent = page(operator, f"/sessions/{ended.pk}/")
    assert f"Fork: S-{new.pk} after 2" in parent


def test_the_form_says_behind_whom_the_fork_waits(operator, ended, new_session, world):
    active = new_session()
    runner.advance(active.pk, world(HONEST), iterations=1)
    said = page(operator, f"/sessions/{ended.pk}/fork/?at=2")
    assert f"Queue fork behind S-{active.pk}" in said


def test_bound_and_button_follow_the_form(operator, ended):
    answer = operator.post(
        f"/sessions/{ended.pk}/fork/before/?at=2", posted(iterations="3"),
        headers={"HX-Request": "true"},
    )  # fmt: skip
    assert 'data-part="before"' in answer.content.decode()
    assert text_of(answer).startswith("Proven upper bound 3 iterations")


def test_another_agent_plays_a_role_in_the_fork(operator, ended):
    services.save_agent("other", {"argv": ["false"]})
    operator.post(f"/sessions/{ended.pk}/fork/?at=2", posted(agent_worker="other"))
    new = Session.objects.latest("pk")
    assert new.config["agents"]["worker"]["argv"] == ["false"]
    assert new.config["agents"]["reviewer"] == ended.config["agents"]["reviewer"]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"iterations": "0"}, "whole number from 1"),
        ({"no_tokens": ""}, "tick that there is no limit"),
        ({"money": "5"}, "needs a token limit"),
        ({"agent_worker": "nobody"}, "not one of the available choices"),
    ],
)
def test_a_wrong_form_comes_back_with_a_sentence_and_makes_nothing(
    operator, ended, wrong, sentence
):
    answer = operator.post(f"/sessions/{ended.pk}/fork/?at=2", posted(**wrong))
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert Session.objects.count() == 1


def test_a_tree_that_is_gone_cannot_be_forked_and_the_form_says_so(operator, ended, monkeypatch):
    monkeypatch.setattr(stage, "lacks", lambda *_: "The tree is not in the project's store.")
    path = f"/sessions/{ended.pk}/fork/?at=2"
    said = page(operator, path)
    assert "Not ready to fork" in said
    answer = operator.post(path, posted())
    assert answer.status_code == 409
    assert "The tree is not in the project's store." in text_of(answer)


# --- compare -------------------------------------------------------------------------------------


def forked(ended, me, run, behaviours=HONEST, **changes):
    new = forks.fork(ended, 2, me, look=LOOK, **changes)
    return run(new, as_it_stood(ended.world, new, behaviours))


def test_a_fork_that_goes_another_way_is_the_same_up_to_the_fork(operator, ended, me, run):
    new = forked(ended, me, run, {**HONEST, Role.WORKER: act.silent}, limits={"no_progress": 2})
    html = operator.get(f"/sessions/compare/?a={ended.pk}&b={new.pk}").content.decode()
    said = page(operator, f"/sessions/compare/?a={ended.pk}&b={new.pk}")
    assert "Same 2 directives, then they part" in said
    assert "The same in both 1 to 2" in said
    assert html.count('class="fk"') == 1
    assert 'class="gone"' in html
    assert re.search(r'<tr class="df"><th scope="row"><b>Without a change</b></th>', html)
    assert f"S-{new.pk} is a fork of S-{ended.pk} after 2: one setting was changed." in said
    swapped = operator.get(f"/sessions/compare/?a={new.pk}&b={ended.pk}")
    assert swapped.status_code == 200


def test_equal_sessions_are_told_as_equal(operator, new_session, world, run):
    one, two = (run(new_session(), world(HONEST)) for _ in range(2))
    said = page(operator, f"/sessions/compare/?a={one.pk}&b={two.pk}")
    assert "The same 4 directives in both" in said
    assert "Here they differ" not in said


def test_the_same_directive_with_another_answer_is_told_as_that(operator, new_session, world, run):
    one = run(new_session(), world(HONEST))
    two = run(new_session(), world({**HONEST, Role.WORKER: act.silent}))
    said = page(operator, f"/sessions/compare/?a={one.pk}&b={two.pk}")
    assert "Same 1 directive, then the answers differ" in said
    assert "The same directive. The answer is not the same." in said


def test_drafts_and_other_projects_can_be_compared_too(operator, ended, me):
    other = tracker.create_project(name="other", repo_path="/elsewhere", by=me)
    tracker.edit_requirement(other, None, text="Anything.", by=me)
    config = {"agents": {"worker": {"argv": ["true"]}, "reviewer": {"argv": ["true"]}}}
    draft = services.create_session(other, by=me, config=config)
    path = f"/sessions/compare/?a={ended.pk}&b={draft.pk}"
    assert operator.get(path).status_code == 403
    members.grant("olga", "viewer", other)
    said = page(operator, path)
    assert "They work on different projects" in said
    assert "They differ from the first directive on" in said


def test_the_other_side_is_chosen_by_a_form(operator, ended, me, run):
    new = forked(ended, me, run)
    for path in ("/sessions/compare/", f"/sessions/compare/?a={ended.pk}"):
        html = operator.get(path).content.decode()
        assert f'<option value="{new.pk}"' in html
        assert 'method="get"' in html
    assert operator.get("/sessions/compare/?a=abc&b=-1").status_code == 200
    assert operator.get("/sessions/compare/?a=999999&b=1").status_code == 404


# --- export and rights ---------------------------------------------------------------------------


def test_an_export_is_one_zip_with_the_whole_log(operator, ended):
    answer = operator.get(f"/sessions/{ended.pk}/export/")
    assert answer["Content-Disposition"] == f'attachment; filename="S-{ended.pk}.zip"'
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    log = archive.read(f"S-{ended.pk}/log.jsonl").decode().splitlines()
    assert [json.loads(line)["seq"] for line in log] == list(range(1, ended.log_seq + 1))
    about = json.loads(archive.read(f"S-{ended.pk}/session.json"))
    assert about["end_reason"] == "done"
    assert "store" in about["no_patch_because"]


def test_a_viewer_sees_the_past_and_cannot_fork(viewer, ended):
    base = f"/sessions/{ended.pk}/"
    for path in ("history/?at=2", "replay/", "export/"):
        assert viewer.get(base + path).status_code == 200
    assert "Fork from here" not in page(viewer, f"{base}history/?at=2")
    assert viewer.get(f"{base}fork/?at=2").status_code == 403
    assert viewer.post(f"{base}fork/?at=2", posted()).status_code == 403
    assert Session.objects.count() == 1


def test_who_has_no_role_sees_no_past(sign_in, ended):
    stranger = sign_in(None)
    for path in ("history/", "replay/", "export/", "fork/?at=2"):
        assert stranger.get(f"/sessions/{ended.pk}/{path}").status_code == 403
    assert stranger.get(f"/sessions/compare/?a={ended.pk}&b={ended.pk}").status_code == 403
