"""Before a session starts, a person is told what it will meet."""

import os
import time

import pytest

from loops.workspaces import Unusable, Workspace, preflight
from tests.loops.workspace_kit import Session, fingerprint, git, is_alive, make_source, unconfined


@pytest.fixture
def source(tmp_path):
    return make_source(tmp_path / "source", {"a.txt": "1\n", "app/b.txt": "2\n"})


def look(source, tmp_path, *args, **settings):
    found = preflight(source, *args, scratch=tmp_path / "scratch", confine=unconfined, **settings)
    assert not (tmp_path / "scratch").exists()
    return found


def refusal(source, tmp_path, *args):
    found = look(source, tmp_path, *args)
    assert len(found.refusals) == 1
    return found.refusals[0]


def test_an_ordinary_repository_passes_without_a_word_and_unchanged(source, tmp_path):
    git(source, "status")
    before = fingerprint(source)
    found = look(source, tmp_path, "app", "true", "true")
    assert (found.refusals, found.warnings, found.check_failures, found.leftovers) == ((),) * 4
    assert found.head == git(source, "rev-parse", "HEAD")
    assert (found.prepare.passed, found.check.passed) == (True, True)
    assert fingerprint(source) == before


def test_what_is_no_repository_is_refused(tmp_path):
    (tmp_path / "plain").mkdir()
    assert "is not a folder" in refusal(tmp_path / "none", tmp_path)
    assert "is not a git repository" in refusal(tmp_path / "plain", tmp_path)


def test_a_folder_inside_a_repository_is_refused_with_the_way_to_name_it(source, tmp_path):
    said = refusal(source / "app", tmp_path)
    assert f"give {source} as the repository" in said


def test_a_repository_without_a_commit_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q")
    assert "make a first commit" in refusal(tmp_path / "new", tmp_path)


def test_shallow_and_partial_clones_are_refused_with_what_to_do(source, tmp_path):
    (source / "a.txt").write_text("2\n")
    git(source, "commit", "-qam", "more")
    git(source, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "cut")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{source}", "partial")
    assert "git fetch --unshallow" in refusal(tmp_path / "cut", tmp_path)
    assert "partial clone" in refusal(tmp_path / "partial", tmp_path)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere/app", "does not exist"),
        ("a.txt", "is a file"),
        ("../source", "leads out"),
        ("/etc", "leads out"),
        ("link", "is a file, a link"),
    ],
)
def test_a_project_path_that_is_no_folder_of_the_repository_is_refused(
    source, tmp_path, path, words
):
    (source / "link").symlink_to("app")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "link")
    assert words in refusal(source, tmp_path, path)


def test_uncommitted_changes_are_warned_about_and_not_taken_along(source, tmp_path):
    (source / "a.txt").write_text("changed\n")
    (source / "new\nline").write_text("x")
    warnings = look(source, tmp_path).warnings
    assert warnings == ("Your uncommitted changes are not in the session: a.txt, new\\nline.",)
    session = Session(tmp_path / "data", source)
    session.workspace.open()
    assert (session.clone / "a.txt").read_text() == "1\n"


