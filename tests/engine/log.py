"""Writes a session's log entry by entry, as the runner would, and folds it on the way."""

from loops.engine import single_thread
from loops.engine.values import (
    Config,
    Configured,
    Decided,
    Evidence,
    Finish,
    HumanEvent,
    Kind,
    Limits,
    Opened,
    Recorded,
    Role,
    RunRole,
    Signal,
    Stamp,
)

DONE, NOT_DONE = Signal.DONE, Signal.NOT_DONE
CLEAN, BUGS = Signal.REVIEW_CLEAN, Signal.REVIEW_BUGS


def config(*, iterations=1000, no_progress=1000, **settings):
    limits = settings.pop("limits", None) or Limits(iterations=iterations, no_progress=no_progress)
    return Config(limits=limits, **settings)


class Log:
    """One session. rev, head and spec say what stands; `turn` records an iteration of the role that
    is due (or of `role`), with evidence as given, and returns its outcome."""

    def __init__(self, settings=None, *, opened=True, **opening):
        self.config = settings or config()
        self.entries = []
        self.state = single_thread.initial(self.config)
        self.rev, self.head, self.spec = "tree-0", "commit-0", "spec-0"
        self.changes = 0
        if opened:
            self.add(Opened, base_rev=self.rev, base_head=self.head, spec=self.spec, **opening)

    @property
    def seq(self):
        return len(self.entries)

    def add(self, entry_class, /, **fields):
        entry = entry_class(seq=self.seq + 1, **fields)
        self.state = single_thread.apply(self.state, entry)
        self.entries.append(entry)
        return entry

    def stamp(self):
        return Stamp(self.rev, self.head, self.spec, self.seq)

    def evidence(self, *, role=None, change=False, commit=False, rev=None, during=None, **seen):
        before, claimed_at = self.stamp(), self.seq
        if during:
            during()
        if change:
            self.changes += 1
            self.rev, self.head = f"tree-{self.changes}", f"commit-{self.changes}"
        if commit:
            self.changes += 1
            self.head = f"commit-{self.changes}"
        if rev is not None:
            self.rev = rev
        return Evidence(
            number=self.state.iterations + 1,
            role=role or self.due.role,
            before=before,
            after=self.stamp(),
            claimed_at=claimed_at,
            **seen,
        )

    def turn(self, **seen):
        evidence = self.evidence(**seen)
        outcome = single_thread.classify(self.state, evidence)
        self.add(Recorded, evidence=evidence, outcome=outcome)
        return outcome

    def worker(self, **seen):
        return self.turn(role=Role.WORKER, **seen)

    def review(self, **seen):
        return self.turn(role=Role.REVIEWER, **seen)

    def coach(self, **seen):
        return self.turn(role=Role.COACH, **seen)

    def human(self, *, edits=False):
        if edits:
            self.spec = f"spec-{self.seq}"
        self.add(HumanEvent, what="edited" if edits else "filed", key="R-1")

    def decide(self, kind, choice, **fields):
        self.add(Decided, escalation=1, kind=Kind(kind), choice=choice, **fields)

    def configure(self, settings):
        self.add(Configured, config=settings)

    @property
    def due(self):
        return single_thread.direct(self.state)

    @property
    def next(self):
        """The role, the kind of question or the end reason that is due."""
        due = self.due
        if isinstance(due, RunRole):
            return due.role.value
        return due.reason.value if isinstance(due, Finish) else f"ask {due.kind.value}"

    def why(self, *, blockers=(), unjudged=(), blocked=()):
        return [
            why.rule.value
            for why in single_thread.why_not_done(
                self.state,
                rev=self.rev,
                head=self.head,
                spec=self.spec,
                blockers=blockers,
                unjudged=unjudged,
                blocked=blocked,
            )
        ]
