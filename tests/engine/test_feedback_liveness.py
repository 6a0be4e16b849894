"""Whatever agents do, an end or a question comes; honest agents are not bothered (RULES 2)."""

import pytest

from loops.engine import feedback
from loops.engine.values import Action, Evidence, Fault, Limits, Recorded, Role, RunRole, Stamp
from tests.engine.feedback_log import (
    FAIL,
    JUDGE,
    OK,
    REPLAN,
    RETRY,
    SECOND,
    TESTS,
    UNCERTAIN,
    Log,
    config,
    plan,
    report,
)

ACTS = {
    Role.THINKER: [
        {"plan": plan("one")},
        {"plan": plan("two", requires_self_call=True)},
        {},
        {"fault": Fault.CRASH},
        {"fault": Fault.CONTEXT_FULL},
    ],
    Role.WORKER: [{}, {"fault": Fault.API_ERROR}, {"fault": Fault.CONTEXT_FULL}],
    Role.VERIFIER: [
        {"report": report(UNCERTAIN, criteria=())},
        *({"report": report(FAIL, advice, criteria=())} for advice in list(Action)[1:]),
        {"fault": Fault.API_ERROR},
        {},
    ],
}
# What no rule that leads to an end or a question looks at, or what only counts up.
INERT = {
    "config", "notes", "seq", "tokens_unknown", "money_unknown", "iterations", "idle", "feedback",
    "own", "attempts", "best", "given", "plan_claimed", "plan_number", "step", "plan", "draft",
    "criteria",
}  # fmt: skip


def after(state, seen):
    at = Stamp("tree-0", "commit-0", "", state.seq)
    evidence = Evidence(
        number=state.iterations + 1,
        role=state.step.role,
        agent=state.step.agent,
        before=at,
        after=at,
        claimed_at=state.seq,
        **seen,
    )
    outcome = feedback.classify(state, evidence)
    return feedback.apply(state, Recorded(state.seq + 1, evidence, outcome))


def longest_run(state, known):
    """Most iterations from here to an end or a question. A run that comes back to a state that it
    has left would never end, and is an error."""
    kept = (value for name, value in state.__dict__.items() if name not in INERT)
    plans = (state.plan and state.plan.selected_worker, state.draft is None, len(state.given))
    here = (*kept, state.step.role, state.step.agent, *plans)
    if here in known:
        assert known[here] is not None, "a session without an end"
        return known[here]
    length = 0
    if isinstance(feedback.direct(state), RunRole):
        known[here] = None
        following = (after(state, seen) for seen in ACTS[state.step.role])
        length = 1 + max(longest_run(one, known) for one in following)
    known[here] = length
    return length


@pytest.mark.parametrize("is_nested", [False, True])
def test_from_every_reachable_state_an_end_or_a_question_comes_without_any_limit(is_nested):
    log = Log(
        config(
            iterations=10**6,
            no_progress=10**6,
            pool=("one", "two"),
            retries=1,
            reassigns=1,
            replans=1,
            verifiers=(JUDGE, SECOND),
            is_nested=is_nested,
        )
    )
    known = {}
    bound = longest_run(log.state, known)
    assert len(known) > 500
    assert 20 < bound < 500


def test_an_honest_session_ends_done_without_a_question():
    log = Log(config(verifiers=(TESTS, JUDGE, SECOND), limits=Limits()))
    seen = []

    def turn(act, *said, **fields):
        seen.append(log.next)
        act(*said, **fields)

    turn(log.think, "coder", alternative_workers=("analyst",))
    turn(log.work)
    turn(log.verify, FAIL, RETRY)
    turn(log.verify, FAIL, RETRY)
    log.human(edits=True)
    turn(log.work)
    turn(log.verify, OK)
    turn(log.verify, FAIL, REPLAN)
    turn(log.think, "analyst")
    turn(log.work)
    turn(log.verify, OK)
    turn(log.verify, UNCERTAIN)
    turn(log.verify, OK)
    assert seen == [
        "thinker",
        *("worker coder", "verifier tests", "verifier judge") * 2,
        "thinker",
        *("worker analyst", "verifier tests", "verifier judge", "verifier second"),
    ]
    assert log.next == "done"
