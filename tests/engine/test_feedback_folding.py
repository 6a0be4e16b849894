"""A Thinker-Worker-Verifier log folds to one state, and no log passes what the page said."""

import json
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loops.engine import feedback
from loops.engine.bounds import worker_attempts
from loops.engine.controllers import (
    controller_of,
    entry_from_json,
    entry_to_json,
    fold,
    replay,
    state_from_json,
    state_to_json,
)
from loops.engine.feedback import attempts_at_most
from loops.engine.feedback_state import FeedbackState
from loops.engine.values import (
    Action,
    AskHuman,
    Choice,
    Fault,
    Finish,
    Outcome,
    Recorded,
    Role,
    RunRole,
    Verdict,
    Verifier,
)
from tests.engine.feedback_log import (
    CRITERIA,
    FAIL,
    JUDGE,
    SECOND,
    TESTS,
    UNCERTAIN,
    Log,
    config,
    plan,
    report,
)

POOL = ("one", "two", "three")
ADVISER = Verifier(name="adviser", policy="advising")
NAMES = st.sampled_from([*POOL, *POOL, "stranger"])
PLANS = st.builds(
    plan,
    NAMES,
    criteria=st.sampled_from([CRITERIA, CRITERIA[:1], CRITERIA[1:], ()]),
    alternative_workers=st.lists(st.sampled_from(POOL), max_size=2).map(tuple),
    requires_self_call=st.booleans(),
)
REPORTS = st.builds(
    report,
    st.sampled_from([*Verdict, FAIL, FAIL, FAIL]),
    st.sampled_from([None, *Action]),
    criteria=st.sampled_from([("C-1", "C-2", "C-3"), ("C-1",), ()]),
    score=st.integers(0, 10),
    recommended_worker=st.sampled_from(["", *POOL, "stranger"]),
)
TURNS = st.fixed_dictionaries(
    {"plan": PLANS, "report": REPORTS, "change": st.booleans()},
    optional={
        "fault": st.sampled_from([None, None, None, None, *Fault]),
        "resets_in": st.sampled_from([None, 5.0, 90_000.0]),
        "tokens": st.sampled_from([None, 7]),
        "money": st.sampled_from([None, 0.25]),
        "notes": st.sampled_from([(), ("a server was still running",)]),
        "task_worked": st.booleans(),
    },
)
CHOICES = st.fixed_dictionaries(
    {
        "choice": st.sampled_from([*Choice, *Choice]),
        "attempts": st.integers(0, 3),
        "worker": st.sampled_from(POOL),
        "text": st.sampled_from(["", "Mind the cache."]),
    }
)
SETTINGS = st.builds(
    config,
    iterations=st.sampled_from([20, 1000]),
    no_progress=st.sampled_from([2, 1000]),
    pool=st.integers(1, 3).map(lambda count: POOL[:count]),
    retries=st.integers(0, 2),
    reassigns=st.integers(0, 3),
    replans=st.integers(0, 2),
    self_calls=st.integers(0, 2),
    reverifications=st.integers(0, 2),
    is_nested=st.booleans(),
    gates=st.sampled_from([(), (), (Role.WORKER,), (Role.VERIFIER,)]),
    verifiers=st.sampled_from([(JUDGE,), (TESTS, JUDGE, SECOND), (ADVISER, JUDGE)]),
)
EVENTS = st.lists(
    st.tuples(TURNS, CHOICES, st.sampled_from([None] * 12 + ["human", "edit", "fork", "config"])),
    max_size=30,
)


def act(log, event):
    """What happens next: the role that is due runs, or a person decides what is asked."""
    turn, choice, aside = event
    match aside:
        case "human" | "edit":
            log.human(edits=aside == "edit")
        case "fork":
            log.fork(log.state.now)
        case "config":
            log.configure(verifiers=(JUDGE, SECOND))
    due = log.due
    if isinstance(due, RunRole):
        turn = dict(turn)
        if due.role is not Role.WORKER:
            turn["change"] = False
        if due.role is not Role.THINKER:
            del turn["plan"]
        if due.role is not Role.VERIFIER:
            del turn["report"]
        log.turn(due.role, **turn)
    elif isinstance(due, AskHuman):
        grants = {due.limit.value: 5} if due.limit else {}
        decision = dict(choice, grants=grants)
        if decision["worker"] not in log.state.config.pool:
            decision["worker"] = log.state.config.pool[0]
        log.decide(**decision)


