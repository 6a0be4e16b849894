"""No session of a Thinker-Worker-Verifier makes more attempts than the form said, and some make
exactly as many (RULES 2): the exact bound, searched over all reachable states."""

from itertools import product

import pytest

from loops.engine import feedback
from loops.engine.bounds import check_config, thinker_calls, verifier_calls, worker_attempts
from loops.engine.feedback import attempts_at_most
from loops.engine.values import (
    AskHuman,
    Choice,
    Evidence,
    Kind,
    Opened,
    Outcome,
    Recorded,
    Role,
    Stamp,
    Verifier,
)
from tests.engine.feedback_log import (
    BASE,
    FAIL,
    FINISH,
    JUDGE,
    OK,
    REASSIGN,
    REPLAN,
    RETRY,
    SECOND,
    TESTS,
    THIRD,
    UNCERTAIN,
    Log,
    config,
    plan,
    report,
    run,
)

WORKERS = ("one", "two", "three", "four", "five")
AT_BASE = Stamp(BASE.rev, BASE.head, "", 0)
REPORTS = [report(FAIL, advice, criteria=()) for advice in (RETRY, REASSIGN, REPLAN)]
PLAN = plan("one")


def record(state, role, outcome, **seen):
    evidence = Evidence(
        number=state.iterations + 1,
        role=role,
        agent=state.step.agent,
        before=AT_BASE,
        after=AT_BASE,
        claimed_at=state.seq,
        **seen,
    )
    return feedback.apply(state, Recorded(state.seq + 1, evidence, outcome))


def to_the_next_attempt(state):
    """The state in which a worker is due, or a question is asked."""
    if state.step.role is Role.THINKER and state.question is None:
        return record(state, Role.THINKER, Outcome.PLAN, plan=PLAN)
    return state


def after_each_fail(state):
    """The states that an attempt and a FAIL can lead to, one for each recommendation."""
    state = record(state, Role.WORKER, Outcome.ATTEMPT)
    for said in REPORTS:
        yield to_the_next_attempt(record(state, Role.VERIFIER, Outcome.VERDICT, report=said))


def key(state):
    counters = (state.retried, state.reassigned, state.replanned, state.final_used)
    return (*counters, frozenset(state.tried), state.step.agent, state.question is None)


def longest(state, known):
    """Most attempts from here to the question; each state is looked at once, by its counters."""
    here = key(state)
    if here not in known:
        known[here] = 0
        if state.question is None:
            known[here] = 1 + max(longest(after, known) for after in after_each_fail(state))
        assert known[here] == attempts_at_most(state)
    return known[here]


def check(settings):
    start = feedback.apply(feedback.initial(settings), Opened(1, BASE.rev, BASE.head))
    known = {}
    met = longest(to_the_next_attempt(start), known)
    assert met == worker_attempts(settings) == attempts_at_most(start)
    assert any(state[-1] is False for state in known)  # it came to the question


def test_the_bound_is_met_and_never_passed_for_every_budget_up_to_three_and_five_workers():
    for retries, reassigns, replans in product(range(4), repeat=3):
        for count, is_nested in product(range(1, 6), (False, True)):
            check(
                config(
                    iterations=10**6,
                    no_progress=10**6,
                    pool=WORKERS[:count],
                    retries=retries,
                    reassigns=reassigns,
                    replans=replans,
                    is_nested=is_nested,
                )
            )


# --- what the form and the page say --------------------------------------------------------------


@pytest.mark.parametrize(("is_nested", "bound"), [(False, 8), (True, 28)])
@pytest.mark.parametrize("workers", [3, 4, 5])
def test_the_defaults_allow_exactly_8_attempts_or_28_with_nested_counters(
    workers, is_nested, bound
):
    settings = config(pool=WORKERS[:workers], is_nested=is_nested)
    assert worker_attempts(settings) == bound
    assert run(RETRY, settings).attempts == bound


def test_a_small_pool_lowers_the_bound():
    assert worker_attempts(config(pool=("one",))) == 6
    assert worker_attempts(config(pool=("one",), is_nested=True)) == 10
    assert worker_attempts(config(pool=("one", "two"), retries=0, replans=0, reassigns=9)) == 3


