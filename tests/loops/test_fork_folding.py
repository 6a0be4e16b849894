"""The log of a fork folds like any other: from the rows, from memory and from the cache alike."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loops.engine import controllers
from loops.engine.values import Configured, Forked, Role, Signal, Snapshot
from tests.engine.log import Log, config

TURNS = st.lists(
    st.tuples(
        st.sampled_from(["work", "done", "silent", "clean", "bugs", "person"]),
        st.booleans(),
    ),
    max_size=25,
)


def written(turns):
    """A log of the rules' own making, with people in between."""
    log = Log(config(iterations=1000, no_progress=1000))
    for what, change in turns:
        if what == "person":
            log.human(edits=change)
            continue
        role = log.due.role if hasattr(log.due, "role") else Role.WORKER
        if role is Role.WORKER:
            signal = Signal.DONE if what == "done" else None
            log.worker(change=what == "work" or change, signal=signal, tokens=5, active_seconds=2.0)
        elif role is Role.REVIEWER:
            signal = {"clean": Signal.REVIEW_CLEAN, "bugs": Signal.REVIEW_BUGS}.get(what)
            log.review(signal=signal, findings=("B-1",) if what == "bugs" else (), money=0.5)
        else:
            log.coach()
    return log


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(turns=TURNS, limit=st.integers(1, 99))
def test_a_copied_log_then_forked_then_configured_has_nothing_used(turns, limit):
    log = written(turns)
    base = Snapshot("tree-of-the-fork", "commit-of-the-fork")
    forked = Forked(log.seq + 1, 7, log.state.iterations, base)
    configured = Configured(log.seq + 2, config(iterations=limit, no_progress=3))
    rows = [
        (entry.seq, *controllers.entry_to_json(entry))
        for entry in (*log.entries, forked, configured)
    ]
    controller = controllers.controller_of(log.config.pattern)
    in_memory = log.state
    for entry in (forked, configured):
        in_memory = controller.apply(in_memory, entry)
    from_rows = controllers.fold(log.config, (controllers.entry_from_json(*row) for row in rows))
    assert from_rows == in_memory
    assert controllers.state_from_json(controllers.state_to_json(from_rows)) == from_rows
    used = {now.name.value: now.used for now in controller.limits_now(from_rows)}
    assert set(used.values()) == {0}
    assert (from_rows.streak, from_rows.clean_review, from_rows.end, from_rows.question) == (
        0, None, None, None,
    )  # fmt: skip
    assert controller.at_most(from_rows) == limit
    assert (from_rows.base_rev, from_rows.rev, from_rows.head) == (base.rev, base.rev, base.head)
    assert from_rows.notes == log.state.notes
