"""What the end of an iteration shows, puts back and moves away (RULES 1 and 4)."""

import pytest

from loops.workspaces import scan
from tests.loops.workspace_kit import Session, git, make_source

FILES = {
    "a.txt": "one\n",
    "app/code.py": "x = 1\n",
    "app/tests/t.py": "t\n",
    "lib/other.py": "y = 1\n",
    "root.lock": "1\n",
    ".gitignore": "*.log\n",
}


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path / "data", make_source(tmp_path / "source", FILES))
    session.workspace.open()
    return session


@pytest.fixture
def inner(tmp_path):
    """A project that is the folder `app` of its repository, with the lock file at the root."""
    session = Session(
        tmp_path / "data",
        make_source(tmp_path / "source", FILES),
        subpath="app/",
        extra_paths=("./root.lock",),
    )
    session.workspace.open()
    return session


def test_an_iteration_that_did_nothing_shows_nothing(session):
    before = session.workspace.stamp()
    found = session.boundary(before, done_signalled=True)
    assert (found.rev, found.head) == (before.rev, before.head)
    assert (found.uncommitted, found.changed_paths, found.moved, found.restored, found.notes) == (
        ((),) * 5
    )


def test_changes_are_named_and_so_is_what_is_not_committed(session):
    before = session.workspace.stamp()
    session.write("app/code.py", "x = 2\n")
    session.write("new.py")
    head = session.commit()
    session.write("a.txt", "two\n")
    (session.clone / "lib/other.py").unlink()
    found = session.boundary(before)
    assert found.head == head
    assert found.changed_paths == ("a.txt", "app/code.py", "lib/other.py", "new.py")
    assert found.uncommitted == ("a.txt", "lib/other.py")


def test_committing_leftovers_of_an_earlier_iteration_changes_nothing(session):
    session.write("left.py")
    session.write("a.txt", "two\n")
    before = session.workspace.stamp()
    session.commit()
    found = session.boundary(before, done_signalled=True)
    assert found.changed_paths == found.uncommitted == found.moved == ()
    assert found.rev == before.rev


def test_with_done_untracked_files_of_this_iteration_move_to_its_files(session):
    session.write("earlier.txt")
    before = session.workspace.stamp()
    session.write("junk/deep/one.txt", "kept\n")
    session.write("-x\ny")
    (session.clone / "link").symlink_to("/etc/hostname")
    found = session.boundary(before, number=7, done_signalled=True)
    assert set(found.moved) == {"junk/deep/one.txt", "-x\\ny", "link"}
    assert found.changed_paths == ()
    assert found.uncommitted == ("earlier.txt",)
    assert found.rev == before.rev
    assert set(session.workspace.files(7)) == {"junk/deep/one.txt", "-x\\ny", "link"}
    kept = session.workspace.files_folder(7)
    assert (kept / "junk/deep/one.txt").read_text() == "kept\n"
    assert (kept / "link").is_symlink()
    assert not (session.clone / "junk").exists()
    assert session.workspace.files(8) == ()


def test_without_done_untracked_files_stay(session):
    before = session.workspace.stamp()
    session.write("junk.txt")
    found = session.boundary(before)
    assert (found.moved, found.uncommitted, found.changed_paths) == (
        (),
        ("junk.txt",),
        ("junk.txt",),
    )


def test_a_new_file_that_is_staged_but_not_committed_is_work_not_junk(session):
    before = session.workspace.stamp()
    session.write("new.py")
    session.git("add", "new.py")
    found = session.boundary(before, done_signalled=True)
    assert (found.moved, found.uncommitted) == ((), ("new.py",))


def test_a_nested_repository_first_seen_moves_with_its_git(session):
    before = session.workspace.stamp()
    (session.clone / "dep").mkdir()
    git(session.clone / "dep", "init", "-q")
    session.write("dep/x.txt")
    session.write("dep/sub/y.txt")
    found = session.boundary(before, done_signalled=True)
    assert found.moved == ("dep",)
    assert session.workspace.files(1) == ("dep/sub/y.txt", "dep/x.txt")
    assert not (session.clone / "dep").exists()
    assert found.rev == before.rev


