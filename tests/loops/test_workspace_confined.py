"""The same work with the real sandbox around every git that reads the clone's `.git`."""

import functools
import shutil

import pytest

from loops.workspaces import Tree
from tests.loops.workspace_kit import Session, make_source

confinement = pytest.importorskip("loops.agents.confine")


@pytest.fixture
def session(tmp_path):
    if confinement.confinement() != "bubblewrap":
        pytest.skip("bubblewrap does not work here")
    data = tmp_path / "data"
    data.mkdir()
    session = Session(
        data,
        make_source(tmp_path / "source"),
        confine=functools.partial(confinement.confine, hidden=(data,)),
    )
    session.workspace.open()
    return session


def test_commits_reach_the_store_and_a_reviewers_are_put_back_in_the_sandbox(session):
    before = session.workspace.stamp()
    session.write("work.txt")
    head = session.commit()
    found = session.boundary(before)
    assert (found.head, found.notes) == (head, ())
    session.write("a.txt", "reviewer\n")
    session.commit()
    back = session.boundary(Tree(found.rev, head), may_change=False)
    assert (back.rev, back.head) == (found.rev, head)
    assert not any("unusable" in note for note in back.notes)


def test_prepare_sees_the_clone_but_neither_the_store_nor_other_folders_of_the_engine(session):
    ran = session.workspace.prepare(
        f"cat a.txt; ls {session.store}; touch made; touch {session.clone.parent}/x", 60
    )
    assert ran.tail.splitlines()[0] == "one"
    assert not ran.passed
    assert (session.clone / "made").exists()
    assert not (session.clone.parent / "x").exists()


def test_a_repository_that_borrows_objects_from_the_store_of_another_gets_none(session):
    before = session.workspace.stamp()
    shutil.rmtree(session.clone / ".git/objects")
    (session.clone / ".git/objects/info").mkdir(parents=True)
    (session.clone / ".git/objects/info/alternates").write_text(f"{session.store}/objects\n")
    found = session.boundary(before)
    assert found.head == before.head
    assert any(".git was unusable" in note for note in found.notes)
