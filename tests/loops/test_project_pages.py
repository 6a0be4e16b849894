"""Making a project in the browser: what is refused, and that nothing typed is lost."""

from __future__ import annotations

import subprocess

import pytest

from tests.loops.pages_kit import said, sign_in, text_of
from tracker.models import Project
from tracker.services import members

NEW = "/projects/new/"


@pytest.fixture
def ana(client, db):
    return sign_in(client)


@pytest.fixture
def repo(tmp_path):
    def git(*argv):
        subprocess.run(["git", "-C", str(folder), *argv], check=True, capture_output=True)

    folder = tmp_path / "csv lane"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("a = 1\n")
    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "First")
    return folder


def make(client, **data):
    return client.post(NEW, {"name": "csvlane", **data}, follow=True)


def test_a_project_is_made_with_all_that_was_given(ana, repo):
    answer = make(
        ana,
        repo_path=f" {repo} ",
        subpath="src/",
        extra_paths="uv.lock\n\n README.md ",
        prepare="uv sync",
        check_command="pytest -q",
        accepted_leftovers=".coverage\n*.log",
    )
    assert answer.redirect_chain[-1][0] == "/p/csvlane/specs/"
    assert said(answer)[0].startswith("Project csvlane is made.")
    made = Project.objects.get()
    assert (made.repo_path, made.subpath) == (str(repo), "src")
    assert made.extra_paths == ["uv.lock", "README.md"]
    assert made.accepted_leftovers == [".coverage", "*.log"]
    assert (made.prepare, made.check_command) == ("uv sync", "pytest -q")


def test_each_wrong_folder_has_its_sentence_and_the_input_stays(ana, repo, tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    wrong = {
        str(tmp_path / "nowhere"): "is not a folder",
        str(plain): "is not a git repository",
        str(repo / "src"): "lies inside the repository",
        "relative/path": "is not a full path",
        "/etc/passwd": "is not a folder",
        "/a\x00b": "Null characters are not allowed",
        "/" + "x" * 5000: "cannot be read",
        "~nobody-of-that-name/x": "cannot be read",
    }
    for path, sentence in wrong.items():
        answer = make(ana, repo_path=path, check_command="pytest -q")
        assert answer.status_code == 422
        assert sentence in text_of(answer), path
        assert 'value="pytest -q"' in answer.content.decode()
    assert not Project.objects.exists()


def test_wrong_names_and_paths_are_refused_beside_their_field(ana, repo):
    for data, sentence in (
        ({"name": "Csv Lane!"}, "That is no name of a project."),
        ({"name": ""}, "“Name” is missing."),
        ({"subpath": "nope"}, "does not exist"),
        ({"subpath": "../x"}, "leads out of the repository"),
        ({"extra_paths": "../../etc"}, "is no path in the repository"),
        ({"repo_path": ""}, "“Repository” is missing."),
    ):
        answer = make(ana, **{"repo_path": str(repo), **data})
        assert answer.status_code == 422, data
        assert sentence in text_of(answer), data
    assert not Project.objects.exists()


def test_a_name_that_is_taken_is_refused(ana, repo):
    make(ana, repo_path=str(repo))
    answer = make(ana, repo_path=str(repo))
    assert answer.status_code == 422
    assert "There is a project csvlane already." in text_of(answer)


def test_only_who_sets_up_all_projects_makes_one(client, repo, ana):
    make(ana, repo_path=str(repo))
    sign_in(client, "oli", "admin", Project.objects.get())
    for answer in (client.get(NEW), make(client, repo_path=str(repo))):
        assert answer.status_code == 403
        assert "ana can grant it." in text_of(answer)
    members.grant("oli", "admin", None)
    assert client.get(NEW).status_code == 200
