"""The pages of sessions with verifiers: what was planned, tried and judged, and what agents wrote
stays text."""

from __future__ import annotations

import re
from html import unescape

import pytest
import time_machine
from django.utils import timezone

from escalations.models import Escalation
from escalations.reading.session import PARTS
from loops import runner
from loops.engine.values import Role
from loops.models import LogEntry
from tests.loops import verified as v
from tests.loops.world import MemoryWorkspace
from tracker import services as tracker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
SCRIPT = "<script>alert(1)</script>"


def text_of(answer) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def bad_files():
    return MemoryWorkspace(files={"a.txt": "bad", "b.txt": "bad too"})


def hostile_thinker(tools):
    v.submit_plan(
        tools,
        summary=f"Mend it {SCRIPT}",
        decomposition=[f"Step {SCRIPT}"],
        risks=[f"Risk {SCRIPT}"],
        thinker_notes=f"Notes {SCRIPT}",
    )


HOSTILE = {
    **v.FEEDBACK,
    Role.THINKER: hostile_thinker,
    "judge": v.saying(
        status="FAIL",
        score=4,
        feedback=f"Still bad {SCRIPT}",
        evidence=[{"criterion": "C-1", "status": "FAIL", "evidence": f"saw {SCRIPT}"}],
        recommended_action="FINISH",
    ),
}


@pytest.fixture
def exhausted(new_session, world, run):
    """Every attempt failed; what agents wrote is hostile; each verdict contradicts itself."""
    session = new_session(**v.feedback_config())
    return run(session, world(HOSTILE, bad_files()))


@pytest.fixture
def doubtful(new_session, world, run):
    """Maker-Verifier: two verifiers failed one attempt, the second is unsure of the next."""
    verifiers = [v.verifier("tests", mechanical=True), v.verifier("contract")]
    said = iter(("FAIL", "UNCERTAIN", "UNCERTAIN"))

    def contract(tools):
        v.submit_report(tools, status=next(said), score=5, feedback="R-2 says nothing of c.txt.")

    behaviours = {Role.MAKER: v.builder, "tests": v.judge, "contract": contract}
    session = new_session(**v.maker_config(verifiers=verifiers))
    return run(session, world(behaviours, bad_files()))


def page(client, session, rest=""):
    return client.get(f"/sessions/{session.pk}/{rest}")


def question_of(session):
    return Escalation.objects.get(session=session, status="open")


# --- where it stands -----------------------------------------------------------------------------


def test_the_panel_says_plan_attempt_verdicts_counters_and_bound(operator, exhausted):
    said = text_of(page(operator, exhausted, "parts/why/"))
    assert "Where it stands" in said
    assert "Done streak" not in said
    assert f"Attempt {exhausted_attempts(exhausted)} by" in said
    for counter in ("Retries 2 of 2", "Reassigns 2 of 2", "Replans 2 of 2", "Final retry used"):
        assert counter in said
    assert "Given by people 0" in said
    assert "At most 0 more worker attempts" in said
    assert re.search(r"Best output Attempt \d+ by \w+, score 4 of 10", said)
    assert "was judged FAIL" in said
    assert "C-1 R-1 holds from R-1" in said


def exhausted_attempts(session):
    return session.iterations.filter(outcome="ATTEMPT").count()


def test_the_head_names_the_pattern_and_the_list_names_who_played(operator, exhausted):
    said = text_of(page(operator, exhausted))
    assert "Thinker-Worker-Verifier" in said
    assert "2 workers, 1 verifier" in said
    rows = text_of(page(operator, exhausted, "parts/rows/"))
    assert "Worker coder Attempt 1" in rows
    assert "Verifier judge Verdict fail" in rows
    assert "Thinker Plan" in rows


