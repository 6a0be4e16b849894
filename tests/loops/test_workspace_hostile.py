"""Nothing that an agent writes into its `.git` runs as the engine, hides a change or breaks it."""

import os
import shutil
import stat
import time

import pytest

from loops.workspaces.processes import run
from tests.loops.workspace_kit import Session, git, is_alive, make_source


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path / "data", make_source(tmp_path / "source"))
    session.workspace.open()
    return session


def program(session, tmp_path, marker):
    """A program that leaves a mark when anything runs it."""
    path = tmp_path / "attack.sh"
    path.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def attack(session, script):
    """Every kind of setting by which git runs a program."""
    for key in (
        *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "diff.external"),
        *("credential.helper", "gpg.program", "pager.status", "uploadpack.packObjectsHook"),
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.askPass"),
        *("diff.evil.textconv", "diff.evil.command", "merge.evil.driver", "sequence.editor"),
        *("alias.status", "alias.rev-parse", "core.gitProxy", "core.alternateRefsCommand"),
    ):
        session.git("config", key, str(script))
    session.git("config", "filter.evil.required", "true")
    session.git("config", "remote.origin.url", f"ext::{script}")
    session.git("config", "remote.origin.promisor", "true")
    session.git("config", "extensions.partialClone", "origin")
    session.git("config", "core.repositoryformatversion", "1")
    session.git("config", "protocol.ext.allow", "always")
    session.git("config", "core.hooksPath", str(session.clone / ".git/hooks"))
    hooks = session.clone / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        *("post-index-change", "reference-transaction", "pre-commit", "post-checkout"),
        *("fsmonitor-watchman", "pre-auto-gc", "post-rewrite", "post-commit", "pre-push"),
    ):
        shutil.copy(script, hooks / name)
    session.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    info = session.clone / ".git/info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* filter=evil diff=evil\n")
    (info / "exclude").write_text("*\n")


def test_no_program_that_an_agent_configured_ever_runs(session, tmp_path):
    marker = tmp_path / "ran"
    script = program(session, tmp_path, marker)
    before = session.workspace.stamp()
    session.write("work.txt")
    head = session.commit()
    attack(session, script)
    session.git("status", check=False)
    marker.unlink()  # it is a real attack: a git that reads this configuration runs it
    session.write("hidden.txt")
    after = session.workspace.stamp()
    assert {b"hidden.txt", b".gitattributes"} <= session.paths(after.rev)
    found = session.boundary(before, done_signalled=True)
    assert found.head == head
    assert session.workspace.missing([head], found.head) == frozenset()
    session.workspace.diff(before.rev, found.rev)
    session.boundary(before, number=2, may_change=False)
    assert session.workspace.stamp() == before
    assert not marker.exists()


def test_files_that_the_agents_git_is_told_to_overlook_are_seen(session):
    before = session.workspace.stamp()
    session.git("update-index", "--assume-unchanged", "a.txt")
    session.git("update-index", "--skip-worktree", "src/b.txt")
    (session.clone / ".git/info").mkdir(exist_ok=True)
    (session.clone / ".git/info/exclude").write_text("secret*\n")
    session.git("config", "core.excludesFile", str(session.clone / "src/b.txt"))
    session.write("a.txt", "changed\n")
    session.write("src/b.txt", "*\n")
    session.write("secret.py")
    found = session.boundary(before)
    assert found.changed_paths == found.uncommitted == ("a.txt", "secret.py", "src/b.txt")


def test_a_nested_repository_runs_nothing_either(session, tmp_path):
    marker = tmp_path / "ran"
    script = program(session, tmp_path, marker)
    folder = session.clone / "lib"
    folder.mkdir()
    git(folder, "init", "-q")
    session.write("lib/x.txt")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")
    for key in ("core.fsmonitor", "filter.evil.clean", "diff.external"):
        git(folder, "config", key, str(script))
    session.write("lib/.gitattributes", "* filter=evil\n")
    session.write(".gitmodules", '[submodule "lib"]\n\tpath = lib\n\turl = ./lib\n')
    session.write("lib/x.txt", "more\n")
    marker.unlink(missing_ok=True)
    rev = session.workspace.stamp().rev
    assert {b"lib/x.txt", b"lib/.gitattributes", b".gitmodules"} <= session.paths(rev)
    assert not marker.exists()


def broken_head(session):
    (session.clone / ".git/HEAD").unlink()


def endless_head(session):
    (session.clone / ".git/HEAD").write_bytes(b"x" * 10_000_000)


def pipe_head(session):
    broken_head(session)
    os.mkfifo(session.clone / ".git/HEAD")


def huge_refs(session):
    with open(session.clone / ".git/packed-refs", "wb") as file:
        file.truncate(200 << 20)


def lost_objects(session):
    shutil.rmtree(session.clone / ".git/objects")


