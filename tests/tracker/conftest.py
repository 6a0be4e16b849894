"""A project with one requirement and the usual actors. The database is a file, as in production."""

import pytest

from tracker import services

TEXT = "# Imports\nEvery import is used.\nNo line is longer than 100 characters.\n"


@pytest.fixture
def ana(db):
    return services.person("ana")


@pytest.fixture
def project(ana):
    project = services.create_project(name="demo", repo_path="/srv/demo", by=ana)
    services.edit_requirement(project, None, text=TEXT, by=ana, document="style")
    return project


@pytest.fixture
def worker(project):
    return services.agent(project, "worker", "S-1", "S-1/4")


@pytest.fixture
def reviewer(project):
    return services.agent(project, "reviewer", "S-1", "S-1/3")


@pytest.fixture
def coach(project):
    return services.agent(project, "coach", "S-1", "S-1/5")


@pytest.fixture
def file_bug(project, reviewer):
    def file(by=None, **changes):
        fields = {
            "title": "os is imported and not used",
            "cites": "R-1",
            "quote": "Every import is used.",
            "contradiction": "app.py imports os and does not use it",
            "place": "app.py:1",
        }
        return services.file_code_bug(project, by=by or reviewer, **(fields | changes))

    return file


@pytest.fixture
def bug(file_bug):
    return file_bug().bug


@pytest.fixture
def fixed(bug, worker):
    return services.mark_fixed(services.start(bug, worker), worker, "abc1234")
