"""What stands on the branch, what is pushed and what is in the patch is the result, no more."""

import os
import subprocess

import pytest

from loops.workspaces import Refused, Unusable, commit_on_top, land, landed
from loops.workspaces import landing as landing_module
from loops.workspaces.delivering import (
    Remote,
    checkout,
    patch,
    push,
    remotes,
    run_in_checkout,
    without_secrets,
)
from loops.workspaces.scan import LARGE_BYTES
from tests.loops.workspace_kit import ENV, Session, fingerprint, git, make_source

FILES = {"a.txt": "one\n", "src/b.txt": "two\n", "run.sh": "#!/bin/sh\n"}
ODD = [b"new\nline.txt", b"\xff\xfe.bin", b'"quoted".txt', b"-dash", b"caf\xc3\xa9.txt"]


@pytest.fixture
def source(tmp_path):
    return make_source(tmp_path / "source", FILES)


@pytest.fixture
def session(tmp_path, source):
    session = Session(tmp_path / "data", source)
    session.base = session.workspace.open()
    return session


def land_now(session, tree=None, **options):
    tree = tree or session.workspace.stamp()
    return land(session.store, "S-1", tree.rev, tree.head, session.base.head, **options)


def show(session, commit, name):
    return git(session.store, "cat-file", "blob", f"{commit}:{name}")


# --- landing -------------------------------------------------------------------------------------


def test_a_committed_result_lands_as_it_is(session):
    session.write("a.txt", "done\n")
    head = session.commit()
    assert land_now(session) == head
    assert landed(session.store, "S-1") == head


def test_uncommitted_content_lands_as_one_commit_by_loopwatch_on_top(session):
    session.write("a.txt", "done\n")
    head = session.commit()
    session.write("src/b.txt", b"\0\xff binary\r\n")
    (session.clone / "run.sh").chmod(0o755)
    (session.clone / "link").symlink_to("a.txt")
    for name in ODD:
        session.write(name, b"odd")
    tree = session.workspace.stamp()
    clone = fingerprint(session.clone)
    commit = land_now(session, tree)
    assert fingerprint(session.clone) == clone
    assert git(session.store, "rev-parse", f"{commit}~1") == head
    assert git(session.store, "rev-parse", f"{commit}^{{tree}}") == tree.rev
    assert git(session.store, "log", "-1", "--format=%an %cn", commit) == "Loopwatch Loopwatch"
    assert session.paths(commit) >= set(ODD)


def test_landing_again_gives_the_same_commit(session):
    session.write("a.txt", "done\n")
    tree = session.workspace.stamp()
    first = land_now(session, tree)
    git(session.store, "update-ref", "-d", "refs/heads/loopwatch/S-1")
    assert land_now(session, tree) == first == landed(session.store, "S-1")


def test_an_earlier_tree_lands_though_the_clone_went_on(session):
    session.write("a.txt", "best\n")
    session.commit()
    best = session.workspace.stamp()
    session.write("a.txt", "worse\n")
    session.commit()
    session.workspace.stamp()
    assert land_now(session, best) == best.head


def test_line_endings_land_as_git_would_commit_them(tmp_path):
    files = {".gitattributes": "*.txt text eol=crlf\n", "a.txt": "one\n", "b.txt": "two\n"}
    session = Session(tmp_path / "data", make_source(tmp_path / "crlf", files))
    session.base = session.workspace.open()
    assert (session.clone / "a.txt").read_bytes() == b"one\r\n"
    assert land_now(session) == session.base.head
    session.write("b.txt", "two\r\nthree\r\n")
    commit = land_now(session)
    assert git(session.store, "diff", "--name-only", session.base.head, commit) == "b.txt"
    assert show(session, commit, "b.txt") == "two\nthree"


def test_submodules_and_files_that_never_count_stay_as_the_commit_has_them(session):
    session.write("__pycache__/kept.pyc", "cache\n")
    session.write("report.xml", "leftover\n")
    session.git("add", "-f", "-A")
    session.git("update-index", "--add", "--cacheinfo", f"160000,{session.base.head},sub")
    session.git("commit", "-q", "-m", "odd things")
    (session.clone / "report.xml").unlink()
    session.write("a.txt", "loose\n")
    commit = land_now(session, leftovers=("report.xml",))
    changed = git(session.store, "diff", "--name-only", f"{commit}~1", commit)
    # This workspace itself does not know the leftover: only landing was told.
    assert changed == "a.txt"
    assert {b"sub", b"__pycache__/kept.pyc"} <= session.paths(commit)


