"""A session whose done is judged by a script: done signals never end it, the script does."""

from __future__ import annotations

import subprocess

import pytest

from tests.loops.test_scripted_sessions import asked, outcomes, play, repo  # noqa: F401

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


def test_the_script_ends_the_session_once_it_passes_and_nothing_is_open(play):  # noqa: F811
    session = play(
        ("finisher", "--begin-with", "ready.txt"), done_mode="script", script="test -f ready.txt"
    )
    assert (session.end_reason, asked(session)) == ("done", []), outcomes(session)
    assert "DONE" not in outcomes(session)


def test_a_liar_s_done_signals_do_not_count(play):  # noqa: F811
    session = play(("early-done",), done_mode="script", script="test -f ready.txt")
    assert session.state == "waiting_human", outcomes(session)


def test_an_agent_cannot_change_the_script_that_judges_it(play, repo):  # noqa: F811
    judge = repo / "judge.sh"
    judge.write_text("#!/bin/sh\nexit 1\n")
    judge.chmod(0o755)
    git = ["git", "-C", str(repo), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "judge"], check=True)
    easy = "printf '#!/bin/sh\\nexit 0\\n' > judge.sh; git commit -qam easy; loopwatch done"
    forge = ["/bin/sh", "-c", easy]
    session = play(None, done_mode="script", script="sh judge.sh", worker_argv=forge, limit=4)
    assert session.state == "waiting_human", outcomes(session)


def test_both_needs_the_signals_and_the_script(play):  # noqa: F811
    session = play(("finisher",), done_mode="both", script="test -f never.txt", limit=8)
    assert session.state == "waiting_human", outcomes(session)
    assert "DONE" in outcomes(session)
