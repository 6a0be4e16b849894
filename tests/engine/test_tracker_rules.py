"""RULES 5 as tables: who may file, move and close what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.engine import rules
from tracker.engine.rules import Kind, Party, Refused, State, Verb

OPEN, BUSY, FIXED, CLOSED, AGAIN, STALE, BLOCKED = (
    State.OPEN,
    State.IN_PROGRESS,
    State.FIXED,
    State.CLOSED,
    State.REOPENED,
    State.STALE,
    State.BLOCKED,
)
WORKER, REVIEWER, COACH, PERSON = Party.WORKER, Party.REVIEWER, Party.COACH, Party.PERSON

# Written from RULES 5, not from the code: everything that is not in here is refused.
MOVES_OF_WORK = {
    **{(Verb.START, s, WORKER): BUSY for s in (OPEN, AGAIN)},
    **{(Verb.FIX, s, WORKER): FIXED for s in (BUSY, FIXED)},
    **{(Verb.BLOCK, s, WORKER): BLOCKED for s in (OPEN, BUSY, AGAIN)},
    (Verb.UNBLOCK, BLOCKED, PERSON): OPEN,
    (Verb.REOPEN, BLOCKED, PERSON): OPEN,
    **{(Verb.CLOSE, s, p): CLOSED for s in (FIXED, STALE) for p in (REVIEWER, PERSON)},
    **{(Verb.REOPEN, s, p): AGAIN for s in (FIXED, CLOSED) for p in (REVIEWER, PERSON)},
    **{(Verb.CONFIRM, STALE, p): OPEN for p in (REVIEWER, PERSON)},
    **{(Verb.OUTDATE, s, PERSON): STALE for s in (OPEN, BUSY, AGAIN, FIXED, BLOCKED)},
    **{(Verb.DISMISS, s, PERSON): CLOSED for s in State},
}
MOVES_OF_SPEC_BUGS = {
    **{(Verb.CLOSE, s, PERSON): CLOSED for s in (OPEN, AGAIN)},
    (Verb.REOPEN, CLOSED, PERSON): AGAIN,
    **{(Verb.DISMISS, s, PERSON): CLOSED for s in State},
}
TURNING = {(Verb.TURN, s, PERSON): CLOSED for s in State if s is not CLOSED}
EXPECTED = {
    Kind.CODE: MOVES_OF_WORK | TURNING,
    Kind.TASK: MOVES_OF_WORK,
    Kind.SPEC: MOVES_OF_SPEC_BUGS | TURNING,
}


@pytest.mark.parametrize("kind", Kind)
def test_exactly_the_moves_of_the_rules_are_allowed(kind):
    allowed = {}
    for verb in Verb:
        for state in State:
            for party in Party:
                result = rules.move(verb, kind, state, party, "B-1")
                if isinstance(result, State):
                    allowed[verb, state, party] = result
    assert allowed == EXPECTED[kind]


def test_a_worker_never_closes():
    for kind in Kind:
        for state in State:
            for verb in Verb:
                assert rules.move(verb, kind, state, WORKER, "B-1") is not CLOSED


def test_every_refusal_is_a_sentence_that_says_what_would_be_right():
    by_state = rules.move(Verb.FIX, Kind.CODE, OPEN, WORKER, "B-7")
    assert by_state == Refused(
        "B-7 is OPEN; to mark it as fixed, it has to be FIXED or IN_PROGRESS.", False
    )
    by_right = rules.move(Verb.CLOSE, Kind.CODE, FIXED, WORKER, "B-7")
    assert by_right == Refused(
        "The worker may not close B-7; only a person or the reviewer may.", True
    )


@given(st.sampled_from(Verb), st.sampled_from(Kind), st.sampled_from(State), st.sampled_from(Party))
def test_no_combination_is_without_an_answer(verb, kind, state, party):
    result = rules.move(verb, kind, state, party, "B-7")
    assert isinstance(result, State) or ("B-7" in result.sentence and result.sentence[-1] == ".")


@pytest.mark.parametrize(
    ("kind", "who"),
    [
        (Kind.TASK, {PERSON}),
        (Kind.CODE, {PERSON, REVIEWER}),
        (Kind.SPEC, set(Party) - {Party.ENGINE}),
    ],
)
def test_each_kind_is_filed_only_by_those_who_may(kind, who):
    assert {party for party in Party if rules.filing(kind, party) is None} == who


def test_who_may_not_file_a_bug_is_told_of_the_spec_bug():
    assert "spec bug" in rules.filing(Kind.CODE, WORKER).sentence


@pytest.mark.parametrize(
    ("verb", "who"),
    [
        (Verb.EDIT, {PERSON}),
        (Verb.REMOVE, {PERSON}),
        (Verb.MARK, {REVIEWER}),
        (Verb.GUIDE, {COACH, PERSON}),
        (Verb.ARCHIVE, {PERSON, Party.ENGINE}),
        (Verb.REWORD, {PERSON}),
        (Verb.DISPUTE, {PERSON}),
        (Verb.RESET, {PERSON}),
        (Verb.PRIORITIZE, {PERSON}),
        (Verb.COMMENT, {PERSON, WORKER, REVIEWER}),
    ],
)
def test_each_right_belongs_only_to_its_roles(verb, who):
    assert {party for party in Party if rules.act(verb, party, "this") is None} == who


def test_only_peoples_changes_of_what_counts_are_human_events():
    events = {
        (verb, kind) for verb in Verb for kind in Kind if rules.is_human_event(verb, kind, PERSON)
    }
    what = {Verb.FILE, Verb.MERGE, Verb.REWORD, Verb.REOPEN, Verb.DISPUTE, Verb.DISMISS, Verb.TURN}
    assert events == {(verb, kind) for verb in what for kind in (Kind.CODE, Kind.TASK)}
    assert not any(
        rules.is_human_event(verb, kind, party)
        for verb in Verb
        for kind in Kind
        for party in set(Party) - {PERSON}
    )


def test_every_state_of_work_has_a_way_in_and_a_way_out():
    into = {target for (_, source, _), target in MOVES_OF_WORK.items() if source is not target}
    out = {source for (_, source, _), target in MOVES_OF_WORK.items() if source is not target}
    assert into == out == set(State)