def test_a_large_untracked_file_is_left_out_and_named(session):
    with open(session.write("big.bin"), "wb") as file:
        file.truncate(LARGE_BYTES + 1)
    session.write("a.txt", "done\n")
    commit = land_now(session)
    assert b"big.bin" not in session.paths(commit)
    assert "big.bin" in git(session.store, "log", "-1", "--format=%B", commit)


def test_a_file_that_became_a_folder_lands(session):
    (session.clone / "a.txt").unlink()
    session.write("a.txt/inside.txt")
    tree = session.workspace.stamp()
    commit = land_now(session, tree)
    assert git(session.store, "rev-parse", f"{commit}^{{tree}}") == tree.rev


def test_a_store_that_is_not_there_is_refused_with_a_sentence(tmp_path):
    with pytest.raises(Unusable, match="is not there"):
        land(tmp_path / "store.git", "S-1", "1" * 40, "1" * 40, "1" * 40)
    assert landed(tmp_path / "store.git", "S-1") == ""


# --- a person's edit -----------------------------------------------------------------------------


def edit(session, files, tree=None, **options):
    tree = tree or session.workspace.stamp()
    return commit_on_top(
        session.store, tree.rev, tree.head, files, "Ana", "ana@example.invalid", "Edit", **options
    )


def test_an_edit_is_the_persons_commit_on_top_of_all_that_stood(session):
    session.write("a.txt", "agent\n")
    session.commit()
    session.write("src/b.txt", "loose\n")
    (session.clone / "run.sh").chmod(0o755)
    made = edit(session, {"a.txt": "person\n", "run.sh": "#!/bin/sh\necho\n", "new/c.txt": "n\n"})
    log = git(session.store, "log", "--format=%an: %s", f"{session.base.head}..{made.head}")
    assert log.splitlines() == [
        "Ana: Edit",
        "Loopwatch: Uncommitted work",
        "Person: work",
    ]
    assert git(session.store, "rev-parse", f"{made.head}^{{tree}}") == made.rev
    assert show(session, made.head, "src/b.txt") == "loose"
    assert git(session.store, "ls-tree", made.rev, "run.sh").startswith("100755")
    assert land(session.store, "S-1", made.rev, made.head, session.base.head) == made.head


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/etc/passwd", "no path"),
        ("../out.txt", "no path"),
        ("src/../../out.txt", "no path"),
        ("a//b", "no path"),
        ("", "no path"),
        ("nul\0.txt", "no path"),
        (".git/config", "git itself"),
        ("src/.GIT/hooks/pre-push", "git itself"),
        ("__pycache__/a.pyc", "never part"),
        ("link", "a symbolic link"),
        ("src", "a folder"),
        ("link/inside.txt", "no folder"),
        ("a.txt/inside.txt", "no folder"),
        ("bin.dat", "no UTF-8 text"),
    ],
)
def test_what_is_no_text_file_of_the_result_cannot_be_edited(session, path, word):
    (session.clone / "link").symlink_to("src")
    session.write("bin.dat", b"\0\1")
    with pytest.raises(Refused, match=word):
        edit(session, {path: "text\n"})


def test_an_edit_stays_within_the_projects_paths(session):
    with pytest.raises(Refused, match="outside the project's paths"):
        edit(session, {"a.txt": "x\n"}, subpath="src")
    made = edit(session, {"src/b.txt": "x\n"}, subpath="src")
    assert show(session, made.head, "src/b.txt") == "x"


def test_an_edit_that_changes_nothing_is_refused(session):
    with pytest.raises(Refused, match="Nothing is changed"):
        edit(session, {"a.txt": "one\n"})


def test_the_text_to_edit_is_the_files_own(session):
    session.write("src/b.txt", "a\r\nb\n")
    rev = session.workspace.stamp().rev
    assert landing_module.text_of(session.store, rev, "src/b.txt") == "a\r\nb\n"
    assert landing_module.text_of(session.store, rev, "none.txt") == ""
    with pytest.raises(Refused):
        landing_module.text_of(session.store, rev, "src")


