"""A Maker-Verifier session under a new configuration, forked, and what it shows of itself."""

from dataclasses import replace

import pytest

from loops.engine.contracts import Verifier
from loops.engine.maker_verifier import at_most, attempts_at_most, classify, explain, needs_script
from loops.engine.values import Fault, Limits, Role, Snapshot
from tests.engine.maker_log import CRITERIA, FAIL, JUDGE, OK, SPARE, UNCERTAIN, Log, config, report

TESTS = Verifier(name="tests", is_mechanical=True)


# --- new configurations, forks -------------------------------------------------------------------


def test_a_new_configuration_is_in_force_from_the_next_step():
    log = Log(config(attempts=1))
    log.attempt(FAIL)
    assert log.next == "ask ceiling"
    log.configure(config(attempts=2))
    assert log.next == "maker"


def test_the_pattern_never_changes():
    with pytest.raises(ValueError, match="cannot change"):
        Log().configure(replace(config(), pattern="single_thread"))


def test_a_verifier_that_was_taken_away_is_waited_for_no_longer():
    log = Log(config(verifiers=(JUDGE, TESTS)))
    log.attempt(OK)
    assert log.next == "tests"
    log.configure(config(verifiers=(JUDGE,)))
    assert log.next == "done"


def test_a_new_verifier_judges_the_attempt_that_is_being_judged():
    log = Log(config(verifiers=(JUDGE,)))
    log.make()
    log.configure(config(verifiers=(TESTS, JUDGE)))
    assert log.next == "judge"
    log.judge(OK)
    assert log.next == "tests"


def test_a_report_of_a_verifier_that_was_taken_away_while_it_ran_counts_for_nothing():
    log = Log(config(verifiers=(JUDGE, TESTS)))
    log.attempt(OK)
    log.judge(FAIL, during=lambda: log.configure(config(verifiers=(JUDGE, SPARE))))
    assert log.next == "done"


def test_mv_4_a_fork_keeps_what_was_learnt_and_counts_anew():
    log = Log(config(attempts=2, iterations=9))
    log.attempt(FAIL, feedback="it does not add")
    log.attempt(FAIL, feedback="nor subtract")
    log.fork(Snapshot("tree-1", "commit-1"))
    state = log.state
    assert (log.next, log.due.rule) == ("maker", "MV-4")
    assert log.due.start_from == Snapshot("tree-1", "commit-1")
    assert [(r.attempt, r.reason) for r in state.rejections] == [
        (0, "it does not add"),
        (0, "nor subtract"),
    ]
    assert (state.criteria, state.criteria_version) == (CRITERIA, 1)
    assert (state.attempts, state.extra, state.iterations, state.best) == (0, 0, 0, None)
    assert attempts_at_most(state) == 2
    log.make(change=False)
    log.judge(OK)
    assert log.next == "no_op"


def test_a_fork_of_criteria_out_of_date_keeps_them_so():
    log = Log()
    log.human()
    log.fork(log.tree)
    log.attempt(OK)
    assert log.next == "ask spec_changed"


# --- what is shown -------------------------------------------------------------------------------


def test_at_most_so_many_attempts_more():
    log = Log(config(attempts=3))
    assert attempts_at_most(log.state) == 3
    log.make()
    assert attempts_at_most(log.state) == 2
    log.judge(FAIL)
    log.attempt(OK)
    assert attempts_at_most(log.state) == 0


def test_nothing_runs_any_more_at_a_question_or_an_end():
    log = Log(config(limits=Limits(iterations=9)))
    assert at_most(log.state) == 9
    log.attempt(UNCERTAIN)
    assert at_most(log.state) == 0


def test_this_pattern_has_no_done_script():
    assert not needs_script(Log().state, rev="tree-0", head="commit-0", spec="spec-0")


def test_why_not_done():
    log = Log(config(verifiers=(JUDGE, SPARE)))
    assert log.why() == ["MV-E2"]
    log.make()
    assert log.why() == ["MV-E3"]
    assert log.why(rev="another") == ["MV-E3", "MV-E6"]
    log.judge(UNCERTAIN)
    assert log.why() == ["MV-E3"]
    log.judge(FAIL)
    assert log.why() == ["MV-E4"]
    log.human()
    assert log.why() == ["MV-E4", "MV-E5"]
    log.attempt(OK)
    assert log.why() == ["MV-E5"]
    done = Log()
    done.attempt(OK)
    assert done.why() == []


@pytest.mark.parametrize(
    ("role", "seen", "words"),
    [
        (Role.MAKER, {"change": True}, "handed in an attempt."),
        (Role.MAKER, {}, "left the tree as it was"),
        (Role.MAKER, {"fault": Fault.CRASH}, "crashed."),
        (Role.MAKER, {"fault": Fault.CRASH, "change": True}, "is still there"),
        (Role.VERIFIER, {"agent": "judge", "report": report(OK)}, "judge judged the attempt OK."),
        (Role.VERIFIER, {"agent": "judge"}, "UNCERTAIN. It ended without handing in a report."),
        (Role.VERIFIER, {"fault": Fault.SILENCE}, "UNCERTAIN. It gave no verdict: it was silent"),
        (Role.VERIFIER, {"fault": Fault.API_ERROR}, "interrupted: the model's service failed"),
    ],
)
def test_each_outcome_says_why(role, seen, words):
    log = Log()
    evidence = log.evidence(role, **seen)
    assert words in explain(evidence, classify(log.state, evidence))


def test_other_roles_have_no_part():
    log = Log()
    with pytest.raises(ValueError, match="reviewer"):
        classify(log.state, log.evidence(Role.REVIEWER))
