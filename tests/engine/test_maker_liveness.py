"""From every reachable state an end or a question lies within the bound, whatever agents do, and
no more attempts run than the configuration and people allow (RULES 3)."""

import pytest

from loops.engine import maker_verifier
from loops.engine.maker_verifier import at_most, attempts_at_most
from loops.engine.values import Choice, Decided, Fault, Kind, Role, RunRole
from tests.engine.maker_log import (
    FAIL,
    JUDGE,
    OK,
    SECOND_SPARE,
    SPARE,
    UNCERTAIN,
    after,
    config,
    opened,
    report,
)

FAULTS = [{"fault": Fault.API_ERROR}, {"fault": Fault.CONTEXT_FULL}]
HELD = {"fault": Fault.AGENT_LIMIT}
ACTS = {
    Role.MAKER: [{"change": True}, {}, {"fault": Fault.CRASH, "change": True}, *FAULTS],
    Role.VERIFIER: [
        {"report": report(OK)},
        {"report": report(FAIL)},
        {"report": report(UNCERTAIN)},
        {"report": report(FAIL, feedback="")},
        {"fault": Fault.CRASH},
        *FAULTS,
    ],
}


def key(state, *, with_iterations):
    """All that the rules look at, but for scores and words."""
    return (
        state.attempts,
        state.extra,
        state.idle,
        state.faults,
        state.holds,
        state.context_fulls,
        state.iterations if with_iterations else 0,
        tuple((one.verifier, one.report.status, one.report.feedback) for one in state.given),
        (state.step.role, state.step.agent),
        state.question and state.question.kind,
        state.end and state.end.reason,
    )


def longest_run(state, known, acts, *, with_iterations=False):
    """Most iterations from `state` to an end or a question; fills `known` with all states met.

    Raises AssertionError if a run can come back to a state: it would never end."""
    here = key(state, with_iterations=with_iterations)
    if here in known:
        assert known[here][0] is not None, "a loop without an end"
        return known[here][0]
    due = maker_verifier.direct(state)
    length = 0
    if isinstance(due, RunRole):
        known[here] = (None, state)
        following = [after(state, **seen) for seen in acts[due.role]]
        length = 1 + max(
            longest_run(now, known, acts, with_iterations=with_iterations) for now in following
        )
    known[here] = (length, state)
    return length


@pytest.mark.parametrize("budget", [0, 1, 2])
@pytest.mark.parametrize("attempts", [1, 2, 3, 4])
def test_every_reachable_state_comes_to_an_end_within_the_bound(attempts, budget):
    # Without a limit of iterations, so a run that could go on for ever would be a cycle.
    verifiers = (JUDGE, SPARE, SECOND_SPARE)
    settings = config(
        attempts=attempts, reverifications=budget, verifiers=verifiers, iterations=10**6
    )
    known = {}
    longest_run(opened(settings), known, ACTS)
    for length, state in known.values():
        assert length <= at_most(state)
        assert state.attempts + attempts_at_most(state) <= attempts
    assert max(state.attempts for _, state in known.values()) == attempts


def test_the_bound_is_met_exactly_by_agents_that_are_held_and_interrupted_at_each_step():
    settings = config(attempts=2, reverifications=1, verifiers=(JUDGE, SPARE), iterations=10**6)
    acts = {
        Role.MAKER: [{"change": True}, HELD, *FAULTS],
        Role.VERIFIER: [{"report": report(FAIL)}, {"report": report(UNCERTAIN)}, HELD, *FAULTS],
    }
    start = opened(settings)
    assert longest_run(start, {}, acts) == at_most(start) == 2 * 3 * 23


def test_a_limit_of_iterations_bounds_it_too():
    settings = config(attempts=4, verifiers=(JUDGE, SPARE), iterations=6, no_progress=2)
    known = {}
    longest_run(opened(settings), known, ACTS, with_iterations=True)
    assert all(length <= at_most(state) <= 6 for length, state in known.values())
    assert max(state.iterations for _, state in known.values()) == 6


def test_attempts_that_change_nothing_are_noticed_before_the_ceiling():
    state = opened(config(attempts=100, no_progress=3))
    for _ in range(3):
        state = after(after(state), report=report(FAIL))
    assert maker_verifier.direct(state).kind is Kind.NO_PROGRESS


def test_the_bound_grows_by_what_people_grant_and_by_no_more():
    state, allowed, seq = opened(config(attempts=2)), 2, 0
    for granted, choice in ((3, Choice.REJECT), (1, Choice.AMEND), (2, Choice.REJECT)):
        while isinstance(maker_verifier.direct(state), RunRole):
            assert state.attempts + attempts_at_most(state) == allowed
            is_maker = state.step.role is Role.MAKER
            state = after(state, **({"change": True} if is_maker else {"report": report(FAIL)}))
        assert maker_verifier.direct(state).kind is Kind.CEILING
        assert state.attempts == allowed
        seq = state.seq + 1
        attempts = granted if choice is Choice.REJECT else 0
        decided = Decided(
            seq=seq, escalation=1, kind=Kind.CEILING, choice=choice, attempts=attempts
        )
        state = maker_verifier.apply(state, decided)
        allowed += granted
        assert attempts_at_most(state) == granted
