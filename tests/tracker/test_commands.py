"""People's commands: what they say, how they end, and that agents cannot use them."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tracker import commands, services
from tracker.commands import PersonCommand
from tracker.engine.rules import State

ROOT = Path(__file__).parents[2]
CLEAN = {k: v for k, v in os.environ.items() if k not in commands.MARKS}


@pytest.fixture(autouse=True)
def as_a_person(monkeypatch, tmp_path, settings):
    """These tests may run inside an agent; only the real processes below look for one."""
    monkeypatch.setattr(commands, "refuse_agents", lambda: None)
    settings.DATA = tmp_path


def run(*args):
    out = StringIO()
    call_command(*args, stdout=out)
    return out.getvalue().strip()


def run_json(*args):
    return json.loads(run(*args, "--json"))


def test_a_project_is_added_and_listed(db, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "a.py").touch()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q"], ["add", "app"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    added = run_json(
        *("project", "add", "web", str(tmp_path), "--path", "app", "--prepare", "make deps"),
        *("--check", "make test", "--leftover", "*.log", "--leftover", "out/", "--allow", "a.lock"),
    )
    assert added == run_json("project", "list")[0]
    assert added["repo_path"] == str(tmp_path.resolve())
    assert (added["subpath"], added["accepted_leftovers"]) == ("app", ["*.log", "out/"])
    assert run("project", "list") == f"web  {tmp_path.resolve()}/app"


def test_a_requirement_is_edited_from_a_file_and_shown(project, tmp_path):
    text = tmp_path / "r.md"
    text.write_text("Every name is used.\n", encoding="utf-8")
    assert run("req", "edit", "demo", "R-1", "--file", str(text)) == "R-1 is at version 2."
    shown = run_json("req", "show", "demo", "R-1")
    assert (shown["version"], shown["text"]) == (2, "Every name is used.\n")
    new = run_json("req", "edit", "demo", "--file", str(text), "--document", "names")
    assert (new["key"], new["document"]) == ("R-2", "names")
    assert [r["key"] for r in run_json("req", "list", "demo")] == ["R-1", "R-2"]


def test_an_edit_of_an_old_version_is_refused_with_exit_code_2(project, ana, tmp_path):
    services.edit_requirement(project, "R-1", text="newer", by=ana)
    text = tmp_path / "r.md"
    text.write_text("mine")
    with pytest.raises(CommandError, match="R-1 is at version 2 now") as caught:
        run("req", "edit", "demo", "R-1", "--file", str(text), "--based-on", "1")
    assert caught.value.returncode == 2


def test_a_task_is_filed_with_its_text_as_the_user_of_the_system(project, tmp_path):
    text = tmp_path / "t.md"
    text.write_text("All of it.")
    filed = run_json("task", "file", "demo", "Tidy", "--file", str(text), "--cites", "R-1.2")
    assert filed["key"] == "T-1"
    assert filed["cites"] == {"key": "R-1", "version": 1, "line": 2}
    assert filed["filed_by"] == commands.user_name()
    assert run("task", "file", "demo", "More") == "T-2 filed."


def test_entries_are_listed_shown_and_settled(project, bug, worker):
    services.block(bug, worker, "cannot")
    assert run("bug", "answer", "demo", "B-1", "try this") == "B-1 is OPEN, priority P2."
    assert run("bug", "priority", "demo", "B-1", "P0") == "B-1 is OPEN, priority P0."
    assert run("bug", "dismiss", "demo", "B-1", "accepted").startswith("B-1 is CLOSED")
    assert run("bug", "reopen", "demo", "B-1", "no").startswith("B-1 is REOPENED")
    listed = run_json("bug", "list", "demo", "--state", "REOPENED")
    assert [b["key"] for b in listed] == ["B-1"]
    assert run("bug", "list", "demo", "--kind", "task") == "No entries."
    verbs = [m["verb"] for m in run_json("bug", "show", "demo", "B-1")["history"]]
    assert verbs == ["file", "block", "unblock", "prioritize", "dismiss", "reopen"]
    assert "> Every import is used." in run("bug", "show", "demo", "B-1")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("bug", "show", "demo", "B-9"), "There is no B-9 in demo."),
        (("bug", "show", "nope", "B-9"), 'There is no project "nope".'),
        (("req", "edit", "demo", "R-1", "--file", "/nonexistent"), "cannot be read"),
        (("project", "add", "x", "/nonexistent"), "There is no folder"),
        (("task", "file", "demo", " "), "The title is missing."),
    ],
)
def test_a_refusal_is_a_sentence_and_exit_code_2(project, args, words):
    with pytest.raises(CommandError, match=words) as caught:
        run(*args)
    assert caught.value.returncode == 2


def test_an_unexpected_fault_is_one_sentence_with_the_traceback_in_the_log(tmp_path, capsys):
    class Command(PersonCommand):
        def add_verbs(self, verb):
            verb("now", self.now, "Fail.")

        def now(self, options):
            return {}["missing"]

    with pytest.raises(SystemExit) as caught:
        Command().run_from_argv(["manage.py", "fail", "now"])
    assert caught.value.code == 1
    shown = capsys.readouterr().err
    assert shown.strip().count("\n") == 0
    assert "Traceback" not in shown
    assert "KeyError: 'missing'" in (tmp_path / "logs" / "commands.log").read_text()


def test_every_state_can_be_listed_without_data(db, project):
    for state in State:
        assert run("bug", "list", "demo", "--state", state) == "No entries."


def test_an_agent_with_a_marked_environment_is_refused(tmp_path):
    for mark in commands.MARKS:
        done = child(tmp_path, [*manage("project", "list")], {mark: "1"})
        assert done.returncode == 2
        assert "does not run inside an agent's process tree" in done.stderr
        assert "Traceback" not in done.stderr


def test_an_agent_that_cleans_the_environment_of_its_child_is_refused_too(tmp_path):
    """The child has no mark any more, its parent still has."""
    done = child(tmp_path, cleaned(manage("project", "list")), {"RUN_MARK": "S-1/4"})
    assert done.returncode == 2
    assert "does not run inside an agent's process tree" in done.stderr


@pytest.mark.skipif(
    any(map(commands._is_agents, commands._ancestors())), reason="these tests run in an agent"
)
def test_a_person_is_not_refused(tmp_path):
    """Without any mark the same command gets as far as the (missing) data."""
    done = child(tmp_path, cleaned(manage("project", "list")), {})
    assert done.returncode == 1
    assert "The data in" in done.stderr


def manage(*args):
    return [sys.executable, str(ROOT / "manage.py"), *args]


def cleaned(argv):
    """Wrap argv in a parent that starts it without marks and waits for it."""
    code = (
        "import os, subprocess, sys;"
        f"e = {{k: v for k, v in os.environ.items() if k not in {commands.MARKS!r}}};"
        "sys.exit(subprocess.run(sys.argv[1:], env=e).returncode)"
    )
    return [sys.executable, "-c", code, *argv]


def child(data, argv, marks):
    env = {**CLEAN, "LOOPWATCH_DATA": str(data / "none"), **marks}
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)
