"""From every reachable state an end or a question lies within the bound, whatever agents do."""

from loops.engine import single_thread
from loops.engine.values import Evidence, Fault, Limits, Opened, Recorded, Role, RunRole, Stamp
from tests.engine.log import BUGS, CLEAN, DONE, NOT_DONE, config

START = Opened(1, "tree-0", "commit-0", spec="spec-0")

# What an agent can do, with and without a change of the tree, a fault and a signal.
FAULTS = [{"fault": Fault.API_ERROR}, {"fault": Fault.CONTEXT_FULL}]
IDLE = {
    Role.WORKER: [
        {},
        {"signal": DONE},
        {"signal": DONE, "blockers": ("B-1",)},
        {"signal": NOT_DONE},
        {"signal": NOT_DONE, "unjudged": ("B-1",)},
        {"fault": Fault.CRASH},
        *FAULTS,
    ],
    Role.REVIEWER: [{}, {"signal": CLEAN}, {"signal": BUGS, "blockers": ("B-1",)}, *FAULTS],
    Role.COACH: [{}, {"guidance": 1}, *FAULTS],
}
BUSY = {
    Role.WORKER: [
        *IDLE[Role.WORKER],
        {"change": True},
        {"change": True, "signal": DONE},
        {"change": True, "fault": Fault.WORKER_LOST},
        {"back": True},
        {"fault": Fault.AGENT_LIMIT},
    ],
    Role.REVIEWER: [
        *IDLE[Role.REVIEWER],
        {"signal": BUGS, "findings": ("B-2",), "blockers": ("B-2",)},
        {"marks_added": 1},
    ],
    Role.COACH: IDLE[Role.COACH],
}


def after(state, role, seen):
    """The state once `role` did that. change: to a tree not seen before; back: to the base."""
    seen = dict(seen)
    change, back = seen.pop("change", False), seen.pop("back", False)
    before = Stamp(state.rev, state.rev, "spec-0", state.seq)
    rev = f"tree-{state.iterations + 1}" if change else "tree-0" if back else state.rev
    evidence = Evidence(
        number=state.iterations + 1,
        role=role,
        before=before,
        after=Stamp(rev, rev, "spec-0", state.seq),
        claimed_at=state.seq,
        **seen,
    )
    outcome = single_thread.classify(state, evidence)
    return single_thread.apply(state, Recorded(state.seq + 1, evidence, outcome))


# What no rule of this pattern looks at.
INERT = {"config", "notes", "seq", "tokens_unknown", "money_unknown", "active_seconds"}


def key(state, left_out):
    kept = (value for name, value in state.__dict__.items() if name not in INERT | {*left_out})
    return (*kept, state.step.role)


def longest_runs(state, acts, left_out, known):
    """Most iterations from `state` to an end or a question; fills `known` for all states met.

    Raises AssertionError if a run can come back to a state: it would never end."""
    here = key(state, left_out)
    if here in known:
        assert known[here][0] is not None, "a loop without an end"
        return known[here][0]
    due = single_thread.direct(state)
    length = 0
    if isinstance(due, RunRole):
        known[here] = (None, state)
        following = (after(state, due.role, seen) for seen in acts[due.role])
        length = 1 + max(longest_runs(next_, acts, left_out, known) for next_ in following)
    known[here] = (length, state)
    return length


def opened(settings):
    return single_thread.apply(single_thread.initial(settings), START)


def test_every_reachable_state_comes_to_an_end_or_a_question_within_the_bound():
    limits = Limits(iterations=5, no_progress=3)
    known = {}
    start = opened(config(limits=limits, review_every=2, coach_every=2))
    longest_runs(start, BUSY, (), known)
    assert len(known) > 1000
    for length, state in known.values():
        assert length <= single_thread.at_most(state)


def test_the_bound_is_met_exactly_by_agents_that_always_change_something():
    for used in range(5):
        state = opened(config(iterations=5, has_coach=False, review_every=100))
        for _ in range(used):
            state = after(state, Role.WORKER, {"change": True})
        run = 0
        while isinstance(single_thread.direct(state), RunRole):
            assert single_thread.at_most(state) == 5 - used - run
            state = after(state, Role.WORKER, {"change": True})
            run += 1
        assert run == 5 - used


def test_agents_that_change_nothing_are_noticed_without_any_limit_of_iterations():
    # Iterations are no part of the key here, so a run that could go on for ever is a cycle.
    start = opened(config(iterations=10**6, no_progress=3, review_every=2, coach_every=2))
    bound = longest_runs(start, IDLE, ("iterations", "step"), {})
    assert 20 < bound < 1000