def test_while_it_is_judged_the_panel_says_who_has_still_to_judge(
    operator, new_session, world, run
):
    seen = []

    def looks(tools):
        seen.append(text_of(page(operator, session, "parts/why/")))
        v.judge(tools)

    verifiers = [v.verifier(), v.verifier("second")]
    session = new_session(**v.feedback_config(verifiers=verifiers))
    run(session, world({**v.FEEDBACK, "judge": v.judge, "second": looks}))
    assert "Attempt 1 by coder; Verifier second judges it now." in seen[0]
    assert "Verdicts on attempt 1 by coder judge OK second To come" in seen[0]


def test_an_edited_requirement_marks_its_criterion_and_the_criteria(
    operator, new_session, project, me, world
):
    session = new_session(**v.feedback_config())
    runner.advance(session.pk, world(v.FEEDBACK, bad_files()), iterations=1)
    assert "Out of date" not in text_of(page(operator, session, "parts/why/"))
    tracker.edit_requirement(project, "R-2", text="No file is bad.", by=me)
    said = text_of(page(operator, session, "parts/why/"))
    assert "Out of date" in said
    assert "from R-2 edited since" in said
    assert "from R-1 edited since" not in said


def test_a_maker_verifier_session_has_its_own_counters(operator, doubtful):
    said = text_of(page(operator, doubtful, "parts/why/"))
    assert "Attempts 2 of 4" in said
    assert "Given by people 0" in said
    assert "At most 2 more attempts" in said
    assert "Retries" not in said
    assert "tests OK contract Uncertain" in said


def test_a_proved_end_says_who_approved_it(operator, new_session, world, run):
    session = run(new_session(**v.maker_config()), world(v.MAKERS, bad_files()))
    said = text_of(page(operator, session, "parts/why/"))
    assert "It counts as done because:" in said
    assert "judge: OK it. 4" in said


def test_the_timeline_has_a_lane_for_each_worker_and_marks_for_verdicts(operator, exhausted):
    html = page(operator, exhausted, "parts/timeline/").content.decode()
    names = html.split("strip-names")[1].split("</svg>")[0]
    lanes = re.findall(r'<text x="0" y="[\d.]+">([^<]+)</text>', names)
    assert lanes == ["Thinker", "coder", "writer", "Verifiers", "Score of", "attempts"]
    assert "8 attempts, 8 verdicts: 8 fail" in html
    assert 'class="c-bad"' in html


# --- one iteration -------------------------------------------------------------------------------


def test_a_plan_is_readable_and_says_whether_it_is_in_force(operator, exhausted):
    said = text_of(page(operator, exhausted, "iterations/1/?show=plan"))
    assert "Plan 1, replaced by plan 2." in said
    assert "Worker coder Alternatives, in order writer" in said
    assert "C-2 R-2 holds from R-2" in said
    newest = exhausted.iterations.filter(role="thinker").last().number
    assert "in force since this iteration" in text_of(
        page(operator, exhausted, f"iterations/{newest}/?show=plan")
    )


def test_a_criterion_that_a_plan_dropped_is_shown_as_carried_over(
    operator, new_session, world, run
):
    def forgetful(tools):
        only = [{"text": "Something else holds"}]
        v.submit_plan(tools, **({"success_criteria": only} if tools.memory.get("planned") else {}))
        tools.memory["planned"] = True

    session = new_session(**v.feedback_config())
    run(session, world({**v.FEEDBACK, Role.THINKER: forgetful, "judge": v.failing("REPLAN")}))
    number = session.iterations.filter(role="thinker").order_by("number")[1].number
    said = text_of(page(operator, session, f"iterations/{number}/?show=plan"))
    assert "C-1 Something else holds the plan’s own" in said
    assert "C-2 R-1 holds from R-1 carried over" in said


def test_a_verdict_says_what_the_engine_made_of_it_by_rule(operator, exhausted):
    said = text_of(page(operator, exhausted, "iterations/3/?show=verdict"))
    assert "Fail 4 of 10" in said
    assert "on Attempt 1 by coder" in said
    assert "It recommends Finish" in said
    assert "counts as Retry and is logged" in said
    assert "TWV-7 RETRY: the same worker again" in said
    assert "a contradiction that counts as RETRY (TWV-6)" in said
    assert "C-2 R-2 holds R-2 No word" in said
    assert "does not count" not in said


