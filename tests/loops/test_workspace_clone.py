"""A session works on its own full clone, and nothing in the person's repository changes."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from loops.workspaces import Unusable
from tests.conftest import eventually
from tests.loops.workspace_kit import ENV, Session, fingerprint, git, make_source

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def source(tmp_path):
    return make_source(tmp_path / "source")


def test_nothing_in_the_source_repository_changes(tmp_path, source):
    git(source, "tag", "v1")
    git(source, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    (source / ".git/hooks").mkdir(exist_ok=True)
    (source / ".git/hooks/post-checkout").write_text("#!/bin/sh\nexit 1\n")
    (source / "a.txt").write_text("not committed\n")
    before = fingerprint(source)
    session = Session(tmp_path / "data", source)
    base = session.workspace.open()
    session.write("new.txt")
    session.commit()
    session.boundary(session.workspace.stamp())
    assert fingerprint(source) == before
    assert base.head == git(source, "rev-parse", "HEAD")


def test_the_clone_is_full_and_shares_nothing_with_the_source(tmp_path, source):
    git(source, "tag", "v1")
    git(source, "branch", "side")
    session = Session(tmp_path / "data", source)
    session.workspace.open()
    assert session.git("remote") == ""
    assert session.git("describe", "--tags") == "v1"
    assert session.git("rev-parse", "refs/remotes/source/side") == git(source, "rev-parse", "side")
    assert not (session.clone / ".git/objects/info/alternates").exists()
    files = [p for p in (session.clone / ".git").rglob("*") if p.is_file()]
    assert all(p.stat().st_nlink == 1 for p in files)
    assert not list((session.clone / ".git").rglob("hooks/*"))


def test_an_agent_commits_under_the_name_that_is_set_for_it(tmp_path, source):
    session = Session(tmp_path / "data", source)
    session.workspace.open()
    bare = {"PATH": ENV["PATH"], "HOME": "/dev/null"}
    session.write("new.txt")
    subprocess.run(["git", "add", "-A"], cwd=session.clone, env=bare, check=True)
    subprocess.run(["git", "commit", "-qm", "x"], cwd=session.clone, env=bare, check=True)
    assert session.git("log", "-1", "--format=%an <%ae>") == (
        "Loopwatch agent <agent@loopwatch.invalid>"
    )


def test_the_base_stays_what_it_was_at_the_first_open(tmp_path, source):
    session = Session(tmp_path / "data", source)
    base = session.workspace.open()
    (source / "a.txt").write_text("later\n")
    git(source, "commit", "-qam", "later")
    assert Session(tmp_path / "data", source).workspace.open() == base
    second = Session(tmp_path / "data", source, ref="S-2")
    assert second.workspace.open().head == git(source, "rev-parse", "HEAD")


def test_a_session_can_start_from_where_an_earlier_one_ended(tmp_path, source):
    first = Session(tmp_path / "data", source)
    first.workspace.open()
    first.write("new.txt")
    end = first.commit()
    first.workspace.stamp()
    second = Session(tmp_path / "data", source, ref="S-2", base=end)
    assert second.workspace.open().head == end
    assert (second.clone / "new.txt").exists()


def _named(folder):
    """Processes that work in the folder: their words or their environment say so."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        words = [*(process.info["cmdline"] or []), *(process.info["environ"] or {}).values()]
        if any(str(folder) in word for word in words):
            found.append(process.pid)
    return found


def test_a_kill_in_the_middle_of_the_clone_is_made_good_by_the_next_open(tmp_path, source):
    for number in range(300):
        (source / f"file{number}").write_text(f"{number}\n" * 50)
    git(source, "add", "-A")
    git(source, "commit", "-qm", "more")
    program = textwrap.dedent(f"""
        import sys; sys.path.insert(0, {str(ROOT)!r})
        from pathlib import Path
        from tests.loops.workspace_kit import Session
        Session(Path({str(tmp_path / "data")!r}), Path({str(source)!r})).workspace.open()
    """)
    for pause in (0.05, 0.15, 0.25, 0.35):
        process = subprocess.Popen([sys.executable, "-c", program])
        time.sleep(0.1 + pause)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    # Each open so far met the git of the killed one at work; the last one is to leave nothing.
    eventually(lambda: not _named(tmp_path), what="the end of the killed ones' git")
    (source / "a.txt").write_text("HEAD moved on after the first try\n")
    session = Session(tmp_path / "data", source)
    base = session.workspace.open()
    assert session.git("status", "--porcelain") == ""
    assert session.paths(base.rev) == session.paths(base.head)
    assert not list(session.clone.parent.glob("*.part"))


def test_parallel_clones_in_one_project_wait_for_each_other(tmp_path, source):
    sessions = [Session(tmp_path / "data", source, ref=f"S-{n}") for n in range(1, 5)]
    with ThreadPoolExecutor(4) as pool:
        bases = list(pool.map(lambda session: session.workspace.open(), sessions))
    assert len(set(bases)) == 1
    assert all(session.git("status", "--porcelain") == "" for session in sessions)


def test_a_lock_of_a_dead_git_stops_nobody(tmp_path, source):
    session = Session(tmp_path / "data", source)
    base = session.workspace.open()
    (session.clone.parent / "engine/scan.git/index.lock").touch()
    (session.store / "refs/heads/loopwatch/S-1.lock").touch()
    (session.store / "packed-refs.lock").touch()
    session.write("new.txt")
    head = session.commit()
    (session.clone / ".git/index.lock").touch()
    (session.clone / ".git/refs/heads/loopwatch/S-1.lock").touch()
    found = session.boundary(session.workspace.stamp())
    assert found.head == head != base.head
    assert any(".git/index.lock" in note for note in found.notes)
    session.write("newer.txt")
    session.commit()


def test_a_session_can_be_opened_again_after_its_source_is_gone(tmp_path, source):
    session = Session(tmp_path / "data", source)
    base = session.workspace.open()
    source.rename(tmp_path / "away")
    assert session.workspace.open() == base
    assert session.workspace.stamp().rev == base.rev


def test_a_lost_clone_is_said_in_a_sentence(tmp_path, source):
    session = Session(tmp_path / "data", source)
    session.workspace.open()
    session.clone.rename(tmp_path / "away")
    (session.clone).symlink_to(tmp_path / "away")
    for call in (session.workspace.open, session.workspace.stamp):
        with pytest.raises(Unusable, match="is gone or is not a folder"):
            call()


@pytest.mark.parametrize("ref", ["", "../x", "a b", "S-1.lock", "-x", "a/../b"])
def test_a_session_reference_that_is_no_branch_name_is_refused(tmp_path, source, ref):
    with pytest.raises(Unusable, match="cannot name"):
        Session(tmp_path / "data", source, ref=ref)


def test_snapshots_and_dropped_commits_outlive_garbage_collection(tmp_path, source):
    session = Session(tmp_path / "data", source)
    base = session.workspace.open()
    session.write("draft.txt", "draft\n")
    draft = session.workspace.stamp()
    dropped = session.commit()
    session.workspace.stamp()
    session.git("reset", "-q", "--hard", base.head)
    session.workspace.stamp()
    git(session.store, "-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now")
    assert session.content(draft.rev, "draft.txt") == "draft"
    assert git(session.store, "cat-file", "-t", dropped) == "commit"
    assert session.workspace.stamp().rev == base.rev
