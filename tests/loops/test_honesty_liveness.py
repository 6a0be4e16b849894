"""Honest agents end `done` without a question; whatever agents do, an end or a question comes."""

from __future__ import annotations

import itertools
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from escalations.models import Escalation
from loops import runner, services
from loops.engine.values import Role
from loops.models import Session
from tests.loops import behaviours as act
from tests.loops.conftest import CONFIG
from tests.loops.world import World
from tracker import services as tracker

pytestmark = pytest.mark.django_db(transaction=True)
_names = itertools.count()
# One batch on every database, the others once.
BATCHES = [0, *(pytest.param(n, marks=pytest.mark.once) for n in range(1, 4))]
LIMIT = 14


def start(**config):
    me = tracker.person("me")
    project = tracker.create_project(
        name=f"h{os.getpid()}-{next(_names)}", repo_path="/nowhere", by=me
    )
    tracker.edit_requirement(project, None, text="The file a.txt is there.", by=me)
    tracker.edit_requirement(project, None, text="No file holds the word bad.", by=me)
    session = services.create_session(project, by=me, config={**CONFIG, **config})
    Session.objects.filter(pk=session.pk).update(preflight={"refusals": []})
    session.refresh_from_db()
    services.start(session, me)
    return project, session, me


def go_on(session, world):
    """One iteration; False once the session cannot move by itself."""
    Session.objects.filter(pk=session.pk).update(not_before=None)
    runner.advance(session.pk, world, iterations=1)
    session.refresh_from_db()
    return session.state in ("queued", "running")


HUMAN = {
    "task": lambda project, me: tracker.file_task(project, by=me, title="Add something"),
    "edit": lambda project, me: tracker.edit_requirement(
        project, "R-1", text=f"The file a.txt is there, always ({next(_names)}).", by=me
    ),
    "priority": lambda project, me: [
        tracker.set_priority(bug, me, "P0") for bug in tracker.bugs(project)[:1]
    ],
}

honest = given(
    bad=st.integers(0, 3),
    batch=st.integers(1, 3),
    leaves=st.booleans(),
    formats=st.booleans(),
    old_tasks=st.integers(0, 2),
    review_every=st.integers(1, 3),
    during=st.lists(
        st.tuples(
            st.sampled_from(["worker", "reviewer"]),
            st.integers(1, 6),
            st.sampled_from(sorted(HUMAN)),
        ),
        max_size=2,
    ),
)
lively = given(data=st.data(), review_every=st.integers(1, 3))


def check_honesty(bad, batch, leaves, formats, old_tasks, review_every, during):
    project, session, me = start(review_every=review_every)
    for _ in range(old_tasks):
        tracker.file_task(project, by=me, title="An old task")
    turns = {"worker": 0, "reviewer": 0}

    def with_people(role, play):
        def turn(tools):
            turns[role] += 1
            for who, when, what in during:
                if (who, when) == (role, turns[role]):
                    HUMAN[what](project, me)
            play(tools)

        return turn

    worker = act.worker_with_habits(batch=batch, leaves=leaves, formats=formats)
    world = World(
        {
            Role.WORKER: with_people("worker", worker),
            Role.REVIEWER: with_people("reviewer", act.honest_reviewer),
        }
    )
    for n in range(bad):
        world.workspace.files[f"b{n}.txt"] = "this is bad"
    for _ in range(40):
        if not go_on(session, world):
            break
    played = list(session.iterations.order_by("number").values_list("role", "outcome"))
    assert not Escalation.objects.filter(session=session).exists(), played
    assert session.end_reason in ("done", "no_op"), played


def check_liveness(data, review_every):
    _project, session, _me = start(review_every=review_every, limits={"iterations": LIMIT})
    workers = [
        act.honest_worker,
        act.liar,
        act.cheat,
        act.silent,
        act.crasher,
        act.blocker,
        act.vandal,
    ]
    reviewers = [
        act.honest_reviewer,
        act.silent,
        act.crasher,
        act.rubber_stamp,
        act.reopener,
        act.vandal,
    ]
    world = World({})
    world.workspace.files["b.txt"] = "this is bad"
    for _ in range(LIMIT + 2):
        world.behaviours = {
            Role.WORKER: data.draw(st.sampled_from(workers)),
            Role.REVIEWER: data.draw(st.sampled_from(reviewers)),
        }
        if not go_on(session, world):
            break
    assert session.state in ("waiting_human", "ended")
    assert session.iteration_count <= LIMIT
    if session.state == "waiting_human":
        assert Escalation.objects.filter(session=session, status="open", blocking=True).exists()


def often(check, given_values, examples):
    quiet = settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    quiet(given_values(check))()


@pytest.mark.parametrize("batch", BATCHES)
def test_honest_agents_end_done_without_any_question(db, batch):
    often(check_honesty, honest, 50)


@pytest.mark.parametrize("batch", BATCHES)
def test_whatever_agents_do_an_end_or_a_question_comes_within_the_bound(db, batch):
    often(check_liveness, lively, 50)


@pytest.mark.slow
def test_honest_agents_end_done_over_many_runs(db):
    often(check_honesty, honest, 2000)


@pytest.mark.slow
def test_an_end_or_a_question_comes_over_many_runs(db):
    often(check_liveness, lively, 2000)
