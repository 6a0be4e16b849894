"""A log folds to one state: again, from a snapshot, and as counted by hand."""

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loops.engine import single_thread
from loops.engine.controllers import (
    controller_of,
    entry_from_json,
    entry_to_json,
    fold,
    replay,
    state_from_json,
    state_to_json,
)
from loops.engine.thread_state import ThreadState
from loops.engine.values import (
    AskHuman,
    Choice,
    Decided,
    DoneMode,
    Fault,
    HumanEvent,
    Kind,
    Outcome,
    Recorded,
    Role,
    RunRole,
)
from tests.engine.log import BUGS, CLEAN, DONE, NOT_DONE, Log, config

# --- logs ----------------------------------------------------------------------------------------

TURN = st.fixed_dictionaries(
    {},
    optional={
        "change": st.booleans(),
        "moved": st.booleans(),
        "task_worked": st.booleans(),
        "signal": st.sampled_from([DONE, DONE, NOT_DONE, CLEAN, CLEAN, BUGS]),
        "fault": st.sampled_from([None, None, None, *Fault]),
        "resets_in": st.sampled_from([None, 5.0, 90_000.0]),
        "rev": st.sampled_from([None, "tree-a", "tree-b"]),
        "blockers": st.sampled_from([(), (), ("B-1",), ("B-1", "T-2")]),
        "unjudged": st.sampled_from([(), (), ("B-3",)]),
        "blocked": st.sampled_from([(), (), ("B-4",), ("B-4", "T-5")]),
        "findings": st.sampled_from([(), (), ("B-6",)]),
        "marks_missing": st.sampled_from([(), (), ("R-1",)]),
        "marks_added": st.integers(0, 1),
        "disputed": st.sampled_from([(), (), (), ("B-7",)]),
        "script_exit": st.sampled_from([None, 0, 1]),
        "tokens": st.sampled_from([None, 0, 7]),
        "money": st.sampled_from([None, 0.25]),
        "active_seconds": st.sampled_from([0.0, 1.5]),
        "notes": st.sampled_from([(), ("a server was still running",)]),
    },
)
EVENT = st.one_of(TURN, TURN, TURN, st.sampled_from(["human", "edit", "configure"]))
SETTINGS = st.builds(
    config,
    iterations=st.sampled_from([3, 50]),
    no_progress=st.integers(2, 5),
    review_every=st.integers(1, 3),
    coach_every=st.integers(1, 4),
    has_coach=st.booleans(),
    done_mode=st.sampled_from(DoneMode),
)


def decide(log, asked):
    grants = {asked.limit.value: 2} if asked.limit else {}
    subject = asked.subjects[0] if asked.subjects else ""
    choice = Choice.ANSWER if subject else Choice.GRANT
    log.decide(asked.kind, choice, grants=grants, subject=subject, disposition="dismiss")


@st.composite
def logs(draw):
    """A log as the controller would have it: turns of the role that is due, decisions where it
    asks, human events anywhere; the agents do anything."""
    log = Log(draw(SETTINGS), script_exit=draw(st.sampled_from([None, 1])))
    for event in draw(st.lists(EVENT, max_size=40)):
        due = log.due
        if event == "configure":
            log.configure(replace(log.state.config, review_every=2))
        elif isinstance(event, str):
            log.human(edits=event == "edit")
        elif isinstance(due, AskHuman):
            decide(log, due)
        elif isinstance(due, RunRole):
            log.turn(**event)
        else:
            break
    return log


@settings(max_examples=150, deadline=None)
@given(logs())
def test_the_same_log_gives_the_same_state_and_directive(log):
    first, second = fold(log.config, log.entries), fold(log.config, log.entries)
    assert first == second == log.state
    assert single_thread.direct(first) == single_thread.direct(second)
    assert first.__dict__.keys() == {field.name for field in fields(ThreadState)}


@settings(max_examples=100, deadline=None)
@given(logs(), st.data())
def test_a_snapshot_and_the_tail_give_what_the_whole_log_gives(log, data):
    cut = data.draw(st.integers(0, len(log.entries)))
    snapshot = json.dumps(state_to_json(fold(log.config, log.entries[:cut])))
    state = state_from_json(json.loads(snapshot))
    assert fold(log.config, log.entries[cut:], start=state) == log.state


