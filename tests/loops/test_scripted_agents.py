"""Scripted agents against the real interface, tracker and git. What the engine makes of them is
tested with the runner; here each does what its name says, and nothing that it must not."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loops.agents import scripted
from loops.agents.scripted.__main__ import main, parser
from loops.agents.scripted.catalogue import BEHAVIOURS
from loops.engine.values import Role
from tests.conftest import eventually
from tests.loops.scripted_kit import desk
from tracker import services
from tracker.models import RequirementVersion

pytestmark = pytest.mark.django_db

SPEC = ("No TODO is left.", "The program is named.")
CHECKS = ("--check", "R-1 app.txt lacks TODO", "--check", "R-2 name.txt has loopwatch")
FILES = {"app.txt": "a line\na TODO \n", "other.txt": "nothing  \n"}


@pytest.fixture
def office():
    made = desk(FILES, *SPEC)
    yield made
    shutil.rmtree(made.folder)


def play(office, name, *options, role=Role.WORKER):
    return office.play(BEHAVIOURS[name], role, parser().parse_args([name, *options]))


def review(office, *options):
    return play(office, "reviewer", *(options or CHECKS), role=Role.REVIEWER)


def commits(office):
    return int(office.git("rev-list", "--count", "HEAD"))


# --- honest --------------------------------------------------------------------------------------


def test_the_honest_three_bring_a_project_to_done(office):
    assert review(office).signal == "review bugs"
    assert office.states() == {"B-1": "OPEN", "B-2": "OPEN"}
    assert [play(office, "finisher").signal for _ in range(3)] == [None, None, "done"]
    assert commits(office) == 3
    assert review(office).signal == "review clean"
    assert office.states() == {"B-1": "CLOSED", "B-2": "CLOSED"}
    assert play(office, "finisher").signal == "done"
    assert office.git("status", "--porcelain") == ""


def test_the_honest_reviewer_reopens_what_does_not_hold_and_judges_stale_entries(office):
    review(office)
    play(office, "finisher")
    (office.clone / "app.txt").write_text("TODO again\n")
    services.edit_requirement(
        office.project, "R-2", text="The program has a name.", by=services.person("ada")
    )
    turn = review(office)
    assert turn.signal == "review bugs"
    assert office.states() == {"B-1": "REOPENED", "B-2": "OPEN"}, turn


def test_a_batch_worker_fixes_several_entries_in_one_iteration(office):
    review(office)
    assert play(office, "batch-worker").signal is None
    assert office.states() == {"B-1": "FIXED", "B-2": "FIXED"}
    assert play(office, "batch-worker").signal == "done"


def test_the_finisher_works_on_tasks_and_can_begin_with_work_of_its_own(office):
    services.file_task(office.project, by=services.person("ada"), title="Say hello")
    assert play(office, "finisher", "--begin-with", "first.txt").signal is None
    assert (commits(office), office.states()) == (2, {"T-1": "OPEN"})
    play(office, "finisher", "--begin-with", "first.txt")
    assert office.states() == {"T-1": "FIXED"}
    assert office.has("work/T-1.txt")


def test_a_formatter_changes_files_in_its_first_done_and_is_stable_after_it(office):
    assert play(office, "formatter").signal == "done"
    assert (commits(office), (office.clone / "other.txt").read_text()) == (2, "nothing\n")
    assert play(office, "formatter").signal == "done"
    assert commits(office) == 2


def test_a_leftover_maker_leaves_new_untracked_files_at_every_done(office):
    for turn in (1, 2):
        assert play(office, "leftover-maker").signal == "done"
        assert office.has(f"test-output-{turn}/report.txt")
    assert commits(office) == 1


def test_the_coach_writes_guidance(office):
    assert play(office, "coach", role=Role.COACH).signal is None
    assert "no entry" in services.current_guidance(office.project).text


# --- careless ------------------------------------------------------------------------------------


def test_lying_workers_say_done_over_open_entries_and_fresh_changes(office):
    review(office)
    assert play(office, "early-done").signal == "done"
    assert commits(office) == 1
    for expected in (2, 3):
        assert play(office, "change-and-done").signal == "done"
        assert commits(office) == expected
    play(office, "uncommitted-done")
    assert play(office, "uncommitted-done").signal == "done"
    assert office.git("status", "--porcelain") != ""


@pytest.mark.parametrize(
    ("name", "role"), [("staller", Role.WORKER), ("dead-reviewer", Role.REVIEWER)]
)
def test_idle_agents_leave_no_trace(office, name, role):
    turn = play(office, name, role=role)
    assert (turn.code, turn.out, turn.signal) == (0, "", None)
    assert (commits(office), office.states()) == (1, {})


def test_chatty_says_every_word_for_done_and_signals_nothing(office):
    turn = play(office, "chatty")
    assert "COMPLETE" in turn.out
    assert turn.signal is None


def test_a_crasher_dies_in_the_middle_of_a_change(office):
    assert run_alone(office, "crasher") == -signal.SIGABRT
    assert office.has("half-done.txt")


def test_a_gold_plater_commits_for_ever_and_never_says_done(office):
    assert [play(office, "gold-plater").signal for _ in range(2)] == [None, None]
    assert commits(office) == 3


def test_a_spec_spammer_fills_the_list_of_spec_bugs_only(office):
    play(office, "spec-spammer", "--count", "4")
    assert office.states() == {f"Q-{n}": "OPEN" for n in (1, 2, 3, 4)}


def test_a_false_reviewers_invented_citations_are_all_refused(office):
    turn = play(office, "false-reviewer", role=Role.REVIEWER)
    assert (turn.signal, office.states()) == ("review bugs", {})
    assert turn.out.count("loopwatch bug file") == 4


def test_an_always_reopening_reviewer_reopens_what_is_fixed(office):
    def reopen():
        play(office, "always-reopening", *CHECKS, role=Role.REVIEWER)

    reopen()
    play(office, "batch-worker")
    reopen()
    assert office.states() == {"B-1": "REOPENED", "B-2": "REOPENED"}


# --- hostile -------------------------------------------------------------------------------------


def test_a_spec_editor_changes_files_but_no_requirement(office):
    assert play(office, "spec-editor").signal == "done"
    assert office.has("REQUIREMENTS.md")
    assert [version.text for version in RequirementVersion.objects.order_by("id")] == list(SPEC)


@pytest.mark.parametrize("role", [Role.WORKER, Role.REVIEWER, Role.COACH])
def test_a_task_forger_gets_no_task(office, role):
    turn = play(office, "task-forger", role=role)
    assert office.states() == {}
    assert turn.out.count("loopwatch ") >= 3, "each of its tries was refused aloud"


def test_a_self_approver_tries_people_s_commands_with_and_without_its_marks(office, tmp_path):
    manage = tmp_path / "manage.py"
    manage.write_text(
        "import os, sys\nsys.exit('refused ' + os.environ.get('RUN_MARK', 'unmarked'))\n"
    )
    turn = play(office, "self-approver", "--manage", str(manage))
    assert "escalation decide: exit 1: refused test" in turn.out
    assert "escalation decide: exit 1: refused unmarked" in turn.out
    assert "loopwatch escalation decide 1" in turn.out


def test_the_git_attacker_s_traps_work_on_whoever_runs_git_in_its_clone(office, tmp_path):
    marker = tmp_path / "ran"
    assert play(office, "git-attacker", "--marker", str(marker)).signal == "done"
    assert not marker.exists(), "its own tree does not count"
    careless = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    shown = subprocess.run(
        ["git", "status", "--porcelain"],
        cwd=office.clone,
        env=careless,
        capture_output=True,
        text=True,
        check=False,
    )
    assert marker.exists(), "an engine that ran git here would have run the agent's programs"
    assert "hidden-file.txt" not in shown.stdout
    assert office.has("hidden-file.txt")
    assert play(office, "git-attacker", "--marker", str(marker)).signal == "done"


def test_a_daemon_outlives_its_iteration_without_any_mark_of_it(office):
    assert run_alone(office, "daemon-starter", "--seconds", "20") == 0
    note = office.home(Role.WORKER) / "daemon.pid"
    pid = int(eventually(lambda: note.exists() and note.read_text(), what="the daemon's start"))
    try:
        assert os.getsid(pid) != os.getsid(0)
        assert b"RUN_MARK" not in Path(f"/proc/{pid}/environ").read_bytes()
    finally:
        os.kill(pid, signal.SIGKILL)


def run_alone(office, name, *options):
    """The program itself, where no interface is needed; its exit code."""
    argv, env = scripted.argv(name, *options), office.environ(office.home(Role.WORKER))
    quiet = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    return subprocess.run(argv, cwd=office.clone, env=env, check=False, **quiet).returncode


# --- the command line ----------------------------------------------------------------------------


def test_every_agent_has_a_line_in_the_list_and_runs_as_a_module_too():
    argv = [sys.executable, "-m", "loops.agents.scripted", "--list"]
    listed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(BEHAVIOURS)
    assert all(behaviour.__doc__.count("\n\n") <= 1 for behaviour in BEHAVIOURS.values())


@pytest.mark.django_db(transaction=True)
def test_as_programs_over_the_socket_they_work_the_same(office):
    filed = office.run(scripted.argv("reviewer", *CHECKS), Role.REVIEWER)
    assert (filed.code, filed.signal) == (0, "review bugs"), filed
    fixed = office.run(scripted.argv("batch-worker"))
    assert (fixed.code, fixed.signal) == (0, None), fixed
    assert office.states() == {"B-1": "FIXED", "B-2": "FIXED"}


def test_an_unknown_name_and_a_bad_check_are_refused_with_a_sentence(office, capsys):
    assert main(["nobody"]) == 2
    assert "no scripted agent 'nobody'" in capsys.readouterr().err
    turn = review(office, "--check", "R-1 nonsense")
    assert turn.code == 1
    assert "--check 'R-1 nonsense'" in turn.out


def test_two_agents_at_once_are_noticed_by_the_lock(office):
    lock = str(office.folder / "lock")
    first = subprocess.Popen(
        scripted.argv("staller", "--lock", lock, "--pause", "30"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    try:
        assert first.stdout.readline() == b"thinking\n"
        assert run_alone(office, "staller", "--lock", lock) == 99
        assert (office.folder / "lock.two-at-once").exists()
    finally:
        first.kill()
        first.wait()
        first.stdout.close()
    assert run_alone(office, "staller", "--lock", lock) == 0