def test_a_verdict_that_ends_or_asks_says_so(operator, exhausted, new_session, world, run):
    last = exhausted.iterations.filter(role="verifier").last().number
    said = text_of(page(operator, exhausted, f"iterations/{last}/?show=verdict"))
    assert "TWV-5 FAIL after the final retry" in said
    runner_ended = run_to_done(new_session, world, run, exhausted, operator)
    said = text_of(page(operator, runner_ended, "iterations/3/?show=verdict"))
    assert "TWV-1" in said
    assert "Proved: attempt 1 meets every criterion of plan 1." in said


def run_to_done(new_session, world, run, first, operator):
    operator.post(f"/sessions/{first.pk}/stop/")
    files = MemoryWorkspace(files={"a.txt": "bad"})
    return run(new_session(**v.feedback_config()), world(v.FEEDBACK, files))


def test_an_iteration_without_a_reply_says_that_there_is_none(operator, new_session, world):
    session = new_session(**v.feedback_config())
    runner.advance(session.pk, world({**v.FEEDBACK, Role.THINKER: v.idle}), iterations=1)
    assert "handed in no plan" in text_of(page(operator, session, "iterations/1/?show=plan"))
    assert "no attempt yet" in text_of(page(operator, session, "iterations/1/?show=verdicts"))
    assert page(operator, session, "iterations/1/?show=verdict").status_code == 200


def test_a_call_shows_the_scopes_it_recalled_as_they_were_then(operator, exhausted):
    first = text_of(page(operator, exhausted, "iterations/2/?show=prompt"))
    path = f"/twv/session/{exhausted.pk}/workers/coder"
    assert "What this call saw" in first
    assert f"Its own memory {path} empty" in first
    again = exhausted.iterations.filter(agent="coder").order_by("number")[1].number
    later = text_of(page(operator, exhausted, f"iterations/{again}/?show=prompt"))
    assert f"{path} 1 iteration 2: Attempt 1, plan 1: changed a.txt" in later
    assert "attempt 1 by coder, on plan 1: FAIL, score 4" in later
    assert "workers/writer" not in later.split("The exact prompt")[0]
    assert "You are the worker coder" in later.split("The exact prompt")[1]


def test_a_verifiers_input_is_the_allow_list_and_nothing_else(operator, exhausted):
    seen = text_of(page(operator, exhausted, "iterations/3/?show=prompt"))
    seen, exact = seen.split("The exact prompt")
    assert "Criteria, version 1" in seen
    assert "C-1 (from R-1): R-1 holds" in seen
    assert "The work" in seen
    assert "Mend it" not in seen + exact
    assert "Attempt 1, plan 1" not in seen + exact


def test_a_maker_sees_why_it_was_rejected(operator, doubtful):
    said = text_of(page(operator, doubtful, "iterations/4/?show=prompt"))
    assert "Why attempts were rejected 1 attempt 1, by version 1 of the criteria" in said
    assert "bad in b.txt" in said.split("The exact prompt")[0]


@pytest.mark.parametrize(
    "tab", ["output", "plan", "verdict", "diff", "prompt", "files", "verdicts"]
)
def test_what_agents_wrote_is_text_on_every_side_of_every_iteration(tab, operator, exhausted):
    for number in (1, 2, 3):
        html = page(operator, exhausted, f"iterations/{number}/?show={tab}").content.decode()
        assert SCRIPT not in html
    shown = {"plan": 1, "verdict": 3, "prompt": 2, "verdicts": 3}
    if tab in shown:
        html = page(operator, exhausted, f"iterations/{shown[tab]}/?show={tab}").content.decode()
        assert "&lt;script&gt;" in html


# --- verifiers by attempts -----------------------------------------------------------------------


def matrix_of(html: str) -> dict[str, list[str]]:
    table = html.split('<table class="matrix">')[1].split("</table>")[0]
    rows = {}
    for row in re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", table, flags=re.S):
        name = re.search(r'class="nm">(.*?)<', row)[1]
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row, flags=re.S)
        rows[name] = [re.search(r'class="(?:w|sr)">(.*?)<', cell)[1] for cell in cells]
    return rows


