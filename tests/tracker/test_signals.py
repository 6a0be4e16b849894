"""What apps above hear, and when."""

import pytest
from django.db import connection

from tracker import services, signals
from tracker.errors import DomainError
from tracker.models import Bug, Project


@pytest.fixture
def heard(project):
    """Changes as they are heard: (key, change, counts), or (key, version) of a requirement."""
    got = []

    def on_bug(sender, project, bug, change, by, counts, **_):
        assert sender is Project
        assert connection.in_atomic_block
        got.append((bug.key, change, counts))

    def on_requirement(sender, project, requirement, version, by, **_):
        got.append((requirement.key, version.number))

    signals.bug_changed.connect(on_bug)
    signals.requirement_changed.connect(on_requirement)
    yield got
    signals.bug_changed.disconnect(on_bug)
    signals.requirement_changed.disconnect(on_requirement)


def test_agents_moves_are_heard_and_are_no_human_events(heard, file_bug, worker, reviewer):
    bug = file_bug().bug
    file_bug()
    services.mark_fixed(services.start(bug, worker), worker, "abc1234")
    services.reopen(bug, reviewer, "no")
    services.block(bug, worker, "impossible")
    assert heard == [
        ("B-1", "file", False),
        ("B-1", "merge", False),
        ("B-1", "start", False),
        ("B-1", "fix", False),
        ("B-1", "reopen", False),
        ("B-1", "block", False),
    ]


def test_what_people_change_counts_and_priority_and_comments_do_not(heard, project, ana, worker):
    task = services.file_task(project, by=ana, title="Tidy", cites="R-1")
    services.reword(task, ana, "Tidy up", "")
    services.set_priority(task, ana, "P0")
    services.comment(task, ana, "soon")
    services.dispute(task, ana, "wrong line")
    services.dismiss(task, ana, "no")
    services.reopen(task, ana, "yes")
    doubt = services.file_spec_bug(project, by=ana, title="?", text="?")
    services.dismiss(doubt, ana, "no")
    assert heard == [
        ("T-1", "file", True),
        ("T-1", "reword", True),
        ("T-1", "prioritize", False),
        ("T-1", "comment", False),
        ("T-1", "dispute", True),
        ("T-1", "dismiss", True),
        ("T-1", "reopen", True),
        ("Q-1", "file", False),
        ("Q-1", "dismiss", False),
    ]


def test_an_edit_is_heard_with_what_it_makes_stale(heard, project, ana, bug):
    heard.clear()
    services.edit_requirement(project, "R-1", text="changed", by=ana)
    services.remove_requirement(project, "R-1", by=ana)
    assert heard == [("B-1", "outdate", False), ("R-1", 2), ("R-1", 2)]


def test_a_refused_write_is_not_heard(heard, bug, worker, reviewer):
    heard.clear()
    for write in (
        lambda: services.close(bug, worker),
        lambda: services.close(bug, reviewer),
        lambda: services.mark_fixed(bug, worker, "abc1234"),
    ):
        with pytest.raises(DomainError):
            write()
    assert heard == []


def test_a_receiver_that_fails_undoes_the_write(project, ana):
    def fail(**_):
        raise ZeroDivisionError

    signals.bug_changed.connect(fail)
    try:
        with pytest.raises(ZeroDivisionError):
            services.file_task(project, by=ana, title="Tidy")
    finally:
        signals.bug_changed.disconnect(fail)
    assert not Bug.objects.exists()
    assert services.file_task(project, by=ana, title="Tidy").key == "T-1"
