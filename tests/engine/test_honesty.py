"""Honest agents end `done` without any question, however untidy honest work is (RULES 4)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from loops.engine.values import Limits, Outcome, Role, RunRole
from tests.engine.log import BUGS, CLEAN, DONE, NOT_DONE, Log, config


class Honest:
    """A worker that fixes what is open in batches, a reviewer that tells what it sees.

    hidden: bugs that reviews have still to find. edits: numbers of iterations during which a person
    edits a requirement, which hides one more bug. leftovers: the worker's tests leave untracked
    files, which the boundary moves away. formatter: the last commit of a batch is made together
    with the done signal that follows it.
    """

    def __init__(self, log, *, hidden, batch, find, edits, leftovers, formatter, announces):
        self.log, self.hidden, self.batch, self.find = log, hidden, batch, find
        self.edits, self.leftovers, self.formatter = edits, leftovers, formatter
        self.announces = announces
        self.open, self.unjudged, self.uncommitted = [], [], False
        self.number, self.asked = 0, None

    def seen(self):
        return {"blockers": tuple(self.open), "unjudged": tuple(self.unjudged)}

    def person_edits(self):
        if self.number in self.edits:
            self.log.human(edits=True)
            self.hidden += 1

    def work(self):
        notes = ("junk.tmp was moved away",) if self.leftovers else ()
        if not self.open:
            commit, self.uncommitted = self.uncommitted, False
            self.log.worker(
                signal=DONE, commit=commit, notes=notes, during=self.person_edits, **self.seen()
            )
            return
        fixed, self.open = self.open[: self.batch], self.open[self.batch :]
        self.unjudged += fixed
        self.uncommitted = self.formatter
        signal = NOT_DONE if self.announces else None
        self.log.worker(
            change=True, moved=True, signal=signal, during=self.person_edits, **self.seen()
        )

    def review(self):
        self.unjudged = []
        found = [f"B-{self.number}-{n}" for n in range(min(self.hidden, self.find))]
        self.hidden -= len(found)
        self.open += found
        signal = BUGS if self.open else CLEAN
        self.log.review(
            signal=signal, findings=tuple(found), during=self.person_edits, **self.seen()
        )

    def run(self):
        while isinstance(due := self.log.due, RunRole):
            self.number += 1
            if due.role is Role.WORKER:
                self.work()
            elif due.role is Role.REVIEWER:
                self.review()
            else:
                self.log.coach(guidance=self.number)
        return self.log.next


@settings(max_examples=200, deadline=None)
@given(
    tasks=st.integers(0, 6),
    hidden=st.integers(0, 8),
    batch=st.integers(1, 3),
    find=st.integers(1, 3),
    edits=st.sets(st.integers(1, 20), max_size=4),
    leftovers=st.booleans(),
    formatter=st.booleans(),
    announces=st.booleans(),
    has_coach=st.booleans(),
    review_every=st.integers(1, 4),
    coach_every=st.integers(1, 8),
)
def test_honest_agents_end_done_without_a_question(
    tasks, has_coach, review_every, coach_every, **honest
):
    log = Log(
        config(
            limits=Limits(iterations=200),
            has_coach=has_coach,
            review_every=review_every,
            coach_every=coach_every,
        )
    )
    agents = Honest(log, **honest)
    agents.open = [f"T-{number}" for number in range(tasks)]
    end = agents.run()
    assert end == ("no_op" if log.rev == "tree-0" else "done")
    assert agents.open == agents.unjudged == []
    assert agents.hidden == 0


def test_a_formatter_that_touches_files_before_every_done_comes_to_a_person_with_the_paths():
    log = Log(config(limits=Limits()))
    while log.next == "worker":
        outcome = log.worker(signal=DONE, change=True, changed_paths=("fmt.py",))
        assert outcome is Outcome.CONFLICT
        if log.next == "reviewer":
            log.review(signal=CLEAN)
    assert log.next == "ask no_progress"
    assert "fmt.py" in log.due.question
