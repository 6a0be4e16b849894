"""Whatever people, agents and kills do in whatever order: a session ends proved, or it asks.

A hypothesis state machine over the real services, runner, tracker and database; files and agents
are in memory (world.py), kills happen in process at the runner's named points.
"""

from __future__ import annotations

import itertools
import os

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from escalations import services as escalations
from escalations.models import Escalation
from escalations.word import Word, offered
from loops import points, recovery, runner, services, uptake
from loops.engine.values import Choice, Role
from loops.models import Answer, Iteration, LogEntry, Session, Transition
from loops.sight import scope_of
from tests.loops import behaviours as act
from tests.loops.conftest import CONFIG
from tests.loops.test_kills import POINTS, Killed, check_invariants, die_at, the_holder_is_dead
from tests.loops.world import World
from tracker import services as tracker
from tracker.errors import DomainError
from tracker.facts import facts

pytestmark = pytest.mark.django_db(transaction=True)
_names = itertools.count()
# One batch on every database, the others once.
BATCHES = [0, *(pytest.param(n, marks=pytest.mark.once) for n in range(1, 8))]

WORKERS = [act.honest_worker, act.liar, act.cheat, act.silent, act.crasher, act.blocker, act.vandal]
REVIEWERS = [
    act.honest_reviewer,
    act.silent,
    act.crasher,
    act.rubber_stamp,
    act.reopener,
    act.vandal,
]


