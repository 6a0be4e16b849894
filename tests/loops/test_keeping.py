"""Snapshots where other hosts reach them, with real git: what is recorded is there too, and a host
that has nothing but that goes on with the same files, the same commits, the same HEAD."""

from __future__ import annotations

import os
import shutil
import stat

import pytest

from escalations import services as escalations
from escalations.models import Escalation
from escalations.word import Word
from loops import moving, runner, stage
from loops.engine.values import Choice
from loops.models import Session
from loops.workspaces import Elsewhere, Unreachable
from tests.loops.hosts_kit import kill_at, lose, stand_on
from tests.loops.test_scripted_sessions import play, repo  # noqa: F401
from tests.loops.workspace_kit import Session as Clone
from tests.loops.workspace_kit import git, make_source
from tracker import services as tracker
from tracker.errors import Conflict

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
WORKER = (
    "sh",
    "-c",
    "date +%s%N >> log.txt; git add -A; git commit -qm work; date +%N > loose.txt; "
    "loopwatch not-done",
)


@pytest.fixture
def stores(tmp_path, settings):
    folder = tmp_path / "stores"
    folder.mkdir()
    settings.STORE_URL = str(folder)
    stand_on(settings, "b", tmp_path / "b")
    return folder


# --- what goes over -------------------------------------------------------------------------------


def arrived(tmp_path, sent, source, place):
    """The session of `sent` on another host that has nothing of it."""
    there = Clone(tmp_path / "other", source)
    base = sent.workspace.open()
    there.workspace.arrive(place, "b", base, sent.workspace.kept())
    assert there.workspace.open() == base
    return there


@pytest.mark.parametrize("source_is_there", [True, False])
def test_a_clone_made_elsewhere_has_the_same_files_commits_and_head(tmp_path, source_is_there):
    source = make_source(tmp_path / "source", {"a.txt": "one\n", "gone.txt": "x\n", "b/c": "y\n"})
    here = Clone(tmp_path / "here", source)
    here.workspace.open()
    here.write(".gitattributes", "*.crlf text eol=crlf\n")
    here.write("x.crlf", b"one\ntwo\r\n")
    here.git("checkout", "-q", "-b", "mine")
    here.commit("the agent's own branch")
    (here.clone / "gone.txt").unlink()
    here.write("a.txt", "changed, not committed\n")
    here.write("new/untracked", "two\n").chmod(0o755)
    (here.clone / "link").symlink_to("a.txt")
    sent = here.workspace.stamp()
    place = Elsewhere(str(tmp_path / "9.git"))
    here.workspace.send(place, "b", here.workspace.kept())
    if not source_is_there:
        shutil.rmtree(source)
    there = arrived(tmp_path, here, source, place)
    assert there.workspace.stamp() == sent
    assert there.git("symbolic-ref", "HEAD") == "refs/heads/mine"
    assert there.git("status", "--porcelain") == here.git("status", "--porcelain")
    assert stat.S_IMODE((there.clone / "new/untracked").stat().st_mode) & 0o100
    assert os.readlink(there.clone / "link") == "a.txt"
    assert (there.clone / "x.crlf").read_bytes() == b"one\ntwo\r\n"
    there.commit("goes on")
    there.workspace.stamp()
    there.workspace.send(place, "a", there.workspace.kept())


def test_only_the_sessions_own_refs_are_written(tmp_path):
    source = make_source(tmp_path / "source")
    place = Elsewhere(str(tmp_path / "9.git"))
    first, second = Clone(tmp_path / "x", source, "S-1"), Clone(tmp_path / "y", source, "S-2")
    for clone in (first, second):
        clone.workspace.open()
        clone.write("own.txt", str(clone.folder))
        clone.commit()
        clone.workspace.stamp()
        clone.workspace.send(place, "b", clone.workspace.kept())
    before = git(tmp_path / "9.git", "for-each-ref", "refs/heads/loopwatch/S-1")
    second.git("commit", "-q", "--amend", "-m", "anew")  # a branch that is rewritten
    second.workspace.stamp()
    second.workspace.send(place, "b", second.workspace.kept())
    assert git(tmp_path / "9.git", "for-each-ref", "refs/heads/loopwatch/S-1") == before
    head = git(tmp_path / "9.git", "rev-parse", "refs/heads/loopwatch/S-2")
    assert head == second.git("rev-parse", "HEAD")


def test_a_folder_that_is_not_mounted_is_not_made(tmp_path):
    clone = Clone(tmp_path / "x", make_source(tmp_path / "source"))
    clone.workspace.open()
    with pytest.raises(Unreachable, match="mount or make it"):
        clone.workspace.send(Elsewhere("/not/there/1.git"), "b", clone.workspace.kept())


