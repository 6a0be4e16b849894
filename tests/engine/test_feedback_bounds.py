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


def after_a_fail(state, said):
    state = record(state, Role.WORKER, Outcome.ATTEMPT)
    return to_the_next_attempt(record(state, Role.VERIFIER, Outcome.VERDICT, report=said))


def key(state):
    counters = (state.retried, state.reassigned, state.replanned, state.final_used)
    return (*counters, frozenset(state.tried), state.step.agent, state.question is None)


def longest(state, known):
    """Most attempts from here to the question; each state is looked at once, by its counters."""
    here = key(state)
    if here not in known:
        known[here] = 0
        if state.question is None:
            following = (after_a_fail(state, said) for said in REPORTS)
            known[here] = 1 + max(longest(next_, known) for next_ in following)
        assert known[here] == attempts_at_most(state)
    return known[here]


def check_all(budgets, workers):
    for retries, reassigns, replans in product(budgets, repeat=3):
        for count, is_nested in product(workers, (False, True)):
            settings = config(
                iterations=10**6,
                no_progress=10**6,
                pool=WORKERS[:count],
                retries=retries,
                reassigns=reassigns,
                replans=replans,
                is_nested=is_nested,
            )
            opened = Opened(1, BASE.rev, BASE.head)
            start = feedback.apply(feedback.initial(settings), opened)
            known = {}
            met = longest(to_the_next_attempt(start), known)
            assert met == worker_attempts(settings) == attempts_at_most(start)
            assert any(state[-1] is False for state in known)  # it came to the question


def test_the_bound_is_met_and_never_passed_from_any_reachable_state():
    check_all(budgets=(0, 1, 2), workers=(1, 2, 3))


@pytest.mark.slow
def test_the_bound_is_met_and_never_passed_for_every_budget_up_to_three_and_five_workers():
    check_all(budgets=range(4), workers=range(1, 6))