@pytest.mark.parametrize("commits", [False, True])
def test_a_role_that_may_not_change_the_tree_leaves_it_as_it_was(session, commits):
    session.write("leftover.txt", "of the worker\n")
    (session.clone / "leftover.txt").chmod(0o755)
    (session.clone / "link").symlink_to("a.txt")
    before = session.workspace.stamp()
    was = session.git("symbolic-ref", "HEAD")
    session.write("a.txt", "changed\n")
    (session.clone / "leftover.txt").unlink()
    (session.clone / "link").unlink()
    (session.clone / "app/code.py").unlink()
    session.write("app/code.py/now/a/folder.txt")
    (session.clone / "lib/other.py").chmod(0o755)
    session.write("mine.txt")
    if commits:
        session.git("checkout", "-q", "-b", "other")
        session.commit()
    found = session.boundary(before, number=3, may_change=False)
    assert (found.rev, found.head) == (before.rev, before.head)
    assert set(found.restored) == {
        *("a.txt", "leftover.txt", "link", "app/code.py", "lib/other.py", "mine.txt"),
        "app/code.py/now/a/folder.txt",
    }
    assert found.changed_paths == ()
    assert session.git("symbolic-ref", "HEAD") == was
    assert session.git("rev-parse", "HEAD") == before.head
    assert session.git("status", "--porcelain") == "?? leftover.txt\n?? link"
    assert any("may not change the tree" in note for note in found.notes)
    assert any("may not commit" in note for note in found.notes) == commits


def test_a_role_that_may_not_change_the_tree_loses_nobodys_ignored_files(session):
    before = session.workspace.stamp()
    (session.clone / "a.txt").unlink()
    session.write("a.txt/build.log", "ignored\n")
    found = session.boundary(before, number=4, may_change=False)
    assert found.rev == before.rev
    assert session.workspace.files(4) == ("a.txt/build.log",)


def test_folders_that_a_role_shut_are_put_back_all_the_same(session):
    before = session.workspace.stamp()
    session.write("app/code.py", "changed\n")
    session.write("app/tests/mine.py")
    for folder in ("app/tests", "app"):
        (session.clone / folder).chmod(0o500)
    found = session.boundary(before, may_change=False)
    assert (found.rev, set(found.restored)) == (before.rev, {"app/code.py", "app/tests/mine.py"})


def test_a_link_planted_by_an_agent_does_not_lead_the_engine_out(session, tmp_path):
    before = session.workspace.stamp()
    outside = tmp_path / "outside"
    (outside / "tests").mkdir(parents=True)
    (outside / "code.py").write_text("mine\n")
    for path in ("app/code.py", "app/tests/t.py"):
        (session.clone / path).unlink()
    (session.clone / "app/tests").rmdir()
    (session.clone / "app").rmdir()
    (session.clone / "app").symlink_to(outside)
    found = session.boundary(before, may_change=False)
    assert found.rev == before.rev
    assert (outside / "code.py").read_text() == "mine\n"
    assert not list((outside / "tests").iterdir())
    assert not (session.clone / "app").is_symlink()


def test_files_known_by_size_only_are_kept_not_deleted(session, monkeypatch):
    monkeypatch.setattr(scan, "LARGE_BYTES", 1000)
    path = session.write("big.bin", b"a" * 2000)
    before = session.workspace.stamp()
    path.unlink()
    session.write("mine.bin", b"b" * 3000)
    found = session.boundary(before, number=5, may_change=False)
    assert session.workspace.files(5) == ("mine.bin",)
    assert any("big.bin" in note and "cannot be put back" in note for note in found.notes)


def test_a_branch_of_the_agents_own_is_fine_and_the_sessions_branch_follows_head(session):
    before = session.workspace.stamp()
    session.git("checkout", "-q", "-b", "fix/it")
    session.write("a.txt", "two\n")
    head = session.commit()
    found = session.boundary(before)
    assert found.head == head
    assert session.workspace.branch() == "loopwatch/S-1"
    assert git(session.store, "rev-parse", "refs/heads/loopwatch/S-1") == head
    session.git("checkout", "-q", "--detach", before.head)
    session.boundary(before)
    assert git(session.store, "rev-parse", "refs/heads/loopwatch/S-1") == before.head


def test_many_commits_reach_the_store_in_one_boundary(session):
    before = session.workspace.stamp()
    for number in range(34):
        session.write(f"f{number}.txt", f"{number}\n")
        session.git("add", "-A")
        session.git("commit", "-qm", f"{number}")
    session.boundary(before)
    log = git(session.store, "rev-list", "--count", "refs/heads/loopwatch/S-1")
    assert log == "35"
    git(session.store, "fsck", "--strict")


