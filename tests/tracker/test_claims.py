"""Case O11: many writers at once on a real database file; one winner, no write lost."""

import threading

import pytest
from django.db import connection, connections

from tracker import services
from tracker.errors import Conflict
from tracker.models import Bug, Move, Project

pytestmark = pytest.mark.django_db(transaction=True)
CLAIMS = 20


@pytest.fixture(autouse=True)
def real_database():
    if connection.vendor == "sqlite":
        name = str(connection.settings_dict["NAME"])
        assert "memory" not in name, "these tests need the test database to be a file"


def at_once(calls):
    """Run the calls in threads that start together; return their results or exceptions."""
    barrier = threading.Barrier(len(calls))
    results = [None] * len(calls)

    def run(index, call):
        try:
            barrier.wait(30)
            results[index] = call()
        except Exception as fault:
            results[index] = fault
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def test_of_twenty_claims_one_wins_and_the_others_are_told_who(project, bug):
    workers = [
        services.agent(project, "worker", f"S-{n}", f"S-{n}/1") for n in range(1, CLAIMS + 1)
    ]
    results = at_once([lambda w=w: services.start(bug, w) for w in workers])
    won = [result for result in results if isinstance(result, Bug)]
    lost = [result for result in results if isinstance(result, Conflict)]
    assert (len(won), len(lost)) == (1, CLAIMS - 1)
    bug.refresh_from_db()
    assert bug.state == "IN_PROGRESS"
    assert all(f"the worker in {bug.started_reference} started it" in str(c) for c in lost)
    assert Move.objects.filter(bug=bug, verb="start").count() == 1


def test_of_twenty_claims_by_one_iteration_one_wins_too(bug, worker):
    results = at_once([lambda: services.start(bug, worker) for _ in range(CLAIMS)])
    assert sum(isinstance(result, Bug) for result in results) == 1


def test_fast_writes_are_all_kept_under_keys_of_their_own(project, ana):
    results = at_once(
        [lambda n=n: services.file_task(project, by=ana, title=f"Task {n}") for n in range(CLAIMS)]
    )
    before = Project.objects.get().tracker_seq
    assert sorted(task.number for task in results) == list(range(1, CLAIMS + 1))
    assert {b.title for b in services.bugs(project)} == {f"Task {n}" for n in range(CLAIMS)}
    seqs = list(Move.objects.filter(verb="file").order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(before - CLAIMS + 1, before + 1))


def test_the_same_finding_filed_at_once_is_one_entry_that_counts_them_all(file_bug):
    results = at_once([file_bug for _ in range(8)])
    assert sum(not filed.merged for filed in results) == 1
    assert Bug.objects.get().count == 8


def test_of_two_editors_at_once_one_is_told_to_look_again(project, ana):
    results = at_once(
        [
            lambda n=n: services.edit_requirement(
                project, "R-1", text=f"Text {n}", by=ana, based_on=1
            )
            for n in range(4)
        ]
    )
    saved = [result for result in results if not isinstance(result, Exception)]
    assert len(saved) == 1
    assert sum(isinstance(result, Conflict) for result in results) == 3
    assert services.get_requirement(project, "R-1").current.text == saved[0].text
