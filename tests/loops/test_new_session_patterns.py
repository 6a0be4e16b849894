"""What the form of a new session promises for each of the three patterns."""

from __future__ import annotations

import re

import pytest

from loops import services
from loops.engine.bounds import worker_attempts
from loops.engine.values import Config, Pattern
from loops.models import LogEntry, Session, SessionTemplate
from loops.reading.bound import formula
from tests.loops.pages_kit import sign_in, text_of
from tests.loops.test_new_session_page import repository  # noqa: F401
from tracker import services as tracker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
PREVIEW, DRY = "/sessions/new/preview/", "/sessions/new/dry-run/"
TEMPLATES = "/sessions/templates/"
BASE = {
    "project": "ours", "goal": "Make it so.", "scope": "all", "iterations": "60", "hours": "2",
    "no_progress": "4", "no_tokens": "on", "no_money": "on",
}  # fmt: skip
VERIFIER = {
    "verifiers-0-name": "judge", "verifiers-0-agent": "a-verifier",
    "verifiers-0-policy": "required", "reverifications": "1",
}  # fmt: skip
MAKER = BASE | VERIFIER | {"pattern": "maker_verifier", "maker": "a-worker", "attempts": "3"}
THINKER = BASE | VERIFIER | {
    "pattern": "thinker_worker_verifier", "thinker": "a-thinker", "retries": "2", "reassigns": "2",
    "replans": "2", "self_calls": "1", "pool-0-name": "coder", "pool-0-agent": "a-worker",
    "pool-1-name": "writer", "pool-1-agent": "b-worker",
}  # fmt: skip
THREAD = BASE | {
    "pattern": "single_thread", "worker": "a-worker", "reviewer": "a-verifier", "coach": "",
    "review_every": "3", "coach_every": "8", "done_mode": "agent",
}  # fmt: skip


@pytest.fixture
def ours(me, repository):  # noqa: F811
    made = tracker.create_project(name="ours", repo_path=str(repository), by=me)
    tracker.edit_requirement(made, None, text="It works.", by=me)
    for name in ("a-thinker", "a-verifier", "a-worker", "b-worker"):
        services.save_agent(name, {"argv": [name, "--go"]})
    return made


@pytest.fixture
def operator(ours, client):
    return sign_in(client, "ora", "operator", ours)


def bound(answer) -> int:
    return int(re.search(r'class="bound">(\d+)<', answer.content.decode())[1])


def without(data, *names):
    return {name: value for name, value in data.items() if name not in names}


# --- starting -----------------------------------------------------------------------------------


def test_a_thinker_session_starts_with_pool_verifiers_budgets_and_gates(operator):
    sent = THINKER | {
        "verifiers-1-name": "second", "verifiers-1-agent": "a-thinker",
        "verifiers-1-policy": "reserve", "verifiers-1-mechanical": "on",
        "nested": "on", "gates": ["thinker", "coach"], "retries": "0",
        "review_every": "nonsense of another pattern", "maker": "nobody",
    }  # fmt: skip
    answer = operator.post("/sessions/new/", sent)
    assert answer.status_code == 302, text_of(answer)
    session = Session.objects.get()
    config = session.config
    assert (session.pattern, session.state) == ("thinker_worker_verifier", "queued")
    assert [(one["name"], one["agent"]["argv"][0]) for one in config["pool"]] == [
        ("coder", "a-worker"),
        ("writer", "b-worker"),
    ]
    assert [(v["name"], v["policy"], v["mechanical"]) for v in config["verifiers"]] == [
        ("judge", "required", False),
        ("second", "reserve", True),
    ]
    assert list(config["agents"]) == ["thinker"]
    assert (config["retries"], config["reassigns"], config["nested"]) == (0, 2, True)
    assert config["gates"] == ["thinker"], "a gate before a role that the pattern has not"


def test_a_maker_session_starts_with_its_attempts(operator):
    assert operator.post("/sessions/new/", MAKER).status_code == 302
    session = Session.objects.get()
    assert session.pattern == "maker_verifier"
    assert (session.config["attempts"], list(session.config["agents"])) == (3, ["maker"])
    assert session.config["pool"] == []


def test_five_workers_are_possible(operator):
    more = {f"pool-{n}-name": f"w{n}" for n in range(5)}
    more |= {f"pool-{n}-agent": "a-worker" for n in range(5)}
    assert operator.post("/sessions/new/", THINKER | more).status_code == 302
    assert [one["name"] for one in Session.objects.get().config["pool"]] == [*more.values()][:5]


