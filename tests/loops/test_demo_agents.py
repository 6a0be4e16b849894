"""The demo's reviewer, worker and coach: real ruff, real git, the real interface and tracker."""

import shutil

import pytest

from loops.agents import ruff_demo
from loops.agents.ruff_demo import coach, findings, reviewer, worker
from loops.engine.values import Role
from tests.loops.scripted_kit import desk
from tracker import services

pytestmark = pytest.mark.django_db

SPEC = (
    "Imports are sorted (I001).\nNo name is imported and not used (F401).",
    "An error names its cause (B904).",
)
FILES = {
    "one.py": "import sys\nimport os\n\nprint(os, sys)\n",
    "two.py": "import json\n\ntry:\n    print(1)\nexcept ValueError:\n    raise KeyError\n",
}


@pytest.fixture
def office():
    made = desk(FILES, *SPEC)
    yield made
    shutil.rmtree(made.folder)


def review(office):
    return office.play(reviewer.review, Role.REVIEWER)


def work(office):
    return office.play(worker.work)


def person():
    return services.person("ada")


def test_the_reviewer_files_one_bug_for_each_rule_with_citation_quote_and_place(office):
    turn = review(office)
    assert (turn.code, turn.signal) == (0, "review bugs"), turn
    bugs = services.bugs(office.project)
    assert [(b.requirement.key, b.line, b.quote, b.place) for b in bugs] == [
        ("R-1", 1, "Imports are sorted (I001).", "one.py:1"),
        ("R-1", 2, "No name is imported and not used (F401).", "two.py:1"),
        ("R-2", 1, "An error names its cause (B904).", "two.py:6"),
    ]
    assert review(office).signal == "review bugs"
    assert len(services.bugs(office.project)) == 3, "known findings are not filed again"


def test_the_worker_fixes_what_ruff_can_and_asks_about_the_rest(office):
    review(office)
    assert work(office).signal == "not-done"
    work(office)
    assert work(office).signal is None
    assert office.states() == {"B-1": "FIXED", "B-2": "FIXED", "B-3": "BLOCKED"}
    assert "import json" not in (office.clone / "two.py").read_text()
    assert office.git("status", "--porcelain") == ""
    assert office.git("log", "--format=%s").splitlines() == [
        "Fix F401 (B-2)",
        "Fix I001 (B-1)",
        "Base",
    ]
    assert work(office).signal == "done", "nothing is left for it to do"


def test_after_a_person_accepts_the_rest_the_review_is_clean(office):
    review(office)
    for _ in range(3):
        work(office)
    turn = review(office)
    assert turn.signal == "review clean"
    assert "R-2: holds" in turn.out
    assert "B-3, which a person decides" in turn.out
    services.dismiss(services.get_bug(office.project, "B-3"), person(), "accepted as it is")
    turn = review(office)
    assert turn.signal == "review clean"
    assert "accepted: accepted as it is" in turn.out
    assert office.states() == {"B-1": "CLOSED", "B-2": "CLOSED", "B-3": "CLOSED"}


def test_a_fix_that_does_not_hold_is_reopened(office):
    review(office)
    work(office)
    (office.clone / "one.py").write_text(FILES["one.py"])
    turn = review(office)
    assert turn.signal == "review bugs"
    assert office.states()["B-1"] == "REOPENED"


def test_a_fix_whose_commit_is_lost_is_reopened_where_the_prompt_asks_for_it(office):
    review(office)
    work(office)
    review(office)
    office.git("commit", "-q", "--amend", "-m", "Something else")
    assert office.states()["B-1"] == "CLOSED"
    review(office)
    assert office.states()["B-1"] == "CLOSED", "perhaps an older session's: nobody asked"
    prompt = "## Entries that you must judge\n```data\nB-1 bug CLOSED P2: title\n```\n\n## More\n"
    office.play(reviewer.review, Role.REVIEWER, prompt=prompt)
    assert office.states()["B-1"] == "REOPENED"


def test_an_exception_ends_when_a_person_edits_the_words(office):
    review(office)
    services.dismiss(services.get_bug(office.project, "B-3"), person(), "accepted as it is")
    text = "Every error names its cause (B904)."
    services.edit_requirement(office.project, "R-2", text=text, by=person())
    review(office)
    assert services.get_bug(office.project, "B-4").quote == text


def test_entries_gone_stale_are_judged_by_the_new_text(office):
    review(office)
    fewer = "Import lines are sorted (I001)."
    services.edit_requirement(office.project, "R-1", text=fewer, by=person())
    assert office.states() == {"B-1": "STALE", "B-2": "STALE", "B-3": "OPEN"}
    turn = review(office)
    assert office.states() == {"B-1": "OPEN", "B-2": "CLOSED", "B-3": "OPEN"}, turn


def test_a_requirement_that_ruff_cannot_check_gets_a_spec_bug_and_no_verdict(office):
    for path in FILES:
        (office.clone / path).write_text("")
    services.edit_requirement(office.project, None, text="It is beautiful.", by=person())
    assert review(office).signal is None
    assert review(office).signal is None
    assert office.states() == {"Q-1": "OPEN"}


def test_a_task_that_names_a_rule_is_done_and_another_one_is_asked_about(office):
    services.file_task(
        office.project, by=person(), title="Sort imports", text="I001", priority="P1"
    )
    services.file_task(office.project, by=person(), title="Make it faster")
    work(office)
    work(office)
    assert office.states() == {"T-1": "FIXED", "T-2": "BLOCKED"}
    review(office)
    assert office.states()["T-1"] == "CLOSED"


def test_the_worker_takes_back_what_a_cut_off_iteration_left(office):
    (office.clone / "one.py").write_text("half a change")
    (office.clone / "new.py").write_text("half a file")
    assert work(office).signal == "done"
    assert office.git("status", "--porcelain") == ""
    assert (office.clone / "one.py").read_text() == FILES["one.py"]


def test_the_coach_writes_guidance_once_about_stalls_and_blocked_entries(office):
    review(office)
    services.start(services.get_bug(office.project, "B-3"), office.by(Role.WORKER))
    services.block(services.get_bug(office.project, "B-3"), office.by(Role.WORKER), "no fix")
    history = "\n".join(f"- {n} worker STALL" for n in (1, 2, 3))
    prompt = f"## Recent iterations\n```data\n{history}\n```\n"
    assert office.play(coach.advise, Role.COACH, prompt=prompt).code == 0
    text = services.current_guidance(office.project).text
    assert "3 iterations came to nothing" in text
    assert "B-3: a person decides" in text
    office.play(coach.advise, Role.COACH, prompt=prompt)
    assert services.current_guidance(office.project).number == 1


@pytest.mark.django_db(transaction=True)
def test_as_programs_over_the_socket_they_work_the_same(office):
    filed = office.run(ruff_demo.argv("reviewer"), Role.REVIEWER)
    assert (filed.code, filed.signal) == (0, "review bugs"), filed
    fixed = office.run(ruff_demo.argv("worker"))
    assert (fixed.code, fixed.signal) == (0, "not-done"), fixed
    assert office.states()["B-1"] == "FIXED"
    assert office.run(ruff_demo.argv("coach"), Role.COACH).code == 0


def test_without_ruff_one_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(findings.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(findings.Failed, match="need ruff"):
        findings.command()