# --- in a session ---------------------------------------------------------------------------------


def test_every_recorded_iteration_is_elsewhere_when_it_is_recorded(play, stores):  # noqa: F811
    session = play(worker_argv=WORKER, worker=(), limit=3)
    assert session.iteration_count == 3
    last = session.iterations.get(number=3)
    assert (session.kept["iteration"], session.kept["rev"]) == (3, last.rev)
    store = stores / f"{session.project_id}.git"
    assert git(store, "rev-parse", f"refs/heads/loopwatch/{session.ref}") == last.head
    ref = f"refs/loopwatch/{session.ref}/at/b"
    assert git(store, "rev-parse", f"{ref}^{{tree}}") == last.rev


def test_nothing_is_sent_where_no_place_is_named(play, stores, settings):  # noqa: F811
    settings.STORE_URL = ""
    session = play(("gold-plater",), limit=1)
    assert (session.kept, session.keeping_fault, list(stores.iterdir())) == (None, "", [])


def test_a_place_that_does_not_answer_is_shown_and_the_loop_goes_on(
    play,  # noqa: F811
    stores,
):
    stores.rmdir()
    session = play(("gold-plater",), limit=2)
    assert session.iteration_count == 2
    assert "mount or make it" in session.keeping_fault
    assert session.kept is None


def test_a_session_goes_on_elsewhere_with_its_files_its_script_and_without_the_old_clone(
    play,  # noqa: F811
    repo,  # noqa: F811
    stores,
    settings,
    tmp_path,
):
    (repo / "judge.sh").write_text("exit 1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "judge")
    worker = ("sh", "-c", f"echo exit 0 > judge.sh; {WORKER[2]}")
    config = {"done_mode": "script", "script": "sh judge.sh"}
    session = play(worker_argv=worker, worker=(), limit=2, **config)
    kill_at("claimed", lambda: grant_and_run(session))
    shutil.rmtree(repo)
    shutil.rmtree(tmp_path / "b" / "sessions")
    lose("b")
    stand_on(settings, "a", tmp_path / "a")
    session.refresh_from_db()
    known = session.kept["rev"]
    moving.move(session, "a", "me")
    Session.objects.filter(pk=session.pk).update(not_before=None)
    runner.advance(session.pk, stage.equip, iterations=1)
    session.refresh_from_db()
    third, fourth = session.iterations.filter(number__gt=2).order_by("number")
    assert (third.outcome, third.rev) == ("INTERRUPTED", known)
    assert fourth.before["rev"] == known
    assert session.state == "running", "the script that judges is the one of the start"
    assert (session.kept["host"], session.kept["iteration"]) == ("a", 4)
    assert (tmp_path / "a" / "sessions" / str(session.pk) / "clone" / "loose.txt").exists()


def grant_and_run(session):
    question = Escalation.objects.get(session=session, status="open")
    word = Word(choice=Choice.GRANT, grants={"iterations": 50})
    escalations.decide(question, word, by=tracker.person("me"))
    runner.advance(session.pk, stage.equip)


def test_a_store_that_is_away_at_the_arrival_fails_nothing(
    play,  # noqa: F811
    stores,
    settings,
    tmp_path,
):
    session = play(worker_argv=WORKER, worker=(), limit=40, reviewer=("dead-reviewer",))
    assert session.host == "b"
    Session.objects.filter(pk=session.pk).update(state="paused")
    session.refresh_from_db()
    lose("b")
    stand_on(settings, "a", tmp_path / "a")
    moving.move(session, "a", "me")
    stores.rename(tmp_path / "away")
    session.refresh_from_db()
    too_early = stage.equip(session)
    with pytest.raises(Conflict, match="cannot go on here yet"):
        too_early.open()
    too_early.close()
    session.refresh_from_db()
    assert (session.state, "cannot go on" in session.keeping_fault) == ("paused", True)
    (tmp_path / "away").rename(stores)
    there = stage.equip(session)
    there.open()
    there.close()


def test_coming_back_to_a_host_leaves_its_older_clone_aside(
    play,  # noqa: F811
    stores,
    settings,
    tmp_path,
):
    session = play(("gold-plater",), limit=1)
    clone = tmp_path / "b" / "sessions" / str(session.pk) / "clone"
    (clone / "stale.txt").write_text("of the first stay\n")
    Session.objects.filter(pk=session.pk).update(host_moves=2)
    session.refresh_from_db()
    there = stage.equip(session)
    there.open()
    there.close()
    assert not (clone / "stale.txt").exists()
    assert (clone.parent / "left-0" / "clone" / "stale.txt").exists()
