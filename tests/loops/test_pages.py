"""Small things of the pages of loops: states, budgets, mini strip, diff."""

from __future__ import annotations

import subprocess

import pytest

from loops.engine.values import EndReason, Outcome, Role, State
from loops.pages.frame import Frame
from loops.pages.index import MINI_SLOTS, mini_strip
from loops.pages.limits import budget, nearest
from loops.pages.output import diff_files, fragments
from loops.pages.states import outcome_chip, state_chip


@pytest.mark.parametrize("state", [state for state in State if state is not State.ENDED])
def test_every_state_has_a_word_an_icon_and_a_tone(state):
    chip = state_chip(state)
    assert chip.word
    assert chip.icon
    assert chip.tone


@pytest.mark.parametrize("end", EndReason)
def test_no_two_end_reasons_share_a_word(end):
    words = [state_chip(State.ENDED, end=one).word for one in EndReason]
    assert words.count(state_chip(State.ENDED, end=end).word) == 1


def test_a_session_whose_runner_is_silent_is_not_shown_as_running():
    assert state_chip(State.RUNNING, is_responding=False).word == "Not responding"
    assert state_chip(State.RUNNING, held_until="07:10").word == "Running, held until 07:10"


@pytest.mark.parametrize("outcome", [*Outcome, None])
def test_every_outcome_has_a_chip(outcome):
    assert outcome_chip(outcome, findings=2, guidance=3).word


def test_a_limit_that_is_reached_changes_its_colour_and_none_is_said_in_words():
    def at(used: float) -> str:
        return budget("Tokens", used=used, most=10, used_words="", most_words="").bar.tone

    assert [at(1), at(8), at(10), at(12)] == ["run", "warn", "lim", "lim"]
    assert budget("Money", used=3, most=None, used_words="$3.00").note == "no limit set"


def test_the_nearest_limit_is_the_fullest_one():
    one = budget("Iterations", used=3, most=10, used_words="3", most_words="10")
    two = budget("Time", used=5, most=10, used_words="5", most_words="10")
    assert nearest((one, two, budget("Money", used=9, most=None, used_words="9"))) is two
    assert nearest(()) is None


def test_the_mini_strip_keeps_the_newest_turns_at_the_right():
    turns = [(Role.WORKER, Outcome.WORK)] * 30 + [(Role.REVIEWER, Outcome.REVIEW_BUGS)]
    strip = mini_strip(turns)
    assert len(strip.bars) == MINI_SLOTS
    assert strip.bars[-1].tone == "c-bad"
    assert mini_strip(turns, is_waiting=True).bars[-1].tone == "c-wait"
    assert mini_strip([]).bars == ()


def test_a_diff_counts_lines_on_both_sides():
    (file,) = diff_files(
        "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n"
        "@@ -1,2 +1,3 @@ def f():\n a\n-b\n+c\n+d\n"
    )
    assert (file.path, file.added, file.removed) == ("x.py", 2, 1)
    assert [(row.kind, row.old, row.new) for row in file.rows] == [
        ("hunk", None, None),
        ("same", 1, 1),
        ("del", 2, None),
        ("add", None, 2),
        ("add", None, 3),
    ]


def test_removed_lines_that_look_like_headers_are_lines():
    (file,) = diff_files("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- old\n+++ new\n")
    assert (file.added, file.removed) == (1, 1)


def test_binary_files_are_named_without_lines():
    (file,) = diff_files("diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n")
    assert (file.path, file.rows, file.is_binary, file.note) == ("x.png", (), True, "binary")


ODD = {
    "plain name.txt": "new",
    "a b/x.txt": "new",
    'quo"te.txt': "new",
    "tab\there": "new",
    "grüße.txt": "new",
    "back\\slash": "new",
    "gone.txt": "deleted",
    "kept.txt": "changed",
    "moved b/tö.txt": "renamed",
    "dot.bin": "new",
}


def test_every_name_that_git_can_write_is_read_back(tmp_path):
    def git(*words):
        kit = [
            "git",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@localhost",
            "-c",
            "core.quotePath=true",
        ]
        return subprocess.run([*kit, *words], cwd=tmp_path, check=True, capture_output=True).stdout

    git("init", "-q")
    for name in ("gone.txt", "kept.txt", "old.txt"):
        (tmp_path / name).write_text(f"{name}\n" * 9)
    git("add", "-A")
    git("commit", "-qm", "first")
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "kept.txt").write_text("other\u2028line\n")
    (tmp_path / "moved b").mkdir()
    (tmp_path / "old.txt").rename(tmp_path / "moved b" / "tö.txt")
    (tmp_path / "a b").mkdir()
    for name, change in ODD.items():
        if change == "new":
            (tmp_path / name).write_bytes(b"\0\1" if name.endswith("bin") else b"new\n")
    git("add", "-A")
    git("commit", "-qm", "second")
    text = git("diff-tree", "-p", "-r", "-M", "HEAD^", "HEAD").decode()
    found = {file.path: file for file in diff_files(text)}
    assert {name: file.change for name, file in found.items()} == {
        name.replace("\t", "\\t"): change for name, change in ODD.items()
    }
    assert found["kept.txt"].added == 1
    assert found["dot.bin"].is_binary
    assert "renamed from old.txt" in found["moved b/tö.txt"].note


def test_a_removed_secret_is_a_mark_of_its_own():
    assert [one.is_removed for one in fragments("KEY=[secret removed] end")] == [False, True, False]
    assert fragments("")[0].text == ""


@pytest.mark.parametrize(("age", "tone"), [(3, "ok"), (12, "warn"), (31, "bad"), (None, "bad")])
def test_the_frame_says_when_the_engine_is_silent(age, tone):
    frame = Frame(nav=(), engine_age=age, age_url="", viewer="", account_url="")
    assert frame.engine_tone == tone
