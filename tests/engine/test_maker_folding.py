"""A Maker-Verifier log is stored, read, folded and replayed without loss."""

import json

import pytest

from loops.engine.contracts import Criterion, criteria_hash
from loops.engine.controllers import (
    controller_of,
    entry_from_json,
    entry_to_json,
    fold,
    replay,
    state_from_json,
    state_to_json,
)
from loops.engine.values import Choice, Fault, Outcome, Pattern, Recorded, Snapshot
from tests.engine.maker_log import CRITERIA, FAIL, JUDGE, OK, SPARE, UNCERTAIN, Log, config

NEW = (Criterion("C-1", "it adds", "R-1"),)


def eventful():
    log = Log(config(attempts=2, verifiers=(JUDGE, SPARE)))
    log.make(fault=Fault.CRASH)
    log.attempt(FAIL)
    log.attempt(UNCERTAIN)
    log.judge(FAIL)
    log.decide("ceiling", Choice.REJECT, attempts=1, text="try again")
    log.human()
    log.attempt(OK)
    log.decide("spec_changed", Choice.AMEND, text="new", criteria=NEW)
    log.attempt(FAIL)
    log.fork(Snapshot("tree-2", "commit-2"))
    log.configure(config(attempts=3))
    log.attempt(OK)
    return log


def through_json(value):
    return json.loads(json.dumps(value))


def test_the_pattern_has_its_controller():
    log = eventful()
    assert controller_of(Pattern.MAKER_VERIFIER).direct(log.state) == log.due
    assert log.next == "done"


def test_entries_come_back_from_json_as_they_were():
    for entry in eventful().entries:
        kind, payload = entry_to_json(entry)
        assert entry_from_json(entry.seq, kind, through_json(payload)) == entry


def test_a_snapshot_comes_back_and_the_tail_folds_onto_it():
    log = eventful()
    for cut in range(len(log.entries) + 1):
        head = fold(log.config, log.entries[:cut])
        again = state_from_json(through_json(state_to_json(head)))
        assert again == head
        assert fold(log.config, log.entries[cut:], again) == log.state


def test_a_replay_recomputes_every_outcome():
    log = eventful()
    compared = replay(log.config, log.entries)
    assert len(compared) == sum(isinstance(entry, Recorded) for entry in log.entries)
    assert all(recorded is recomputed for _, recorded, recomputed in compared)
    first = next(entry for entry in log.entries if isinstance(entry, Recorded))
    forged = Recorded(first.seq, first.evidence, Outcome.ATTEMPT)
    entries = [forged if entry is first else entry for entry in log.entries]
    assert (first.seq, Outcome.ATTEMPT, Outcome.INTERRUPTED) in replay(log.config, entries)


def test_a_log_out_of_order_is_damaged():
    log = eventful()
    with pytest.raises(ValueError, match="the log is damaged"):
        fold(log.config, [log.entries[1], log.entries[0]])


def test_the_hash_of_criteria_tells_versions_apart():
    assert criteria_hash(CRITERIA) == criteria_hash(tuple(CRITERIA))
    assert len(criteria_hash(CRITERIA)) == 64
    variants = [
        CRITERIA,
        CRITERIA[::-1],
        CRITERIA[:1],
        (),
        (Criterion("C-1", "it adds", "R-2"), CRITERIA[1]),
        (Criterion("C-1", "it adds R-1", ""), CRITERIA[1]),
        (Criterion("C-1", "", "it addsR-1"), CRITERIA[1]),
    ]
    assert len({criteria_hash(variant) for variant in variants}) == len(variants)