# --- patch ---------------------------------------------------------------------------------------


def apply(tmp_path, source, data, *how):
    clone = tmp_path / "taker"
    git(tmp_path, "clone", "-q", str(source), str(clone))
    done = subprocess.run(["git", *how], cwd=clone, env=ENV, input=data, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    git(clone, "add", "-A")
    return git(clone, "write-tree")


def test_git_am_makes_the_result_of_the_patch(session, source, tmp_path):
    session.write("a.txt", "done\n")
    session.commit("First: ünïcode")
    session.write("src/b.txt", b"\0\xff binary")
    for name in ODD:
        session.write(name, b"odd\n")
    (session.clone / "run.sh").unlink()
    commit = land_now(session)
    data = patch(session.store, session.base.head, commit)
    assert data.count(b"\nSubject: ") == 2
    tree = git(session.store, "rev-parse", f"{commit}^{{tree}}")
    assert apply(tmp_path, source, data, "am", "-q") == tree


@pytest.mark.parametrize("how", ["merge", "message", "orphan"])
def test_what_mails_cannot_say_is_one_difference_for_git_apply(session, source, tmp_path, how):
    session.write("a.txt", "done\n")
    if how == "message":
        evil = "Fine\n\n---\ndiff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n"
        session.commit(evil + "@@ -0,0 +1 @@\n+smuggled\n")
    elif how == "orphan":
        session.git("checkout", "-q", "--orphan", "alone")
        session.commit("alone")
    else:
        session.git("checkout", "-q", "-b", "side")
        session.commit("side")
        session.git("checkout", "-q", "-")
        session.write("src/b.txt", "other\n")
        session.commit("main")
        session.git("merge", "-q", "--no-edit", "side")
    commit = land_now(session)
    data = patch(session.store, session.base.head, commit)
    tree = git(session.store, "rev-parse", f"{commit}^{{tree}}")
    assert b"smuggled" not in data
    assert apply(tmp_path, source, data, "apply", "--binary") == tree


def test_no_difference_is_an_empty_patch(session):
    assert patch(session.store, session.base.head, session.base.head) == b""


# --- push ----------------------------------------------------------------------------------------


@pytest.fixture
def remote(tmp_path, source):
    """A bare repository that has what the source has."""
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "remote.git"))
    return tmp_path / "remote.git"


@pytest.fixture
def result(session):
    session.write("a.txt", "done\n")
    return land_now(session)


def test_a_push_makes_the_branch_there_and_leaves_the_source_alone(session, source, remote, result):
    before = fingerprint(source)
    pushed = push(session.store, result, str(remote), "loopwatch/S-1")
    assert pushed.ok, pushed.said
    assert git(remote, "rev-parse", "loopwatch/S-1") == result
    assert fingerprint(source) == before
    assert push(session.store, result, str(remote), "loopwatch/S-1").ok


def test_a_push_to_the_source_changes_that_branch_and_no_other_ref(session, source, result):
    refs, files = git(source, "for-each-ref"), git(source, "status", "--porcelain")
    assert push(session.store, result, str(source), "loopwatch/S-1").ok
    now = git(source, "for-each-ref").splitlines()
    assert [line for line in now if "loopwatch" not in line] == refs.splitlines()
    assert len(now) == len(refs.splitlines()) + 1
    assert git(source, "status", "--porcelain") == files


def test_a_branch_that_went_another_way_is_never_forced(session, source, remote, result):
    other = git(remote, "commit-tree", "-m", "theirs", "main^{tree}")
    git(remote, "update-ref", "refs/heads/loopwatch/S-1", other)
    pushed = push(session.store, result, str(remote), "loopwatch/S-1")
    assert not pushed.ok
    assert "rejected" in pushed.said
    assert git(remote, "rev-parse", "loopwatch/S-1") == other