class Anything(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.me = tracker.person("me")
        self.project = tracker.create_project(
            name=f"p{os.getpid()}-{next(_names)}", repo_path="/nowhere", by=self.me
        )
        tracker.edit_requirement(self.project, None, text="The file a.txt is there.", by=self.me)
        tracker.edit_requirement(self.project, None, text="No file holds the word bad.", by=self.me)
        config = {**CONFIG, "limits": {"iterations": 25}}
        self.session = services.create_session(self.project, by=self.me, config=config)
        Session.objects.filter(pk=self.session.pk).update(preflight={"refusals": []})
        self.session.refresh_from_db()
        services.start(self.session, self.me)
        self.world = World({Role.WORKER: act.honest_worker, Role.REVIEWER: act.honest_reviewer})

    def _state(self):
        self.session.refresh_from_db()
        return self.session.state

    def _try(self, act, *args, **kwargs):
        """A person tries something: it works, or is refused with a sentence and changes nothing."""
        try:
            act(*args, **kwargs)
        except DomainError as refusal:
            if not str(refusal).strip():
                pytest.fail("refused without a sentence")

    @rule(worker=st.sampled_from(WORKERS), reviewer=st.sampled_from(REVIEWERS), n=st.integers(1, 4))
    def loop(self, worker, reviewer, n):
        self.world.behaviours = {Role.WORKER: worker, Role.REVIEWER: reviewer}
        Session.objects.filter(pk=self.session.pk).update(not_before=None)
        runner.advance(self.session.pk, self.world, iterations=n)

    @rule(name=st.sampled_from(POINTS), turn=st.integers(1, 3), n=st.integers(1, 3))
    def loop_and_die(self, name, turn, n):
        disarm = die_at(name, turn)
        Session.objects.filter(pk=self.session.pk).update(not_before=None)
        try:
            runner.advance(self.session.pk, self.world, iterations=n)
        except Killed:
            pass
        finally:
            disarm()

    @rule()
    def clock(self):
        the_holder_is_dead(self.session)
        for pk in recovery._lost():
            if pk == self.session.pk:
                runner.recover(pk, self.world)
        for pk in Answer.objects.filter(taken_at=None).values_list("session", flat=True):
            uptake.take_up(pk)
        uptake.end_stopped(self.session.pk)

    @rule(verb=st.sampled_from([services.pause, services.resume, services.step]))
    def steer(self, verb):
        self._try(verb, self.session, self.me)

    @precondition(lambda self: self.session.iteration_count > 8)
    @rule()
    def stop(self):
        self._try(services.stop, self.session, self.me)

    @rule()
    def file_a_task(self):
        if tracker.bugs(self.project, kinds=["task"]).__len__() < 3:
            tracker.file_task(self.project, by=self.me, title="Add something")

    @rule(n=st.integers(1, 99))
    def edit_a_requirement(self, n):
        tracker.edit_requirement(
            self.project, "R-1", text=f"a.txt is there, {n} times.", by=self.me
        )

    @rule(kind=st.sampled_from(["task", "code"]), reason=st.sampled_from(["no", "later"]))
    def dismiss(self, kind, reason):
        for bug in tracker.bugs(self.project, kinds=[kind])[:1]:
            self._try(tracker.dismiss, bug, self.me, reason)

    @rule(priority=st.sampled_from(["P0", "P3"]))
    def set_a_priority(self, priority):
        for bug in tracker.bugs(self.project)[:1]:
            self._try(tracker.set_priority, bug, self.me, priority)

    @rule(data=st.data())
    def decide(self, data):
        question = Escalation.objects.filter(session=self.session, status="open").first()
        if question is None:
            return
        choice = data.draw(st.sampled_from(offered(question)))
        word = Word(
            choice=choice,
            text="as you say",
            evidence=question.evidence,
            grants={question.limit: 5} if question.limit else {},
            disposition=data.draw(st.sampled_from(["reopen", "dismiss", "task"])),
            requirement="R-1",
            document="a.txt is there.",
        )
        self._try(escalations.decide, question, word, self.me)

    @invariant()
    def the_log_and_the_rows_agree(self):
        self.session.refresh_from_db()
        check_invariants(self.session)
        assert Iteration.objects.filter(session=self.session, ended_at=None).count() <= 1
        assert self.world.most_alive <= 1

    @invariant()
    def nothing_waits_unseen(self):
        state = self._state()
        open_ones = Escalation.objects.filter(session=self.session, status="open")
        blocking = open_ones.filter(blocking=True).exists()
        if state == "waiting_human":
            assert blocking
        if state == "ended":
            assert not open_ones.exists()
        if blocking:
            assert state in ("waiting_human", "stopping")

    @invariant()
    def every_change_of_state_left_a_transition(self):
        rows = list(Transition.objects.filter(session=self.session).order_by("pk"))
        assert [row.before for row in rows[1:]] == [row.after for row in rows[:-1]]
        assert rows[-1].after == self._state()

    @invariant()
    def done_means_proved(self):
        if self._state() != "ended" or self.session.end_reason not in ("done", "no_op"):
            return
        # What people do after the end is not the session's: judge the log, and the tracker then.
        last = LogEntry.objects.filter(session=self.session, kind="recorded").order_by("seq").last()
        evidence = last.payload["evidence"]
        assert last.payload["outcome"] == "DONE"
        assert not any(evidence.get(k) for k in ("blockers", "unjudged", "blocked", "uncommitted"))
        turns = list(self.session.iterations.order_by("-number").values_list("outcome", flat=True))
        judged = [o for o in turns if o in ("DONE", "REVIEW_CLEAN")]
        assert judged[0] == "DONE"
        assert "REVIEW_CLEAN" in judged[1:]
        newest_human = (
            LogEntry.objects.filter(session=self.session, kind="human_event").order_by("seq").last()
        )
        if newest_human:
            proving = Iteration.objects.filter(
                session=self.session, claimed_at_seq__gte=newest_human.seq
            )
            assert proving.filter(outcome="DONE").count() >= 2
            assert proving.filter(outcome="REVIEW_CLEAN").exists()

    def teardown(self):
        """From wherever this run came to: with honest agents and a person who answers, it ends."""
        self.world.behaviours = {Role.WORKER: act.honest_worker, Role.REVIEWER: act.honest_reviewer}
        for _ in range(80):
            self.clock()
            Session.objects.filter(pk=self.session.pk).update(not_before=None)
            runner.advance(self.session.pk, self.world)
            state = self._state()
            if state == "ended":
                break
            if state == "paused":
                services.resume(self.session, self.me)
            if state == "waiting_human":
                self._answer_all()
        assert self._state() == "ended", self.session.state
        self.done_means_proved()
        # the project is free again and its rows do not slow the next run
        assert not self.session.holds_project

    def _answer_all(self):
        for question in Escalation.objects.filter(session=self.session, status="open"):
            choices = offered(question)
            order = [Choice.ANSWER, Choice.RETRY, Choice.GRANT, Choice.STOP]
            choice = next(c for c in order if c in choices)
            word = Word(
                choice=choice,
                text="drop it",
                disposition="dismiss",
                grants={question.limit: 30} if question.limit else {},
            )
            self._try(escalations.decide, question, word, self.me)


def _run(examples):
    facts_settings = hypothesis_settings(
        max_examples=examples, stateful_step_count=25, deadline=None, print_blob=True
    )
    run_state_machine_as_test(Anything, settings=facts_settings)


@pytest.mark.parametrize("batch", BATCHES)
def test_any_order_of_events_keeps_the_promises(db, batch):
    _run(25)


@pytest.mark.slow
def test_any_order_of_events_keeps_the_promises_over_many_runs(db):
    _run(2000)


def test_points_are_the_ones_the_runner_passes(new_session):
    passed = set()
    disarm = points.watch(passed.add)
    session = new_session()
    runner.advance(session.pk, World(act.HONEST))
    disarm()
    assert set(POINTS) <= passed
    assert facts(session.project, scope_of(session), session.ref).blockers == ()
