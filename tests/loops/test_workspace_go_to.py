"""An attempt starts from the tree it is to start from, whatever was done to the clone since."""

import shutil

import pytest

from loops.workspaces import Tree, Unusable
from tests.conftest import require
from tests.loops.workspace_kit import Session, git, make_source

FILES = {"a.txt": "one\n", "src/b.txt": "two\n", ".gitignore": "*.log\n"}


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path / "data", make_source(tmp_path / "source", FILES))
    session.workspace.open()
    return session


@pytest.fixture
def recorded(session):
    """A tree with a commit of its own and content that is in no commit."""
    session.write("src/b.txt", "first attempt\n")
    session.commit("first")
    session.write("loose.txt", "not committed\n")
    return session.workspace.stamp()


def back(session, tree):
    """Go there, and show that it holds for whoever looks next."""
    assert session.workspace.go_to(tree) == tree
    assert session.workspace.stamp() == tree
    assert session.git("rev-parse", "HEAD") == tree.head
    assert git(session.store, "rev-parse", "loopwatch/S-1") == tree.head


def test_files_and_commits_of_a_later_attempt_are_gone_and_kept_in_the_store(session, recorded):
    session.write("src/b.txt", "second attempt\n")
    session.write("new/deep/c.txt")
    (session.clone / "a.txt").unlink()
    later = session.commit("second")
    session.write("loose.txt", "other\n")
    last = session.workspace.stamp()
    back(session, recorded)
    assert (session.clone / "loose.txt").read_text() == "not committed\n"
    assert (session.clone / "a.txt").exists()
    assert not (session.clone / "new").exists()
    assert session.git("status", "--porcelain") == "?? loose.txt"
    assert git(session.store, "cat-file", "-t", later) == "commit"
    back(session, last)
    assert (session.clone / "loose.txt").read_text() == "other\n"


def test_it_can_be_repeated(session, recorded):
    session.write("a.txt", "changed\n")
    for _ in range(2):
        back(session, recorded)


def test_a_crash_between_the_files_and_the_commit_is_made_good(session, recorded):
    session.commit("second")
    base = session.git("rev-parse", "HEAD~2")
    session.git("update-ref", "HEAD", base)
    back(session, recorded)


def test_an_agent_on_another_branch_is_put_on_the_sessions(session, recorded):
    session.git("checkout", "-q", "-b", "mine")
    session.write("a.txt", "mine\n")
    session.commit("mine")
    session.workspace.stamp()
    back(session, recorded)
    assert session.git("symbolic-ref", "HEAD") == "refs/heads/loopwatch/S-1"


def test_a_commit_that_was_amended_away_and_pruned_comes_back_from_the_store(session, recorded):
    session.write("a.txt", "amended\n")
    session.git("commit", "-q", "-a", "--amend", "-m", "amended")
    session.workspace.stamp()
    session.git("reflog", "expire", "--expire=now", "--all")
    session.git("gc", "-q", "--prune=now")
    assert session.git("cat-file", "-t", recorded.head, check=False) == ""
    back(session, recorded)
    session.git("fsck", "--no-dangling")


@pytest.mark.parametrize("what", ["objects", ".git", "HEAD", "refs taken"])
def test_a_clone_whose_git_was_destroyed_is_made_whole(session, recorded, what):
    session.write("a.txt", "later\n")
    session.commit("later")
    session.workspace.stamp()
    inner = session.clone / ".git"
    if what == "objects":
        shutil.rmtree(inner / "objects")
        (inner / "objects").mkdir()
    elif what == ".git":
        shutil.rmtree(inner)
    elif what == "HEAD":
        (inner / "HEAD").write_text("nonsense\n")
    else:  # a branch where the session's branch has its folder
        session.git("checkout", "-q", "--detach")
        session.git("branch", "-q", "-D", "loopwatch/S-1")
        session.git("branch", "-q", "loopwatch")
    back(session, recorded)
    assert session.git("log", "--format=%s", "-1") == "first"
    session.git("fsck", "--no-dangling")