@st.composite
def logs(draw):
    log = Log(draw(SETTINGS))
    for event in draw(EVENTS):
        if isinstance(log.due, Finish) and event[2] != "fork":
            break
        act(log, event)
    return log


@settings(max_examples=60, deadline=None)
@given(logs())
def test_the_same_log_gives_the_same_state_and_directive(log):
    again = fold(log.config, log.entries)
    assert again == log.state
    assert feedback.direct(again) == log.due
    assert again.__dict__.keys() == {field.name for field in fields(FeedbackState)}


@settings(max_examples=40, deadline=None)
@given(logs(), st.data())
def test_a_stored_snapshot_and_the_stored_tail_give_what_the_whole_log_gives(log, data):
    cut = data.draw(st.integers(0, len(log.entries)))
    snapshot = json.dumps(state_to_json(fold(log.config, log.entries[:cut])))
    rows = json.loads(json.dumps([(one.seq, *entry_to_json(one)) for one in log.entries[cut:]]))
    tail = [entry_from_json(*row) for row in rows]
    assert fold(log.config, tail, start=state_from_json(json.loads(snapshot))) == log.state


@settings(max_examples=25, deadline=None)
@given(logs())
def test_a_replay_agrees_with_what_was_recorded(log):
    assert all(recorded is again for _, recorded, again in replay(log.config, log.entries))


@settings(max_examples=80, deadline=None)
@given(SETTINGS, EVENTS)
def test_at_most_n_more_is_never_passed_and_grows_only_by_what_people_give(start, events):
    log = Log(start)
    assert attempts_at_most(log.state) == worker_attempts(start)
    for turn, choice, aside in events:
        if aside in ("human", "edit"):
            log.human(edits=aside == "edit")
        if isinstance(log.due, Finish):
            break
        before, used = attempts_at_most(log.state), log.state.attempts
        given, iterations = log.state.extras_given, feedback.at_most(log.state)
        is_turn = isinstance(log.due, RunRole)
        act(log, (turn, choice, None))
        ran, gave = log.state.attempts - used, log.state.extras_given - given
        assert attempts_at_most(log.state) <= before - ran + gave
        if is_turn:
            assert feedback.at_most(log.state) <= iterations - 1
    assert log.state.attempts <= worker_attempts(start) + log.state.extras_given


def test_a_recorded_outcome_that_the_evidence_does_not_bear_is_found_and_not_believed():
    log = Log()
    log.think()
    evidence = log.evidence(Role.WORKER, fault=Fault.CRASH)
    log.add(Recorded, evidence=evidence, outcome=Outcome.ATTEMPT)
    assert replay(log.config, log.entries)[-1][1:] == (Outcome.ATTEMPT, Outcome.INTERRUPTED)
    assert log.state.attempts == 0


def test_entries_out_of_order_or_twice_are_refused():
    log = Log()
    with pytest.raises(ValueError, match="damaged"):
        feedback.apply(log.state, log.entries[0])


def test_a_session_cannot_become_another_pattern():
    log = Log()
    with pytest.raises(ValueError, match="pattern cannot change"):
        log.configure(pattern="maker_verifier")


def test_the_pattern_of_a_session_is_looked_up_by_name():
    assert controller_of("thinker_worker_verifier") is feedback


def test_no_done_script_is_ever_asked_for():
    assert not feedback.needs_script(Log().state, rev="", head="", spec="")


def test_a_state_stays_small_however_long_the_log_is():
    def size_after(rounds):
        log = Log()
        log.think()
        for _ in range(rounds):
            log.work(notes=("a server was still running",), changed_paths=("a.py",))
            log.verify(UNCERTAIN, feedback="x" * 500)
            log.decide("reject", attempts=1, text="again")
        return len(json.dumps(state_to_json(log.state)))

    assert size_after(500) < 1.05 * size_after(250)  # all that is kept is full by then