@pytest.mark.parametrize(
    ("sent", "sentence", "place"),
    [
        (THINKER | {"pool-1-name": "coder"}, "There are two of the name 'coder'.", "pool-1-name"),
        (THINKER | {"pool-0-name": "No Name"}, "'No Name' is no name", "pool-0-name"),
        (THINKER | {"pool-0-name": ""}, "Name this worker, or remove its row.", "pool-0-name"),
        (THINKER | {"pool-0-name": "thinker"}, "is the name of a role", "pool-0-name"),
        (THINKER | {"pool-0-agent": "gone"}, "valid choice", "pool-0-agent"),
        (THINKER | {"verifiers-0-name": "coder"}, "two of the name", "verifiers-0-name"),
        (THINKER | {"retries": "-1"}, "Retries (same worker) is a whole number from 0", "retries"),
        (THINKER | {"replans": "1001"}, "Replans (new plan) is at most 1,000.", "replans"),
        (MAKER | {"attempts": "0"}, "Attempts (at most) is a whole number from 1", "attempts"),
        (MAKER | {"iterations": "10001"}, "Iterations (at most) is at most 10,000.", "iterations"),
        (MAKER | {"verifiers-0-policy": "advising"}, "At least one verifier must be required", ""),
        (without(THINKER, "pool-0-name", "pool-0-agent", "pool-1-name", "pool-1-agent"),
         "At least one worker is needed", ""),
        (MAKER | {"pattern": "waterfall"}, "valid choice", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_place_and_in_the_summary(sent, sentence, place, operator):
    answer = operator.post("/sessions/new/", sent)
    assert answer.status_code == 422
    html = answer.content.decode()
    assert sentence in text_of(answer)
    if place:
        assert f'<a href="#id_{place}">' in html
        assert f'id="id_{place}_error"' in html
        assert f'id="id_{place}"' in html
    assert not Session.objects.exists()


# --- rows without a script ----------------------------------------------------------------------


def test_rows_are_added_and_removed_and_keep_what_was_typed(operator):
    grown = operator.post(PREVIEW, THINKER | {"add": "pool", "pool-1-agent": "a-thinker"})
    html = grown.content.decode()
    assert 'name="pool-2-name"' in html
    assert "autofocus" in html
    assert 'value="writer"' in html
    assert '<option value="a-thinker" selected>' in html.partition("pool-1-agent")[2][:400]
    assert "Make it so." in html
    assert "missing or wrong" not in html, "nobody said that the form is complete"
    assert re.search(r'name="no_tokens"[^>]*checked', html)
    assert not re.search(r'name="nested"[^>]*checked', html)
    shrunk = operator.post(PREVIEW, THINKER | {"remove": "pool-0"}).content.decode()
    assert 'value="coder"' not in shrunk
    assert 'value="writer"' in shrunk
    none = operator.post(PREVIEW, MAKER | {"remove": "verifiers-0"}).content.decode()
    assert "verifiers-0-name" not in none
    more = operator.post(PREVIEW, MAKER | {"add": "verifiers"}).content.decode()
    assert 'name="verifiers-1-policy"' in more


def test_a_script_gets_the_whole_page_when_rows_change_and_the_part_otherwise(operator):
    scripted = {"HX-Request": "true"}
    whole = operator.post(PREVIEW, THINKER | {"add": "pool"}, headers=scripted)
    assert 'id="main"' in whole.content.decode()
    part = operator.post(PREVIEW, THINKER, headers=scripted).content.decode()
    assert 'id="main"' not in part
    assert 'id="family" hx-swap-oob="true"' in part


def test_odd_rows_do_not_break_the_page(operator):
    odd = {f"pool-{n}-name": "x" for n in range(200)} | {"pool-x-name": "", "add": "project",
           "remove": "goal-1", "verifiers-0-policy": "<b>"}  # fmt: skip
    answer = operator.post(PREVIEW, THINKER | odd)
    assert answer.status_code == 200
    assert answer.content.decode().count('<li class="row-f">') == 20


# --- the bound as it is edited ------------------------------------------------------------------


def test_the_bound_of_a_thinker_session_knows_the_pool(operator):
    page = operator.post(PREVIEW, THINKER)
    assert bound(page) == 8
    assert "first 1 + retries 2 + reassigns 2 + replans 2 + final 1" in text_of(page)
    words = text_of(page)
    assert "worker attempts" in words
    assert "Thinker calls at most 4" in words
    assert "Verifier calls at most 8" in words
    alone = operator.post(PREVIEW, without(THINKER, "pool-1-name", "pool-1-agent"))
    assert bound(alone) == 6
    assert "reassigns 0 + replans 2" in text_of(alone)
    assert "0 of 2, the pool has 1 worker" in text_of(alone)
    none = operator.post(PREVIEW, THINKER | {"retries": "0", "reassigns": "0", "replans": "0"})
    assert bound(none) == 2


def test_the_bound_of_a_maker_session_is_its_attempts(operator):
    reserve = {"verifiers-1-name": "r", "verifiers-1-agent": "b-worker",
               "verifiers-1-policy": "reserve"}  # fmt: skip
    page = operator.post(PREVIEW, MAKER | reserve)
    assert bound(page) == 3
    assert "maker attempts" in text_of(page)
    assert "Verifier calls at most 6" in text_of(page)
    few = operator.post(PREVIEW, MAKER | {"iterations": "2"})
    assert "at most 2, met before 6 calls" in text_of(few)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_the_words_of_the_bound_add_up_to_it(workers, nested):
    for retries in range(4):
        for reassigns in range(4):
            for replans in range(4):
                config = Config(
                    pattern=Pattern.FEEDBACK, pool=tuple(map(str, range(workers))),
                    retries=retries, reassigns=reassigns, replans=replans, is_nested=nested,
                )  # fmt: skip
                sum_in_words = re.sub(r"[a-wyz]+ ", "", formula(config)).replace("x", "*")
                assert eval(sum_in_words) == worker_attempts(config), formula(config)


@pytest.mark.parametrize(
    ("sent", "can", "cannot"),
    [(THREAD, "Done", "Exhausted"), (MAKER, "Exhausted", "?"), (THINKER, "Exhausted", "?")],
)
def test_the_possible_ends_are_those_of_the_pattern(sent, can, cannot, operator):
    ends = text_of(operator.post(PREVIEW, sent)).partition("It can end as")[2]
    ends = ends.partition("A limit that is reached")[0]
    assert can in ends
    assert cannot not in ends


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (THREAD | {"reviewer": "a-worker"}, "Worker and reviewer are the same agent"),
        (MAKER | {"maker": "a-verifier"}, "Maker and verifier judge are the same agent"),
        (THINKER | {"pool-1-agent": "a-verifier"}, "Worker writer and verifier judge are the same"),
    ],
)
def test_an_agent_that_judges_itself_is_warned_about(sent, sentence, operator):
    assert sentence in text_of(operator.post(PREVIEW, sent))
    assert "are the same agent" not in text_of(operator.post(PREVIEW, THINKER))


# --- templates ----------------------------------------------------------------------------------


def keep(client, name="nightly", **more):
    return client.post(TEMPLATES, THINKER | {"goal": "Private words", "template_name": name} | more)


def test_a_template_keeps_the_set_up_but_not_what_it_is_about(operator):
    answer = keep(operator, gates=["worker"], nested="on", retries="0")
    assert answer.status_code == 200
    assert "The template nightly is kept." in text_of(answer)
    kept = SessionTemplate.objects.get()
    assert kept.by == "ora"
    assert not {"goal", "project", "scope", "requirements"} & kept.values.keys()
    assert "Private words" not in str(kept.values)
    page = operator.get("/sessions/new/", {"template": "nightly", "goal": "Another"})
    html = page.content.decode()
    assert re.search(r'value="thinker_worker_verifier"[^>]*checked', html)
    assert 'value="writer"' in html
    assert re.search(r'name="retries" value="0"', html)
    assert re.search(r'value="worker"[^>]*checked', html)
    assert re.search(r'name="nested"[^>]*checked', html)
    assert "Another" in html
    assert bound(page) == worker_attempts(
        Config(pattern=Pattern.FEEDBACK, pool=("a", "b"), retries=0, is_nested=True)
    )


def test_a_template_may_lack_a_goal_but_nothing_else(operator):
    assert keep(operator, goal="", scope="none").status_code == 200
    refused = keep(operator, "other", retries="x")
    assert refused.status_code == 422
    assert "Retries (same worker)" in text_of(refused)
    assert keep(operator, "  ").status_code == 422
    assert "“Name of the template” is missing." in text_of(keep(operator, " "))
    again = keep(operator, "nightly")
    assert again.status_code == 422
    assert "There is a template nightly by ora already." in text_of(again)
    assert "Private words" in again.content.decode()
    assert SessionTemplate.objects.count() == 1


def test_an_agent_of_a_template_that_is_gone_is_named(operator):
    keep(operator)
    SessionTemplate.objects.update(values={**SessionTemplate.objects.get().values, "thinker": "x"})
    words = text_of(operator.get("/sessions/new/?template=nightly"))
    assert "The agent x of this template is not there any more." in words
    assert "There is no template nothing." in text_of(
        operator.get("/sessions/new/?template=nothing")
    )


def test_deleting_a_template_has_a_second_step_and_is_its_authors_or_an_admins(operator, ours):
    keep(operator)
    path = f"{TEMPLATES}{SessionTemplate.objects.get().pk}/delete/"
    asked = text_of(operator.get("/sessions/new/?template=nightly&delete=1"))
    assert "Delete the template nightly now?" in asked
    other = sign_in(type(operator)(), "other", "operator", ours)
    assert "Delete nightly" not in text_of(other.get("/sessions/new/?template=nightly&delete=1"))
    assert other.post(path).status_code == 403
    assert sign_in(type(operator)(), "vi", "viewer", ours).post(path).status_code == 403
    assert operator.get(path).status_code == 405
    assert SessionTemplate.objects.exists()
    assert operator.post(path).headers["Location"] == "/sessions/new/"
    assert not SessionTemplate.objects.exists()
    keep(operator)
    admin = sign_in(type(operator)(), "ada", "admin")
    assert admin.post(f"{TEMPLATES}{SessionTemplate.objects.get().pk}/delete/").status_code == 302
    assert not SessionTemplate.objects.exists()


def test_who_may_not_operate_keeps_no_template(ours, client):
    assert keep(sign_in(client, "vi", "viewer", ours)).status_code == 403
    assert not SessionTemplate.objects.exists()


# --- dry run ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "reader", "first"),
    [
        (THREAD, "worker", "Run the worker"),
        (MAKER, "maker", "Run the maker"),
        (THINKER, "thinker", "Run the thinker"),
        (THINKER | {"gates": ["thinker"]}, "thinker", "Ask a person: The thinker is due"),
        (MAKER | {"gates": ["maker"]}, "maker", "Ask a person: The maker is due"),
        (THREAD | {"gates": ["worker"]}, "worker", "Ask a person: The worker is due"),
    ],
)
def test_a_dry_run_shows_what_a_start_would_do_and_leaves_nothing(
    sent, reader, first, operator, ours
):
    ours.refresh_from_db()
    before = (ours.tracker_seq, ours.requirements.count())
    answer = operator.post(DRY, sent)
    words = text_of(answer)
    assert answer.status_code == 200, words
    assert first in words
    assert f"# You are the {reader} of session S-" in words
    assert "Make it so." in words
    assert "It works." in words
    assert "a-worker --go" in words
    assert "The repository can be read" in words
    assert "Make it so." in answer.context["page"].form["goal"].value()
    ours.refresh_from_db()
    assert (ours.tracker_seq, ours.requirements.count()) == before
    assert not Session.objects.exists()
    assert not LogEntry.objects.exists()


def test_the_prompt_of_a_dry_run_is_the_one_that_is_sent(operator, ours, world):
    from loops import runner
    from tests.loops.verified import FEEDBACK

    shown = operator.post(DRY, THINKER).context["page"].rehearsed.prompt
    operator.post("/sessions/new/", THINKER)
    w = world(FEEDBACK)
    runner.advance(Session.objects.get().pk, w)
    number = r"session S-\d+"  # given at the start; PostgreSQL gives none twice
    assert re.sub(number, "", w.prompts[0]) == re.sub(number, "", shown)


def test_a_dry_run_of_a_wrong_form_says_what_is_wrong(operator):
    answer = operator.post(DRY, THINKER | {"retries": ""})
    assert answer.status_code == 422
    assert "“Retries” is missing." in text_of(answer)
    assert "Dry run Nothing was started" not in text_of(answer)


def test_who_may_not_operate_gets_no_dry_run(ours, client):
    assert sign_in(client, "vi", "viewer", ours).post(DRY, THINKER).status_code == 403