@settings(max_examples=100, deadline=None)
@given(logs())
def test_a_stored_log_gives_the_same_state(log):
    rows = [(entry.seq, *entry_to_json(entry)) for entry in log.entries]
    stored = json.loads(json.dumps(rows))
    assert fold(log.config, [entry_from_json(*row) for row in stored]) == log.state


@settings(max_examples=150, deadline=None)
@given(logs())
def test_counters_equal_an_independent_count(log):
    turns = [e.evidence for e in log.entries if isinstance(e, Recorded)]
    state = log.state
    assert state.iterations == len(turns)
    assert state.tokens == sum(t.tokens or 0 for t in turns)
    assert state.tokens_unknown == sum(t.tokens is None for t in turns)
    assert state.money == pytest.approx(sum(t.money or 0 for t in turns))
    assert state.money_unknown == sum(t.money is None for t in turns)
    assert state.active_seconds == pytest.approx(sum(t.active_seconds for t in turns))
    assert state.task_worked == any(t.task_worked for t in turns)
    granted = sum(e.grants.get("iterations", 0) for e in log.entries if isinstance(e, Decided))
    assert state.granted.iterations == granted
    assert state.idle == idle_by_hand(log.entries)
    assert state.workers_since_coach == since_coach_by_hand(log.entries)


def idle_by_hand(entries):
    count = 0
    for entry in entries:
        decided = isinstance(entry, Decided) and entry.kind is Kind.NO_PROGRESS
        if isinstance(entry, HumanEvent) or decided:
            count = 0
        elif isinstance(entry, Recorded):
            seen, by_worker = entry.evidence, entry.evidence.role is Role.WORKER
            moved = seen.before.rev != seen.after.rev or seen.before.head != seen.after.head
            if by_worker and (moved or seen.moved):
                count = 0
            elif by_worker and entry.outcome is not Outcome.INTERRUPTED:
                count += 1
            if not by_worker and seen.findings and seen.role is Role.REVIEWER:
                count = 0
    return count


def since_coach_by_hand(entries):
    turns = [e for e in entries if isinstance(e, Recorded) and e.outcome is not Outcome.INTERRUPTED]
    coached = [n for n, e in enumerate(turns) if e.outcome is Outcome.COACH]
    since = turns[coached[-1] + 1 :] if coached else turns
    return sum(e.evidence.role is Role.WORKER for e in since)


@settings(max_examples=50, deadline=None)
@given(logs())
def test_a_replay_agrees_with_what_was_recorded(log):
    compared = replay(log.config, log.entries)
    assert len(compared) == log.state.iterations
    assert all(recorded is recomputed for _, recorded, recomputed in compared)


def test_a_recorded_outcome_that_the_evidence_does_not_bear_is_found_and_not_believed():
    log = Log()
    for _ in range(3):
        evidence = log.evidence(role=Role.WORKER)
        log.add(Recorded, evidence=evidence, outcome=Outcome.DONE)
    assert replay(log.config, log.entries)[0] == (2, Outcome.DONE, Outcome.STALL)
    assert log.state.streak == 0


def test_a_state_stays_small_however_long_the_log_is():
    def size_after(iterations):
        log = Log(config(iterations=10**6, no_progress=10**6))
        for number in range(iterations):
            role = log.due.role
            log.turn(
                change=role is Role.WORKER and number % 5 > 0,
                signal=CLEAN if role is Role.REVIEWER else None,
                notes=("a server was still running",),
            )
        return len(json.dumps(state_to_json(log.state)))

    assert size_after(3000) < 1.1 * size_after(100)


def test_entries_out_of_order_or_twice_are_refused():
    log = Log()
    with pytest.raises(ValueError, match="damaged"):
        single_thread.apply(log.state, log.entries[0])


def test_the_pattern_of_a_session_is_looked_up_by_name():
    assert controller_of("single_thread") is single_thread
    with pytest.raises(ValueError, match="jazz"):
        controller_of("jazz")
