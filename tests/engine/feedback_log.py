"""Writes the log of a Thinker-Worker-Verifier session entry by entry, and folds it on the way."""

from dataclasses import replace

from loops.engine import feedback
from loops.engine.contracts import Criterion, Judgement, Plan, Report, Verifier
from loops.engine.values import (
    Action,
    AskHuman,
    Choice,
    Config,
    Configured,
    Decided,
    Evidence,
    Fault,
    Finish,
    Forked,
    HumanEvent,
    Kind,
    Limits,
    Opened,
    Outcome,
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
FINISH, RETRY, REASSIGN, REPLAN = Action.FINISH, Action.RETRY, Action.REASSIGN, Action.REPLAN
BASE = Snapshot("tree-0", "commit-0")
JUDGE = Verifier(name="judge")
TESTS = Verifier(name="tests", is_mechanical=True)
SECOND = Verifier(name="second", policy=Policy.RESERVE)
THIRD = Verifier(name="third", policy=Policy.RESERVE)
CRITERIA = (
    Criterion("x", "It answers 404.", "R-1"),
    Criterion("y", "It is documented."),
)


def config(*, iterations=1000, no_progress=1000, **settings):
    limits = settings.pop("limits", None) or Limits(iterations=iterations, no_progress=no_progress)
    settings = {"pool": ("writer", "coder", "analyst"), "verifiers": (JUDGE,)} | settings
    return Config(pattern=Pattern.FEEDBACK, limits=limits, **settings)


def plan(worker="writer", *, criteria=CRITERIA, **fields):
    return Plan(
        summary="the plan", selected_worker=worker, success_criteria=tuple(criteria), **fields
    )


def report(status, advice=None, *, criteria=("C-1", "C-2", "C-3"), **fields):
    judged = tuple(Judgement(key, status, f"seen at {key}") for key in criteria)
    fields = {"score": 5, "evidence": judged} | fields
    return Report(status=status, recommended_action=advice, **fields)


class Log:
    """One session. Each turn puts the tree that the directive names first, as the runner does."""

    def __init__(self, settings=None, *, opened=True):
        self.config = settings or config()
        self.entries = []
        self.state = feedback.initial(self.config)
        self.rev, self.head, self.spec = "tree-0", "commit-0", "spec-0"
        self.changes = 0
        if opened:
            self.add(Opened, base_rev=self.rev, base_head=self.head, spec=self.spec)

    @property
    def seq(self):
        return len(self.entries)

    def add(self, entry_class, /, **fields):
        entry = entry_class(seq=self.seq + 1, **fields)
        self.state = feedback.apply(self.state, entry)
        self.entries.append(entry)
        return entry

    def stamp(self):
        return Stamp(self.rev, self.head, self.spec, self.seq)

    def evidence(self, role, *, agent=None, change=False, during=None, **seen):
        due = self.due
        if isinstance(due, RunRole) and due.start_from:
            self.rev, self.head = due.start_from.rev, due.start_from.head
        if agent is None:
            agent = due.agent if isinstance(due, RunRole) else ""
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

    def turn(self, role, **seen):
        evidence = self.evidence(role, **seen)
        outcome = feedback.classify(self.state, evidence)
        self.add(Recorded, evidence=evidence, outcome=outcome)
        return outcome

    def think(self, worker="writer", *, criteria=CRITERIA, during=None, **fields):
        made = plan(worker, criteria=criteria, **fields)
        return self.turn(Role.THINKER, plan=made, during=during)

    def work(self, *, change=True, **seen):
        return self.turn(Role.WORKER, change=change, **seen)

    def verify(self, status=None, advice=None, *, during=None, seen=None, **fields):
        said = None if status is None else report(status, advice, **fields)
        return self.turn(Role.VERIFIER, report=said, during=during, **(seen or {}))

    def attempt(self, status=FAIL, advice=RETRY, **fields):
        """A worker's attempt and the verdict on it; a plan first if the thinker is due."""
        if self.next == "thinker":
            self.think()
        assert self.next.startswith("worker"), self.next
        self.work()
        self.verify(status, advice, **fields)

    def human(self, *, edits=False):
        if edits:
            self.spec = f"spec-{self.seq}"
        what = "requirement edited" if edits else "file"
        self.add(HumanEvent, what=what, key="R-1" if edits else "T-1")

    def decide(self, choice, *, kind=None, **fields):
        self.add(
            Decided,
            escalation=1,
            kind=Kind(kind) if kind else self.due.kind,
            choice=Choice(choice),
            **fields,
        )

    def configure(self, **changes):
        self.add(Configured, config=replace(self.state.config, **changes))

    def fork(self, base=BASE):
        self.add(Forked, parent=1, iteration=self.state.iterations, base=base)
        self.rev, self.head = base.rev, base.head

    @property
    def due(self):
        return feedback.direct(self.state)

    @property
    def next(self):
        """The role and agent, the kind of question, or the end reason that is due."""
        due = self.due
        if isinstance(due, RunRole):
            return f"{due.role.value} {due.agent}".strip()
        return due.reason.value if isinstance(due, Finish) else f"ask {due.kind.value}"

    @property
    def rule(self):
        return self.due.rule

    @property
    def attempts(self):
        return sum(
            isinstance(entry, Recorded) and entry.outcome is Outcome.ATTEMPT
            for entry in self.entries
        )

    def why(self):
        return [
            why.rule.value
            for why in feedback.why_not_done(
                self.state,
                rev=self.rev,
                head=self.head,
                spec=self.spec,
                blockers=(),
                unjudged=(),
                blocked=(),
            )
        ]


def run(advice, settings=None, *, status=FAIL, most=200):
    """A session whose verifiers always say the same; it runs until an end or a question."""
    log = Log(settings)
    for _ in range(most):
        match log.due:
            case AskHuman() | Finish():
                return log
            case RunRole(role=Role.THINKER):
                log.think(log.config.pool[0])
            case RunRole(role=Role.WORKER):
                log.work()
            case RunRole(role=Role.VERIFIER):
                log.verify(status, advice() if callable(advice) else advice)
    raise AssertionError("a session without an end")


def asked(kind):
    """A session that waits for the decision of a question of this kind, after one attempt."""
    settings = {
        "verifier_conflict": {"verifiers": (JUDGE, Verifier(name="other"))},
        "exhausted": {"retries": 0, "reassigns": 0, "replans": 0},
        "no_progress": {"no_progress": 1},
        "limit": {"iterations": 3},
    }
    log = Log(config(**settings.get(kind, {})))
    log.think()
    if kind == "spec_changed":
        log.human(edits=True)
    log.work(change=kind != "no_progress")
    match kind:
        case "uncertain":
            log.verify(UNCERTAIN)
        case "verifier_conflict":
            log.verify(OK)
            log.verify(FAIL)
        case "spec_changed":
            log.verify(OK)
        case "exhausted":
            log.verify(FAIL, RETRY, score=9)
            log.attempt(FAIL, RETRY)
        case _:
            log.verify(FAIL, RETRY)
    if kind == "infrastructure":
        for _ in range(3):
            log.work(change=False, fault=Fault.API_ERROR)
    if kind == "auth":
        log.work(change=False, fault=Fault.AUTH)
    if kind == "gate":
        log.configure(gates=(Role.WORKER,))
    assert log.next == f"ask {kind}"
    return log