def corrupt_objects(session):
    session.write("w.txt", "w\n" * 99)
    session.commit()
    for path in (session.clone / ".git/objects").rglob("*"):
        if path.is_file() and path.parent.name not in ("pack", "info"):
            path.chmod(0o644)
            path.write_bytes(b"junk")


def git_is_a_file(session):
    shutil.rmtree(session.clone / ".git")
    (session.clone / ".git").write_text(f"gitdir: {session.store}\n")


def git_is_a_link(session):
    shutil.rmtree(session.clone / ".git")
    (session.clone / ".git").symlink_to(session.store)


def git_is_gone(session):
    shutil.rmtree(session.clone / ".git")


def cut_history(session):
    session.write("w.txt")
    session.commit()
    head = session.git("rev-parse", "HEAD")
    for path in (session.clone / ".git").glob("refs/remotes"):
        shutil.rmtree(path)
    session.git("checkout", "-q", "--orphan", "fresh")
    session.git("commit", "-qm", "no parents")
    session.git("replace", "HEAD", head)
    (session.clone / ".git/HEAD").write_text("0" * 40 + "\n")


BREAKS = [
    *(broken_head, endless_head, pipe_head, huge_refs, lost_objects, corrupt_objects),
    *(git_is_a_file, git_is_a_link, git_is_gone, cut_history),
]


@pytest.mark.parametrize("breaks", BREAKS, ids=lambda breaks: breaks.__name__)
def test_a_broken_git_is_told_and_made_anew_and_the_work_goes_on(session, breaks):
    session.write("earlier.txt")
    session.commit()
    before = session.workspace.stamp()
    store_head = git(session.store, "rev-parse", "refs/heads/loopwatch/S-1")
    session.write("work.txt", "kept\n")
    breaks(session)
    found = session.boundary(before)
    assert found.head == before.head == store_head
    assert any(".git was unusable" in note and "Traceback" not in note for note in found.notes)
    assert "work.txt" in found.uncommitted
    assert (session.clone / "work.txt").read_text() == "kept\n"
    assert list((session.clone.parent / "broken").iterdir()) or breaks is git_is_gone
    assert git(session.store, "rev-parse", "refs/heads/loopwatch/S-1") == store_head
    head = session.commit()
    assert session.boundary(before, number=2).head == head
    assert session.boundary(before, number=3).uncommitted == ()


def test_commits_with_forbidden_content_do_not_reach_the_store(session):
    before = session.workspace.stamp()
    blob = session.git("hash-object", "-w", "--stdin", data=b"x")
    inner = session.git("mktree", data=f"100644 blob {blob}\tconfig\n".encode())
    tree = session.git("mktree", data=f"040000 tree {inner}\t.git\n".encode())
    commit = session.git("commit-tree", "-m", "x", "-p", "HEAD", tree)
    session.git("update-ref", "HEAD", commit)
    found = session.boundary(before)
    assert found.head == before.head
    assert any("did not pass the check" in note for note in found.notes)
    assert git(session.store, "cat-file", "-t", commit, check=False) == ""


def test_replaced_objects_and_grafts_deceive_nobody(session):
    before = session.workspace.stamp()
    session.write("real.txt")
    real = session.commit()
    session.git("reset", "-q", "--hard", before.head)
    session.git("replace", before.head, real)
    assert session.boundary(before).head == before.head


def test_git_processes_of_the_engine_get_no_environment_of_ours(tmp_path, monkeypatch, session):
    marker = tmp_path / "ran"
    script = program(session, tmp_path, marker)
    config = tmp_path / "gitconfig"
    config.write_text(f"[core]\n\tfsmonitor = {script}\n\thooksPath = {tmp_path}\n")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(config))
    for name in ("GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_PAGER"):
        monkeypatch.setenv(name, str(script))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    before = session.workspace.stamp()
    session.write("x.txt")
    found = session.boundary(before)
    assert session.workspace.diff(before.rev, found.rev).count("x.txt") > 0
    assert not marker.exists()


def test_what_must_be_read_from_the_clones_git_is_read_confined(tmp_path):
    calls = []

    def confine(argv, *, cwd, writable, readable, network):
        calls.append((argv, writable, network))
        return list(argv)

    session = Session(tmp_path / "data", make_source(tmp_path / "source"), confine=confine)
    session.workspace.open()
    before = session.workspace.stamp()
    session.write("x.txt")
    session.commit()
    session.boundary(before, may_change=False)
    assert calls
    assert all(not network for _, _, network in calls)
    writers = [argv for argv, writable, _ in calls if writable]
    assert writers
    assert all({"symbolic-ref", "update-ref", "read-tree"} & set(argv) for argv in writers)


def test_a_child_that_keeps_the_pipe_open_does_not_hold_the_engine(tmp_path):
    done = run(
        ["/bin/sh", "-c", "(sleep 60 & echo $! > child); echo out"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        timeout=30,
    )
    assert (done.code, done.out) == (0, b"out\n")
    child = (tmp_path / "child").read_text().strip()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and is_alive(child):
        time.sleep(0.02)
    assert not is_alive(child)