def test_the_matrix_shows_each_verifier_on_each_attempt(operator, doubtful):
    asked = question_of(doubtful)
    html = operator.get(f"/queue/{asked.pk}/").content.decode()
    assert asked.kind == "uncertain"
    assert matrix_of(html) == {"tests": ["Fail", "OK"], "contract": ["Fail", "Uncertain"]}
    assert html.count('class="now"') == 3
    assert "R-2 says nothing of c.txt." in text_of(operator.get(f"/queue/{asked.pk}/"))
    shown = page(operator, doubtful, "iterations/1/?show=verdicts").content.decode()
    assert matrix_of(shown) == matrix_of(html)


def test_the_matrix_marks_the_attempt_that_is_asked_about(operator, exhausted):
    """At the end of TWV the best output is asked about, which need not be the last."""
    asked = question_of(exhausted)
    html = operator.get(f"/queue/{asked.pk}/").content.decode()
    revs = [
        entry.payload["evidence"]["after"]["rev"]
        for entry in LogEntry.objects.filter(
            session=exhausted, kind="recorded", payload__outcome="ATTEMPT"
        ).order_by("seq")
    ]
    number = max(n for n, rev in enumerate(revs, 1) if rev == asked.evidence)
    head = re.search(r'<th scope="col" class="now">.*?</span>(\d+)', html, flags=re.S)
    assert int(head[1]) == number
    assert f"Attempt {number} by" in text_of(operator.get(f"/queue/{asked.pk}/"))


def test_a_question_that_is_about_no_attempt_has_no_matrix(operator, new_session, world, run):
    session = run(new_session(**v.maker_config(gates=["maker"])), world(v.MAKERS, bad_files()))
    assert "Verdicts by attempt" not in text_of(operator.get(f"/queue/{question_of(session).pk}/"))


# --- the frame -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["exhausted", "doubtful"])
def test_parts_are_the_same_alone_as_in_the_page(kind, operator, request):
    session = request.getfixturevalue(kind)

    def get(path):
        html = page(operator, session, path).content.decode()
        return re.sub(r'(csrfmiddlewaretoken" value=)"\w+"|\s+', r"\1 ", html).strip()

    with time_machine.travel(timezone.now(), tick=False):
        whole = get("?show=verdicts")
        for name in PARTS:
            alone = get(f"parts/{name}/?show=verdicts")
            assert f'data-part="{name}"' in alone
            assert alone in whole


def test_every_page_of_the_project_opens_beside_such_a_session(operator, exhausted, project, me):
    tracker.file_task(project, by=me, title="Add a file", text="x")
    for path in (
        "/",
        "/queue/",
        "/p/demo/tracker/",
        "/p/demo/tracker/T-1/",
        "/p/demo/tracker/?file=task",
        "/p/demo/specs/R-1/?write=1",
    ):
        answer = operator.get(path)
        assert answer.status_code == 200, path
        assert "streak" not in text_of(answer).lower(), path
    said = text_of(operator.get("/p/demo/specs/R-1/?write=1"))
    assert "Its criteria are out of date then" in said


def test_a_report_that_does_not_count_says_so(operator, new_session, world, run):
    def mend_and_approve(tools):
        v.builder(tools)
        v.judge(tools)

    session = new_session(**v.maker_config())
    run(session, world({Role.MAKER: v.idle, "judge": mend_and_approve}, bad_files()))
    said = text_of(page(operator, session, "iterations/2/?show=verdict"))
    assert "It changed what it was to judge" in said
    crashing = world({Role.MAKER: v.builder, "judge": v.crashing}, bad_files())
    operator.post(f"/sessions/{session.pk}/stop/")
    session = run(new_session(**v.maker_config()), crashing)
    said = text_of(page(operator, session, "iterations/2/?show=verdict"))
    assert "It handed in no report that counts." in said