def test_files_outside_the_projects_path_are_put_back_one_by_one(inner):
    before = inner.workspace.stamp()
    inner.write("app/code.py", "x = 2\n")
    inner.write("root.lock", "2\n")
    inner.write("lib/other.py", "y = 2\n")
    inner.write("outside.txt")
    found = inner.boundary(before)
    assert found.changed_paths == ("app/code.py", "root.lock")
    assert set(found.restored) == {"lib/other.py", "outside.txt"}
    assert found.uncommitted == ("app/code.py", "root.lock")
    assert (inner.clone / "lib/other.py").read_text() == "y = 1\n"
    assert any("outside the project's paths" in note for note in found.notes)


def test_a_commit_that_changed_files_outside_must_be_undone_before_the_tree_is_clean(inner):
    before = inner.workspace.stamp()
    inner.write("lib/other.py", "y = 2\n")
    inner.commit()
    found = inner.boundary(before)
    assert found.uncommitted == ("lib/other.py",)
    inner.commit("undo")
    assert inner.boundary(before, number=2).uncommitted == ()


def test_a_folder_whose_name_only_begins_like_the_projects_is_outside(inner):
    before = inner.workspace.stamp()
    inner.write("app2/x.py")
    assert inner.boundary(before).restored == ("app2/x.py",)


def test_missing_knows_rewritten_commits_by_their_patch(session):
    base = session.workspace.stamp()
    session.write("one.txt")
    one = session.commit("one")
    session.write("two.txt")
    two = session.commit("two")
    session.workspace.stamp()
    session.git("reset", "-q", "--hard", base.head)
    session.write("zero.txt")
    session.commit("zero")
    session.git("cherry-pick", one)
    head = session.workspace.stamp().head
    asked = [one, two, one[:8], "0" * 40, "HEAD", "--all", "", "main"]
    away = session.workspace.missing(asked, head)
    assert away == {two, "0" * 40, "HEAD", "--all", "", "main"}
    assert session.workspace.missing([head, base.head], head) == frozenset()
    assert session.workspace.missing([], head) == frozenset()


def test_missing_finds_a_commit_amended_away_within_one_iteration(session):
    session.write("one.txt")
    first = session.commit("one")
    session.git("commit", "-q", "--amend", "-m", "one, in better words")
    head = session.workspace.stamp().head
    assert head != first
    assert session.workspace.missing([first], head) == frozenset()
    session.git("reset", "-q", "--hard", "HEAD~1")
    assert session.workspace.missing([first], session.workspace.stamp().head) == {first}


def test_blob_names_the_content_of_a_file_in_the_stamped_tree(inner):
    code = git(inner.clone, "hash-object", "app/code.py")
    inner.workspace.stamp()
    blob = inner.workspace.blob
    assert blob("app/code.py") == blob("./app//code.py") == blob("code.py") == code
    assert [blob(p) for p in ("no", "app", "", "/etc/passwd", "../x", ":/", "a\0b")] == [""] * 7
    inner.write("app/code.py", "x = 2\n")
    assert blob("app/code.py") == code
    inner.workspace.stamp()
    assert blob("app/code.py") != code


def test_diff_shows_text_and_survives_binary_and_foreign_bytes(session):
    before = session.workspace.stamp()
    session.write("a.txt", "two\n")
    session.write("bin", b"\0\1\2" * 99)
    session.write("latin", b"caf\xe9\n")
    text = session.workspace.diff(before.rev, session.workspace.stamp().rev)
    assert "-one\n+two" in text
    assert "\0" not in text
    assert "Binary files /dev/null and b/bin differ" in text


def test_prepare_runs_in_the_clone_and_again_only_when_a_manifest_changed(inner):
    command = "pwd >> ../runs.log; echo $HOME"
    ran = inner.workspace.prepare(command, 60)
    assert (ran.passed, ran.cached) == (True, False)
    assert "prepare/home" in ran.tail
    assert inner.workspace.prepare(command, 60).cached
    inner.write("app/code.py", "x = 3\n")
    assert inner.workspace.prepare(command, 60).cached
    inner.write("app/requirements.txt", "x\n")
    assert not inner.workspace.prepare(command, 60).cached
    assert (inner.clone / "runs.log").read_text() == f"{inner.clone / 'app'}\n" * 2


def test_a_prepare_that_fails_is_shown_and_tried_again(session):
    ran = session.workspace.prepare("seq 100; echo broken >&2; exit 3", 60)
    assert (ran.exit_code, ran.tail.splitlines()[-1]) == (3, "broken")
    assert len(ran.tail.splitlines()) == 20
    assert not session.workspace.prepare("seq 100; echo broken >&2; exit 3", 60).cached