def test_the_words_of_a_remotes_hook_are_shown_and_hooks_of_ours_do_not_run(
    session, remote, result, tmp_path
):
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'Branches need a ticket.' >&2\nexit 1\n")
    hook.chmod(0o755)
    ours = session.store / "hooks/pre-push"
    ours.parent.mkdir(exist_ok=True)
    ours.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    ours.chmod(0o755)
    pushed = push(session.store, result, str(remote), "loopwatch/S-1")
    assert not pushed.ok
    assert "Branches need a ticket." in pushed.said
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "address", ["/no/where.git", "https://user:hunter2@127.0.0.1:9/x.git", "ssh://127.0.0.1:9/x"]
)
def test_an_unreachable_remote_is_said_without_secrets(session, result, address):
    pushed = push(session.store, result, address, "loopwatch/S-1", timeout=30)
    assert not pushed.ok
    assert pushed.said
    assert "hunter2" not in pushed.said


@pytest.mark.parametrize("address", ["ext::sh -c touch% /tmp/x", "-oProxyCommand=x", "", "fd::7"])
def test_an_address_that_would_run_something_is_refused(session, result, address):
    assert not push(session.store, result, address, "loopwatch/S-1").ok


def test_a_remote_that_does_not_answer_is_given_up(session, remote, result):
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nsleep 60\n")
    hook.chmod(0o755)
    pushed = push(session.store, result, str(remote), "loopwatch/S-1", timeout=1)
    assert not pushed.ok
    assert "did not answer" in pushed.said


def test_remotes_are_read_from_the_repository_and_run_nothing(source, tmp_path):
    git(source, "remote", "add", "zeta", "../elsewhere.git")
    git(source, "remote", "add", "origin", "https://bot:tok@example.invalid/x.git")
    git(source, "remote", "add", "mine", "git@example.invalid:me/x.git")
    git(source, "config", "remote.mine.pushurl", "ssh://git@example.invalid/push.git")
    git(source, "config", "core.fsmonitor", f"touch {tmp_path / 'ran'}")
    before = fingerprint(source)
    found = remotes(source)
    assert [remote.name for remote in found] == ["origin", "mine", "zeta"]
    assert found[0].shown == "https://example.invalid/x.git"
    assert found[1].url == "ssh://git@example.invalid/push.git"
    assert found[2].url == str(tmp_path / "elsewhere.git")
    assert fingerprint(source) == before
    assert not (tmp_path / "ran").exists()
    assert remotes(tmp_path / "nothing") == ()


def test_secrets_leave_every_address():
    said = "to https://x:y@host/a and https://tok@host/b, git@host:c"
    assert without_secrets(said) == "to https://host/a and https://host/b, git@host:c"


# --- the pull-request command --------------------------------------------------------------------


def test_a_command_runs_in_a_checkout_of_the_branch_with_the_remotes(
    session, result, remote, tmp_path, monkeypatch
):
    monkeypatch.setenv("LOOPWATCH_SECRET_KEY", "hidden")
    folder = tmp_path / "checkout"
    checkout(session.store, "loopwatch/S-1", folder, (Remote("origin", str(remote)),))
    assert (folder / "a.txt").read_text() == "done\n"
    script = (
        'git push -q origin HEAD && git remote && echo "$TITLE" && echo "[$LOOPWATCH_SECRET_KEY]"'
    )
    done = run_in_checkout(["sh", "-c", script], folder, {"TITLE": "A $(title)"})
    assert done.ok, done.said
    assert done.said.splitlines() == ["origin", "A $(title)", "[]"]
    assert git(remote, "rev-parse", "loopwatch/S-1") == result


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["sh", "-c", "echo no; exit 3"], "no\n(exit code 3)"),
        (["no-such-program-here"], "could not start"),
        (["sleep", "30"], "Killed at its time limit"),
    ],
)
def test_a_command_that_fails_says_how(tmp_path, argv, said):
    done = run_in_checkout(argv, tmp_path, {}, timeout=1)
    assert not done.ok
    assert said in done.said


def test_nothing_of_the_tests_own_git_reaches_a_push(monkeypatch):
    from loops.workspaces.delivering import installation_environment

    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i key")
    env = installation_environment()
    assert "GIT_DIR" not in env
    assert (env["GIT_SSH_COMMAND"], env["GIT_TERMINAL_PROMPT"]) == ("ssh -i key", "0")
    assert env["HOME"] == os.environ["HOME"]