def test_a_merge_that_was_begun_does_not_go_on_elsewhere(session, recorded):
    session.git("checkout", "-q", "-b", "other", "HEAD~1")
    session.write("src/b.txt", "conflict\n")
    (session.clone / "loose.txt").unlink()
    session.commit("other")
    session.git("merge", "-q", "loopwatch/S-1", check=False)
    assert (session.clone / ".git/MERGE_HEAD").exists()
    back(session, recorded)
    assert not (session.clone / ".git/MERGE_HEAD").exists()


def test_odd_names_links_and_modes_go_back(session):
    odd = [b"new\nline.txt", b"back\\slash", b"\xff\xfe.bin", b'"quoted".txt', b" lead", b"-dash"]
    for name in odd:
        session.write(name, b"first\0\xff\r\n")
    (session.clone / "link").symlink_to("a.txt")
    session.write("run.sh").chmod(0o755)
    recorded = session.workspace.stamp()
    for name in odd:
        session.write(name, b"second")
    (session.clone / "link").unlink()
    session.write("link", "a file now\n")
    (session.clone / "run.sh").chmod(0o644)
    session.workspace.stamp()
    back(session, recorded)
    assert (session.clone / "link").is_symlink()
    assert session.paths(recorded.rev) >= set(odd)


def test_folders_and_files_that_changed_places_go_back(session, recorded):
    (session.clone / "a.txt").unlink()
    session.write("a.txt/inside.txt")
    shutil.rmtree(session.clone / "src")
    session.write("src", "a file\n")
    session.write("a.txt/kept.log", "ignored\n")
    back(session, recorded)
    assert (session.clone / "a.txt").read_text() == "one\n"


def test_what_another_ignore_file_hid_does_not_stay_behind(session, recorded):
    session.write(".gitignore", "*.log\nhidden.txt\n")
    session.write("hidden.txt", "a later attempt's\n")
    session.commit("hide")
    session.workspace.stamp()
    back(session, recorded)
    assert not (session.clone / "hidden.txt").exists()


def test_a_nested_repository_of_a_later_attempt_leaves_nothing_in_the_clone(session, recorded):
    nested = session.clone / "vendor/lib"
    nested.mkdir(parents=True)
    git(nested, "init", "-q")
    (nested / "x.c").write_text("int x;\n")
    later = session.workspace.stamp()
    back(session, recorded)
    assert not (session.clone / "vendor").exists()
    assert list((session.clone.parent / "aside").rglob("HEAD"))
    back(session, later)
    assert (nested / "x.c").read_text() == "int x;\n"


def test_ignored_files_stay(session, recorded):
    session.write("build.log", "expensive\n")
    session.write("a.txt", "changed\n")
    back(session, recorded)
    assert (session.clone / "build.log").exists()


def test_a_tree_that_was_never_recorded_is_refused_with_a_sentence(session, recorded):
    with pytest.raises(Unusable, match="is not in the project's store"):
        session.workspace.go_to(Tree("1" * 40, recorded.head))


def test_the_way_back_runs_nothing_that_the_agent_left(session, recorded, tmp_path):
    ran = tmp_path / "ran"
    hook = session.clone / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    session.write(".gitattributes", "* filter=evil\n")
    for name, value in (
        ("filter.evil.smudge", f"touch {ran}"),
        ("filter.evil.clean", f"touch {ran}; cat"),
        ("core.fsmonitor", f"touch {ran}"),
    ):
        session.git("config", name, value)
    back_to = recorded
    assert session.workspace.go_to(back_to) == back_to
    assert not ran.exists()


def test_the_confined_git_takes_the_objects_in(tmp_path):
    require("bwrap")
    from functools import partial

    from loops.agents.confine import confine

    data = tmp_path / "data"
    source = make_source(tmp_path / "source", FILES)
    session = Session(data, source, confine=partial(confine, hidden=[data]))
    session.workspace.open()
    session.write("a.txt", "two\n")
    session.commit("first")
    recorded = session.workspace.stamp()
    session.write("a.txt", "three\n")
    session.git("commit", "-q", "-a", "--amend", "-m", "amended")
    session.workspace.stamp()
    session.git("reflog", "expire", "--expire=now", "--all")
    session.git("gc", "-q", "--prune=now")
    back(session, recorded)