def test_the_form_can_say_how_often_thinker_and_verifiers_are_called_at_most():
    settings = config(verifiers=(TESTS, JUDGE, SECOND, THIRD), reverifications=1)
    assert thinker_calls(settings) == 4
    assert verifier_calls(settings, attempts=8) == 24
    assert verifier_calls(config(reverifications=5), attempts=8) == 8
    log = Log(settings)
    while log.next != "ask exhausted":
        if log.next == "thinker":
            log.think(requires_self_call=True)
        elif log.next.startswith("worker"):
            log.work()
        else:
            # The judge leaves it open each time, so the reserve has to fail it.
            said = {"worker": FAIL, "tests": OK, "judge": UNCERTAIN, "second": FAIL}
            log.verify(said[log.due.agent], RETRY)
    roles = [entry.evidence.role for entry in log.entries if isinstance(entry, Recorded)]
    assert roles.count(Role.THINKER) == 4
    assert roles.count(Role.WORKER) == 8
    assert roles.count(Role.VERIFIER) == 24


def test_at_most_n_more_counts_down_with_each_attempt_and_up_with_each_grant():
    log = Log()
    left = [attempts_at_most(log.state)]
    while log.next != "ask exhausted":
        log.attempt(FAIL, RETRY)
        left.append(attempts_at_most(log.state))
    assert left == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    log.decide(Choice.REJECT, attempts=2, text="not yet")
    assert attempts_at_most(log.state) == 2
    log.attempt(FAIL, RETRY)
    assert attempts_at_most(log.state) == 1


def test_another_pool_or_budget_from_the_next_step_moves_what_is_left():
    log = Log()
    log.attempt(FAIL, RETRY)
    assert attempts_at_most(log.state) == 7
    log.configure(retries=4)
    assert attempts_at_most(log.state) == 9
    log.configure(pool=("writer",))
    assert attempts_at_most(log.state) == 7
    log.configure(retries=0, replans=0, reassigns=0)
    assert attempts_at_most(log.state) == 2


def test_nothing_comes_after_an_end():
    log = Log()
    log.attempt(OK)
    assert log.next == "done"
    assert attempts_at_most(log.state) == 0
    assert feedback.at_most(log.state) == 0


def test_iterations_are_bounded_by_their_limit_as_in_every_pattern():
    log = Log(config(iterations=5))
    assert feedback.at_most(log.state) == 5
    log.attempt(FAIL, RETRY)
    assert feedback.at_most(log.state) == 2
    log.attempt(FAIL, RETRY)
    assert isinstance(log.due, AskHuman)
    assert log.due.kind is Kind.LIMIT
    assert feedback.at_most(log.state) == 0


# --- settings that cannot work are refused with a sentence ---------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pool": ()}, "At least one worker is needed"),
        ({"pool": ("coder", "coder")}, "two workers of the name 'coder'"),
        ({"pool": ("a/../b",)}, "no name of a worker"),
        ({"pool": ("",)}, "no name of a worker"),
        ({"verifiers": ()}, "At least one verifier is needed"),
        ({"verifiers": (SECOND,)}, "must be required"),
        ({"verifiers": (JUDGE, JUDGE)}, "two verifiers of the name 'judge'"),
        ({"verifiers": (JUDGE, Verifier(name="the judge"))}, "no name of a verifier"),
        ({"retries": -1}, "retries must be a whole number of at least 0"),
        ({"reassigns": 1.5}, "reassignments must be a whole number"),
        ({"replans": True}, "replans must be a whole number"),
        ({"self_calls": "2"}, "further calls of the thinker must be a whole number"),
        ({"reverifications": -2}, "re-verifications must be a whole number"),
    ],
)
def test_a_session_that_could_not_run_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        check_config(config(**settings))


def test_budgets_of_zero_are_allowed():
    check_config(config(retries=0, reassigns=0, replans=0, self_calls=0, reverifications=0))
    assert run(RETRY, config(retries=0, reassigns=0, replans=0)).attempts == 2


@pytest.mark.parametrize("advice", [RETRY, REASSIGN, REPLAN, FINISH, None])
@pytest.mark.parametrize("is_nested", [False, True])
def test_whatever_verifiers_always_recommend_the_session_comes_to_a_person(advice, is_nested):
    """Known implementations loop for ever on RETRY, REASSIGN or REPLAN."""
    log = run(advice, config(is_nested=is_nested))
    assert log.next == "ask exhausted"
    assert log.attempts <= worker_attempts(log.config)