def test_bare_and_detached_repositories_are_fine_and_said(source, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", str(source), "bare.git")
    assert any("is bare" in line for line in look(tmp_path / "bare.git", tmp_path).warnings)
    session = Session(tmp_path / "data", tmp_path / "bare.git")
    assert session.workspace.open().head == git(source, "rev-parse", "HEAD")
    git(source, "checkout", "-q", "--detach")
    assert any("detached" in line for line in look(source, tmp_path).warnings)
    assert Session(tmp_path / "more", source).workspace.open().head == session.git(
        "rev-parse", "HEAD"
    )


def test_submodules_and_lfs_are_warned_about(source, tmp_path):
    (source / ".gitattributes").write_text("*.psd filter=lfs diff=lfs merge=lfs -text\n")
    git(source, "add", "-A")
    head = git(source, "rev-parse", "HEAD")
    git(source, "update-index", "--add", "--cacheinfo", f"160000,{head},vendor/lib")
    git(source, "commit", "-qm", "x")
    text = " ".join(look(source, tmp_path).warnings)
    assert "Submodules stay empty folders" in text
    assert "vendor/lib" in text
    assert "Git LFS are pointers" in text
    session = Session(tmp_path / "data", source)
    session.workspace.open()
    assert session.boundary(session.workspace.stamp()).uncommitted == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_read_warned_about_and_runs_nothing(source, tmp_path):
    script = tmp_path / "attack.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    git(source, "config", "core.fsmonitor", str(script))
    git(source, "config", "uploadpack.packObjectsHook", str(script))
    for parent, folders, names in os.walk(source):
        for name in [".", *folders, *names]:
            os.chown(os.path.join(parent, name), 12345, 12345)
    found = look(source, tmp_path)
    assert any("belongs to another user (id 12345)" in line for line in found.warnings)
    session = Session(tmp_path / "data", source)
    session.workspace.open()
    assert (session.clone / "a.txt").stat().st_uid == 0
    assert not (tmp_path / "ran").exists()


def test_instruction_files_at_the_root_and_along_the_path_are_listed(tmp_path):
    names = ("CLAUDE.md", ".github/copilot-instructions.md", "app/AGENTS.md", "lib/GEMINI.md")
    source = make_source(tmp_path / "source", dict.fromkeys(names, "x\n"))
    assert look(source, tmp_path, "app").instruction_files == (
        *(".github/copilot-instructions.md", "CLAUDE.md", "app/AGENTS.md"),
    )


def test_what_fails_at_base_is_shown_with_its_last_lines(source, tmp_path):
    found = look(source, tmp_path, "", "true", "seq 50; echo 3 failed >&2; exit 4")
    assert found.refusals == ()
    assert [(ran.command, ran.exit_code) for ran in found.check_failures] == [
        ("seq 50; echo 3 failed >&2; exit 4", 4)
    ]
    assert found.check.tail.splitlines()[-2:] == ["50", "3 failed"]
    assert len(found.check.tail.splitlines()) == 20


def test_check_is_not_run_when_prepare_fails(source, tmp_path):
    found = look(source, tmp_path, "", "exit 1", "true")
    assert (found.prepare.exit_code, found.check) == (1, None)
    assert any("`check` was not run" in line for line in found.warnings)


def test_files_that_checks_leave_behind_are_proposed_as_leftovers(source, tmp_path):
    (source / ".gitignore").write_text("*.log\n")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "x")
    check = "mkdir -p ../out __pycache__; touch ../out/r.xml x.log __pycache__/m; echo 3 > b.txt"
    found = look(source, tmp_path, "app", "", check)
    assert found.leftovers == ("out/r.xml",)
    assert any("app/b.txt" in line for line in found.warnings)
    again = look(source, tmp_path, "app", "", check, leftovers=("out",))
    assert again.leftovers == ()


def test_commands_run_at_base_in_a_clean_checkout_prepare_alone_with_the_network(source, tmp_path):
    calls = []

    def confine(argv, *, cwd, writable, readable, network):
        calls.append((argv[-1], network, cwd.name, sorted(path.name for path in writable)))
        return list(argv)

    (source / "a.txt").write_text("dirty\n")
    found = preflight(
        source, "app", "cat ../a.txt", "ls", scratch=tmp_path / "scratch", confine=confine
    )
    assert found.prepare.tail == "1"
    assert [call for call in calls if call[0] in ("cat ../a.txt", "ls")] == [
        ("cat ../a.txt", True, "app", ["clone", "home", "tmp"]),
        ("ls", False, "app", ["clone", "home", "tmp"]),
    ]


def test_a_command_over_its_time_is_killed_with_its_children(source, tmp_path):
    pids = tmp_path / "pids"
    command = f"sleep 60 & echo $! > {pids}; echo started; wait"
    start = time.monotonic()
    found = look(source, tmp_path, "", "", command, timeout=1.0)
    assert time.monotonic() - start < 40
    assert found.check.exit_code is None
    assert found.check.tail.splitlines() == ["started", "(killed at its time limit of 1 s)"]
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and is_alive(pids.read_text().strip()):
        time.sleep(0.02)
    assert not is_alive(pids.read_text().strip())


def test_a_command_without_end_in_its_output_costs_bounded_memory(source, tmp_path):
    found = look(source, tmp_path, "", "", "yes | head -c 30000000; echo end")
    assert found.check.passed
    assert found.check.tail.endswith("y\nend")


def test_a_commit_to_start_from_that_nobody_has_is_refused_in_a_sentence(source, tmp_path):
    workspace = Workspace(
        tmp_path / "s/store.git",
        tmp_path / "c/clone",
        source,
        "S-1",
        confine=unconfined,
        base="0" * 40,
    )
    with pytest.raises(Unusable, match="choose another base"):
        workspace.open()
