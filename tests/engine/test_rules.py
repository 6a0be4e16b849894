"""Each rule has one stable name and a sentence, and each outcome can be explained."""

import pytest

from loops.engine.outcomes import classify, explain
from loops.engine.rules import TEXT, Rule
from loops.engine.values import Fault, Outcome, Role
from tests.engine.log import BUGS, CLEAN, DONE, NOT_DONE, Log


def test_every_rule_has_a_sentence():
    assert TEXT.keys() == set(Rule)
    assert all(text.endswith(".") for text in TEXT.values())


def test_the_names_never_change():
    names = " ".join(rule.value for rule in Rule)
    assert names == (
        "ST-0 ST-W1 ST-W2 ST-W3 ST-W4 ST-W5 ST-R1 ST-R2 ST-R3 ST-C1"
        " ST-E1 ST-E2 ST-E3 ST-E4 ST-E5 ST-E6 ST-E7 ST-E8"
        " ST-Q1 ST-Q2 ST-Q3 ST-Q4 ST-Q5 ST-Q6 ST-Q7"
        " F-1 F-2 F-3 F-4 F-5 F-6 F-7 D-1 D-2 D-3 D-4 D-5 D-6 D-7 D-8 G-1 G-2"
    )


@pytest.mark.parametrize(
    ("role", "seen", "words"),
    [
        ("worker", {}, "neither changed nor signalled"),
        ("worker", {"fault": Fault.SILENCE}, "silent for too long; it left no change"),
        ("worker", {"fault": Fault.CRASH, "change": True}, "crashed; what it changed is still"),
        ("worker", {"signal": DONE, "rev": "x", "changed_paths": ("a.py",)}, "iteration (a.py)"),
        ("worker", {"signal": DONE, "blockers": ("B-1", "T-2")}, "B-1, T-2 still open"),
        ("worker", {"signal": DONE, "uncommitted": ("a.py",)}, "a.py not committed"),
        ("worker", {"signal": DONE}, "nothing open and everything committed"),
        ("worker", {"signal": NOT_DONE}, "went on with its work"),
        ("worker", {"fault": Fault.AUTH}, "credentials were refused"),
        ("reviewer", {}, "without `review clean` or `review bugs`"),
        ("reviewer", {"signal": CLEAN, "unjudged_left": ("B-1",)}, "left B-1 unjudged"),
        ("reviewer", {"signal": BUGS}, "without a finding"),
        ("reviewer", {"signal": BUGS, "findings": ("B-1",)}, "B-1 found"),
        ("reviewer", {"signal": BUGS, "blockers": ("B-1",)}, "B-1 still open"),
        ("reviewer", {"signal": CLEAN, "blockers": ("B-1",)}, "contradicts"),
        ("reviewer", {"signal": CLEAN}, "found nothing"),
        ("reviewer", {"fault": Fault.WALL_CLOCK}, "time limit"),
        ("coach", {"guidance": 4}, "version 4"),
        ("coach", {}, "left the guidance"),
    ],
)
def test_each_outcome_says_why(role, seen, words):
    log = Log()
    evidence = log.evidence(role=Role(role), **seen)
    assert words in explain(evidence, classify(log.state, evidence))


def test_a_long_list_of_names_is_cut():
    paths = tuple(f"f{number}.py" for number in range(30))
    evidence = Log().evidence(signal=DONE, uncommitted=paths)
    assert "f19.py and 10 more not committed" in explain(evidence, Outcome.REJECTED)
