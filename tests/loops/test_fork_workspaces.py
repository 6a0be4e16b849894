"""Forks and exports on real repositories: the tree that a fork opens is the one recorded, and a
patch of an export makes the result out of the base."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile

import pytest
from django.core.management import call_command

from loops import exports, forks, runner, services, stage
from loops.agents import scripted
from loops.models import LogEntry, OutputPiece, Session
from loops.workspaces import Unusable
from tests.loops import workspace_kit as kit
from tracker import services as tracker

BINARY = bytes(range(256)) * 20


@pytest.fixture
def first(tmp_path):
    session = kit.Session(tmp_path, kit.make_source(tmp_path / "source"))
    session.workspace.open()
    return session


def fork_of(session, tree, ref="S-2"):
    return kit.Session(
        session.folder, session.folder / "source", ref, base=tree.head, tree=tree.rev
    )


def test_a_fork_opens_at_a_commit_that_only_the_store_has(first):
    first.write("a.txt", "agent's\n")
    first.commit()
    tree = first.workspace.stamp()
    first.write("a.txt", "later\n")
    first.commit()
    first.workspace.stamp()
    new = fork_of(first, tree)
    base = new.workspace.open()
    assert (base.rev, base.head) == (tree.rev, tree.head)
    assert (new.clone / "a.txt").read_text() == "agent's\n"
    assert new.git("status", "--porcelain") == ""
    assert new.git("symbolic-ref", "HEAD") == "refs/heads/loopwatch/S-2"
    assert new.workspace.open() == base


def test_what_was_not_committed_then_is_not_committed_in_the_fork(first):
    before = first.workspace.stamp()
    first.write("a.txt", "changed\n")
    first.write("new/file.bin", BINARY)
    (first.clone / "src" / "b.txt").unlink()
    tree = first.workspace.stamp()
    assert tree.head == before.head
    new = fork_of(first, tree)
    base = new.workspace.open()
    assert (base.rev, base.head) == (tree.rev, tree.head)
    assert (new.clone / "new" / "file.bin").read_bytes() == BINARY
    told = {line.strip() for line in new.git("status", "--porcelain").split("\n")}
    assert told == {"M a.txt", "D src/b.txt", "?? new/"}
    quiet = new.boundary(new.workspace.stamp())
    assert quiet.changed_paths == ()
    assert set(quiet.uncommitted) == {"a.txt", "new/file.bin", "src/b.txt"}


def test_a_fork_outlives_its_parent_s_refs(first):
    first.write("a.txt", "kept\n")
    first.commit()
    tree = first.workspace.stamp()
    new = fork_of(first, tree)
    new.workspace.open()
    for name in kit.git(first.store, "for-each-ref", "--format=%(refname)").split("\n"):
        if "/S-1" in name:
            kit.git(first.store, "update-ref", "-d", name)
    kit.git(first.store, "-c", "gc.auto=1", "gc", "-q", "--prune=now")
    assert new.paths(tree.rev) == {b"a.txt", b"src/b.txt"}
    assert kit.git(first.store, "cat-file", "-t", tree.head) == "commit"


def test_a_tree_that_the_store_lacks_is_refused_with_a_sentence(first):
    tree = first.workspace.stamp()
    gone = type(tree)("0" * 40, tree.head)
    assert "is not in the project's store" in first.workspace.lacks(gone.rev, gone.head)
    assert first.workspace.lacks(tree.rev, tree.head) == ""
    with pytest.raises(Unusable, match="not in the project's store"):
        fork_of(first, gone).workspace.open()


# --- with the whole runner -----------------------------------------------------------------------


@pytest.fixture
def played(tmp_path, db):
    """A session of scripted agents on a real repository, ended done."""
    repo = kit.make_source(tmp_path / "repo", {"app.txt": "hello\nthis is bad\n"})
    me = tracker.person("me")
    project = tracker.create_project(name="p", repo_path=str(repo), by=me)
    tracker.edit_requirement(project, None, text="app.txt lacks the word bad.", by=me)
    reviewer = scripted.argv("reviewer", "--check", "R-1 app.txt lacks bad")
    agents = {
        "worker": {"argv": scripted.argv("finisher"), "env": {"TOKEN": "not-for-others"}},
        "reviewer": {"argv": reviewer},
    }
    session = services.create_session(project, by=me, config={"agents": agents})
    services.start(session, me)
    return run(session)


def run(session):
    for _ in range(30):
        Session.objects.filter(pk=session.pk).update(not_before=None)
        runner.advance(session.pk, stage.equip)
        session.refresh_from_db()
        if session.state not in ("queued", "running"):
            break
    return session


@pytest.mark.django_db(transaction=True)
@pytest.mark.once
def test_a_fork_of_a_real_session_starts_from_its_tree_and_ends_done(played):
    assert played.end_reason == "done"
    me = tracker.person("me")
    found = next(
        one for one in played.iterations.order_by("number") if one.outcome == "REVIEW_BUGS"
    )
    new = run(forks.fork(played, found.number, me))
    first = new.iterations.get(number=1)
    assert (first.before["rev"], first.before["head"]) == (found.rev, found.head)
    assert new.end_reason == "done", list(new.iterations.values_list("role", "outcome", "detail"))
    store = stage.Folders.of(new).store
    branch = kit.git(store, "show", f"loopwatch/{new.ref}:app.txt")
    assert "bad" not in branch


@pytest.mark.django_db(transaction=True)
@pytest.mark.once
def test_an_export_holds_the_log_and_a_patch_that_makes_the_result(played, tmp_path):
    call_command("session", "export", str(played.pk), "--to", str(tmp_path / "out.zip"))
    call_command("session", "export", str(played.pk), "--to", str(tmp_path / "out"))
    archive = zipfile.ZipFile(io.BytesIO((tmp_path / "out.zip").read_bytes()))
    assert archive.testzip() is None
    names = {name.removeprefix(f"{played.ref}/") for name in archive.namelist()}
    assert names == {path.name for path in (tmp_path / "out").iterdir()}
    for name in names:
        assert archive.read(f"{played.ref}/{name}") == (tmp_path / "out" / name).read_bytes()
    log = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    rows = LogEntry.objects.filter(session=played).order_by("seq")
    assert [(one["seq"], one["kind"], one["payload"]) for one in log] == list(
        rows.values_list("seq", "kind", "payload")
    )
    tree = kit.make_source(tmp_path / "again", {"app.txt": "hello\nthis is bad\n"})
    kit.git(tree, "apply", str(tmp_path / "out" / "changes.patch"))
    assert "bad" not in (tree / "app.txt").read_text()
    everything = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert b"not-for-others" not in everything
    assert b'"TOKEN"' in everything


@pytest.mark.django_db(transaction=True)
@pytest.mark.once
def test_an_export_of_much_output_takes_little_memory(played):
    """Pieces are handed on one by one: none of the generator's steps holds more than a few."""
    one = played.iterations.get(number=1)
    text = "x" * 65_536
    OutputPiece.objects.bulk_create(
        OutputPiece(iteration=one, seq=1000 + n, offset=0, text=text, at=one.started_at)
        for n in range(320)
    )
    tracemalloc.start()
    size = sum(len(piece) for piece in exports.zipped(played))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size < 2_000_000
    assert peak < 12_000_000  # of 21 MB of text
