"""Writes a Maker-Verifier session's log entry by entry, as the runner would, and folds it."""

from loops.engine import maker_verifier
from loops.engine.contracts import Criterion, Judgement, Report, Verifier
from loops.engine.values import (
    Config,
    Configured,
    Decided,
    Evidence,
    Finish,
    Forked,
    HumanEvent,
    Kind,
    Limits,
    Opened,
    Pattern,
    Policy,
    Recorded,
    Role,
    RunRole,
    Snapshot,
    Stamp,
    Verdict,
)

OK, FAIL, UNCERTAIN = Verdict.OK, Verdict.FAIL, Verdict.UNCERTAIN
JUDGE = Verifier(name="judge")
SPARE = Verifier(name="spare", policy=Policy.RESERVE)
SECOND_SPARE = Verifier(name="second spare", policy=Policy.RESERVE)
CRITERIA = (Criterion("C-1", "it adds", "R-1"), Criterion("C-2", "it subtracts", "R-2"))
BASE = Snapshot("tree-0", "commit-0")


def config(*, iterations=1000, no_progress=1000, **settings):
    limits = settings.pop("limits", None) or Limits(iterations=iterations, no_progress=no_progress)
    settings.setdefault("verifiers", (JUDGE,))
    return Config(pattern=Pattern.MAKER_VERIFIER, limits=limits, **settings)


def report(status, *, score=5, feedback=None, criteria=CRITERIA, **fields):
    """One that stands: an OK with evidence for each criterion, a FAIL with a reason."""
    evidence = tuple(Judgement(one.key, OK, f"saw {one.key}") for one in criteria)
    if feedback is None:
        feedback = f"it is {status.value} and that is why"
    fields.setdefault("evidence", evidence if status is OK else ())
    return Report(status=status, score=score, feedback=feedback, **fields)


class Log:
    """One session. rev and head say what stands; `make` and `judge` record an iteration of the
    maker or of the verifier that is due, and return the outcome."""

    def __init__(self, settings=None, *, opened=True, criteria=CRITERIA):
        self.config = settings or config()
        self.entries = []
        self.state = maker_verifier.initial(self.config)
        self.rev, self.head = BASE.rev, BASE.head
        self.changes = 0
        if opened:
            self.add(
                Opened,
                base_rev=BASE.rev,
                base_head=BASE.head,
                spec="spec-0",
                criteria=criteria,
            )

    @property
    def seq(self):
        return len(self.entries)

    def add(self, entry_class, /, **fields):
        entry = entry_class(seq=self.seq + 1, **fields)
        self.state = maker_verifier.apply(self.state, entry)
        self.entries.append(entry)
        return entry

    def stamp(self):
        return Stamp(self.rev, self.head, "spec-0", self.seq)

    @property
    def tree(self):
        return Snapshot(self.rev, self.head)

    def evidence(self, role, *, agent="", change=False, during=None, **seen):
        before, claimed_at = self.stamp(), self.seq
        if during:
            during()
        if change:
            self.changes += 1
            self.rev, self.head = f"tree-{self.changes}", f"commit-{self.changes}"
        return Evidence(
            number=self.state.iterations + 1,
            role=role,
            agent=agent,
            before=before,
            after=self.stamp(),
            claimed_at=claimed_at,
            **seen,
        )

    def record(self, role, *, stands=None, **seen):
        due = self.due
        if isinstance(due, RunRole):
            assert due.role is role, f"the {due.role.value} is due"
            seen.setdefault("agent", due.agent)
            if due.start_from is not None:
                self.rev, self.head = due.start_from.rev, due.start_from.head
        self.rev = stands or self.rev
        evidence = self.evidence(role, **seen)
        outcome = maker_verifier.classify(self.state, evidence)
        self.add(Recorded, evidence=evidence, outcome=outcome)
        return outcome

    def make(self, *, change=True, **seen):
        return self.record(Role.MAKER, change=change, **seen)

    def judge(self, status=None, *, fault=None, during=None, before=None, **fields):
        """status None: no report. before: a tree that the verifier judged instead."""
        given = None if status is None else report(status, **fields)
        return self.record(Role.VERIFIER, report=given, fault=fault, during=during, stands=before)

    def attempt(self, status, **fields):
        """One attempt and the judge's word on it."""
        self.make()
        return self.judge(status, **fields)

    def human(self, what="requirement edited", key="R-1"):
        self.add(HumanEvent, what=what, key=key)

    def decide(self, kind, choice, **fields):
        self.add(Decided, escalation=1, kind=Kind(kind), choice=choice, **fields)

    def configure(self, settings):
        self.add(Configured, config=settings)

    def fork(self, base):
        self.add(Forked, parent=3, iteration=2, base=base)
        self.rev, self.head = base.rev, base.head

    @property
    def due(self):
        return maker_verifier.direct(self.state)

    @property
    def next(self):
        """The role, with the verifier's name, the kind of question or the end that is due."""
        due = self.due
        if isinstance(due, RunRole):
            return due.agent or due.role.value
        return due.reason.value if isinstance(due, Finish) else f"ask {due.kind.value}"

    def why(self, rev=None):
        return [
            why.rule.value
            for why in maker_verifier.why_not_done(
                self.state,
                rev=self.rev if rev is None else rev,
                head=self.head,
                spec="spec-0",
                blockers=("B-1",),
                unjudged=("B-2",),
                blocked=("B-3",),
            )
        ]


def opened(settings):
    start = Opened(1, BASE.rev, BASE.head, spec="spec-0", criteria=CRITERIA)
    return maker_verifier.apply(maker_verifier.initial(settings), start)


def after(state, *, change=False, **seen):
    """The state once the role that is due did that; for searches, which share their states."""
    due = maker_verifier.direct(state)
    stands = due.start_from or state.now
    before = Stamp(stands.rev, stands.head, "spec-0", state.seq)
    rev = f"tree-{state.iterations + 1}" if change else stands.rev
    evidence = Evidence(
        number=state.iterations + 1,
        role=due.role,
        agent=due.agent,
        before=before,
        after=Stamp(rev, rev, "spec-0", state.seq),
        claimed_at=state.seq,
        **seen,
    )
    outcome = maker_verifier.classify(state, evidence)
    return maker_verifier.apply(state, Recorded(state.seq + 1, evidence, outcome))
