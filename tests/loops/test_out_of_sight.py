"""What an agent does not see: other projects, the data folder, keys and sign-ins of the person."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from django.conf import settings

from loops.agents.confine import Confinement
from loops.folders import confine_for
from loops.models import OutputPiece
from tests.loops.agent_programs.kit import require
from tests.loops.test_scripted_sessions import play, repo  # noqa: F401
from tracker import services as tracker

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def outside():
    """Not below /tmp, which a sandbox has of its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="loopwatch-test-") as folder:
        yield Path(folder)


@pytest.fixture
def person(outside, monkeypatch):
    home = outside / "person"
    for name in (".ssh/id_ed25519", ".claude/.credentials.json", ".netrc", "notes.txt"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"in {name}")
    monkeypatch.setenv("HOME", str(home))
    return home


def test_an_agent_reads_no_other_project_no_key_and_no_sign_in(play, person, outside):  # noqa: F811
    require(Confinement.BUBBLEWRAP)
    other = outside / "other"
    other.mkdir()
    (other / "plan.txt").write_text("in another project")
    tracker.create_project(name="other", repo_path=str(other), by=tracker.person("me"))
    wanted = [
        *(person / name for name in (".ssh/id_ed25519", ".claude/.credentials.json", ".netrc")),
        other / "plan.txt",
        settings.DATA / "keys" / "secrets",
    ]
    tries = " ".join(f"'{path}'" for path in (*wanted, person / "notes.txt"))
    play(None, worker_argv=["/bin/sh", "-c", f"cat {tries}; loopwatch not-done"], limit=1)
    said = "".join(OutputPiece.objects.values_list("text", flat=True))
    assert said.count("No such file") + said.count("Permission denied") >= len(wanted) - 1
    assert "in notes.txt" in said, "the person's other files can be read, as the page says"
    for hidden in ("in .ssh", "in .claude", "in .netrc", "in another project"):
        assert hidden not in said
    assert (settings.DATA / "keys" / "secrets").read_text() not in said


def test_programs_that_an_agent_may_have_written_see_no_more_than_it(person, outside, db):
    """The git that reads the clone, `prepare` and `check` run with the same things hidden."""
    require(Confinement.BUBBLEWRAP)
    me = tracker.person("me")
    own, other = outside / "own", outside / "other"
    for folder in (own, other):
        folder.mkdir()
        (folder / "plan.txt").write_text(f"in {folder.name}")
    project = tracker.create_project(name="own", repo_path=str(own), by=me)
    tracker.create_project(name="other", repo_path=str(other), by=me)
    files = [person / ".ssh/id_ed25519", other / "plan.txt", own / "plan.txt"]
    argv = confine_for(project)(
        ["cat", *map(str, files)], cwd=own, writable=[], readable=[], network=False
    )
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout == "in own"
