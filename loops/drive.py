"""One slice of work on one session: claim, run, record, again (DESIGN 3)."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import assert_never

from django.db import transaction

from loops import (
    briefing,
    journal,
    ledger,
    live,
    moment,
    opening,
    output,
    questions,
    starting,
    statements,
    turn,
    uptake,
)
from loops.agents.base import Reply
from loops.briefs import Briefs
from loops.controls import Watched
from loops.engine.lifecycle import Move
from loops.engine.values import (
    AskHuman,
    Fault,
    Finish,
    Pattern,
    Role,
    RunRole,
    Signal,
    State,
)
from loops.equipment import Equipment
from loops.evidence import Happened, evidence_of
from loops.in_flight import InFlight
from loops.interface import Collected
from loops.leases import Lease, LeaseLost
from loops.models import Iteration, Session
from loops.output import PieceStore
from loops.points import point
from loops.sight import Sight
from loops.snapshots import Fold
from loops.statements import Kept
from loops.workspaces import Base, Boundary, Tree


class Drive:
    """One slice of work on one session. Holds the folded state between iterations, so that an
    iteration costs the same whatever the log's length."""

    def __init__(self, session: Session, lease: Lease, equipment: Equipment) -> None:
        self.session = session
        self.project = session.project
        self.lease = lease
        self.equipment = equipment
        self.sight = Sight(session, equipment.workspace)
        self.fold = Fold.load(session)
        self.has_verifiers = session.pattern != Pattern.SINGLE_THREAD.value
        self.unjudged_at_claim: tuple[str, ...] = ()
        self.briefs = Briefs()

    def run(self, iterations: int | None, until: float) -> bool:
        if Iteration.objects.filter(session=self.session, ended_at=None).exists():
            self.settle_lost()
            return True
        self._open()
        done: Happened | None = None
        pieces: list[Kept] = []
        left = iterations
        while True:
            go_on = time.monotonic() < until and (left is None or left > 0)
            iteration = self._boundary(done, pieces, go_on)
            if iteration is None:
                return done is not None and not go_on and self._still_running()
            point("claimed")
            done, pieces = self._run(iteration)
            point("ran")
            left = None if left is None else left - 1

    def settle_lost(self) -> None:
        """Record the iteration that was in flight, if any, from what its tree shows now."""
        row = Iteration.objects.filter(session=self.session, ended_at=None).first()
        if row is None:
            self._boundary(None, [], go_on=False)
            return
        self.equipment.open()
        iteration = InFlight.of(row)
        reply = Reply(fault=Fault.WORKER_LOST, detail="The process that ran this step was lost.")
        lost = Collected()
        self.sight.tree = Tree(rev=iteration.before.rev, head=iteration.before.head)
        happened = Happened(
            iteration=iteration,
            reply=reply,
            collected=lost,
            boundary=self._settle_start(iteration) or self._settle(iteration, lost),
            unjudged_at_claim=(),
            active_seconds=0.0,
        )
        self._boundary(happened, [], go_on=False)

    def _settle_start(self, iteration: InFlight) -> Boundary | None:
        """Lost on the way to its start, so its agent never ran and left nothing: whatever stands in
        the clone is on the way, and the repeated step goes there again."""
        if iteration.goes_to is None:
            return None
        self._look(self.sight.tree)
        return Boundary(rev=iteration.before.rev, head=iteration.before.head)

    def _still_running(self) -> bool:
        state = Session.objects.values_list("state", flat=True).get(pk=self.session.pk)
        return state in (State.RUNNING.value, State.PAUSING.value)

    def _open(self) -> None:
        """The workspace and the first stamp of this slice; the base is recorded once."""
        base = self.equipment.open()
        point("opened")
        self._look(self.equipment.workspace.stamp())
        self.equipment.keep(self.session.iteration_count)
        if not self.session.base_rev or self._is_unjudged_fork():
            self._record_base(base)

    def _is_unjudged_fork(self) -> bool:
        """A fork knows its base already; only a done script still has to judge it."""
        session = self.session
        if session.forked_from_id is None or session.iteration_count:
            return False
        return self._needs_script(self.sight.tree)

    def _record_base(self, base: Base) -> None:
        """What the session stands on, and what the done script says of it."""
        code = self.equipment.run_script(Watched(self.lease))
        with transaction.atomic():
            self._lock()
            now, unjudged = self.sight.facts(self.project), self.sight.unjudged(self.project)
            opening.record(self.session, now, unjudged, base, code)

    def _look(self, tree: Tree) -> None:
        statements.refresh(self.project)
        self.sight.look(self.project, tree)
        if self.has_verifiers and self.session.base_rev:
            self.sight.show(Tree(rev=self.session.base_rev, head=self.session.base_head))

    def _lock(self) -> None:
        statements.lock(self.project, self.session)
        if self.session.fence != self.lease.fence or self.lease.lost:
            raise LeaseLost

    # --- one transaction: record what was, decide what is next, claim it ----------------------

    def _boundary(self, done: Happened | None, pieces: list[Kept], go_on: bool) -> InFlight | None:
        point("before boundary")
        with transaction.atomic():
            at = moment.now()
            self._lock()
            self.fold.catch_up(self.session)
            if done is not None:
                statements.keep_pieces(done.iteration, pieces)
                output.say(done.iteration, pieces)
                self._record(done, at)
            iteration = self._next(at, recorded=done is not None, go_on=go_on)
            if done is not None or iteration is not None:
                statements.save_counts(self.session)
            if iteration is None:
                self.fold.save(self.session)
            live.session_changed(self.session.pk, self.session.project_id, live.STEP)
            point("in boundary")
        point("after boundary")
        return iteration

    def _record(self, done: Happened, at: datetime) -> None:
        evidence = evidence_of(done, self.sight, self.project)
        recorded = self.fold.record(evidence, self.session, at)
        in_time = statements.close_iteration(
            done.iteration,
            outcome=recorded.outcome.value,
            rev=evidence.after.rev,
            head=evidence.after.head,
            reply=done.reply,
            at=at,
        )
        if not in_time:
            raise LeaseLost
        if done.collected.used:
            ledger.keep(done.iteration, done.collected.used, at)
        self.session.stepping = False

    def _next(self, at: datetime, *, recorded: bool, go_on: bool) -> InFlight | None:
        session = self.session
        if session.state == State.STOPPING.value:
            uptake.end_as_stopped(session)
            return None
        if session.state == State.PAUSING.value and not session.stepping:
            journal.move(session, Move.BOUNDARY, by=journal.ENGINE, at=at)
            return None
        directive = self.fold.direct()
        match directive:
            case RunRole():
                return self._claim(directive, at, recorded=recorded, go_on=go_on)
            case AskHuman():
                questions.ask(session, directive, self.sight.tree, at)
                return None
            case Finish():
                journal.end(
                    session,
                    Move.FINISH,
                    directive.reason,
                    directive.sentence,
                    by=journal.ENGINE,
                    at=at,
                    result=directive.result,
                )
                return None
            case _:
                assert_never(directive)

    def _claim(
        self, directive: RunRole, at: datetime, *, recorded: bool, go_on: bool
    ) -> InFlight | None:
        session, project = self.session, self.project
        if recorded and directive.after_seconds > 0:
            self._wait(directive, at)
            return None
        if not go_on:
            return None
        session.iteration_count += 1
        self.unjudged_at_claim = self.sight.unjudged(project)
        text = briefing.prompt(self.fold.state, session, directive, self.sight, project)
        brief = self.briefs.keep(directive.role, text)
        return statements.open_iteration(
            session,
            directive,
            self.sight.stamp(project),
            fence=self.lease.fence,
            prompt=brief.digest,
            at=at,
        )

    def _wait(self, directive: RunRole, at: datetime) -> None:
        """Back-off or an agent's limit: the slot is free; the clock wakes the session then."""
        until = at + timedelta(seconds=directive.after_seconds)
        Session.objects.filter(pk=self.session.pk).update(
            not_before=until, held_until=until if self.fold.held() else None
        )

    # --- no transaction: run the agent, then look at what it left ------------------------------

    def _run(self, iteration: InFlight) -> tuple[Happened, list[Kept]]:
        iteration = starting.reach(iteration, self.sight, self.project)
        store = PieceStore(iteration)
        began = time.monotonic()
        reply, collected = turn.take(
            iteration,
            self.briefs.text(iteration.role),
            self.fold.criteria(),
            store,
            self.equipment,
            self.sight,
            self.lease,
        )
        if self.lease.must_stop() and self.lease.lost:
            raise LeaseLost
        active = time.monotonic() - began
        boundary = self._settle(iteration, collected)
        happened = Happened(
            iteration=iteration,
            reply=reply,
            collected=collected,
            boundary=boundary,
            unjudged_at_claim=self.unjudged_at_claim,
            active_seconds=active,
            script_exit=self._script(iteration.role, boundary),
        )
        return happened, store.held()

    def _settle(self, iteration: InFlight, collected: Collected) -> Boundary:
        boundary = self.equipment.workspace.boundary(
            self.sight.tree,
            number=iteration.number,
            may_change=iteration.role in (Role.WORKER, Role.MAKER),
            done_signalled=collected.signal is Signal.DONE,
        )
        self._look(Tree(rev=boundary.rev, head=boundary.head))
        self.equipment.keep(iteration.number)
        return boundary

    def _script(self, role: Role, boundary: Boundary) -> int | None:
        """The done script judges a committed tree of a worker that it has not judged before."""
        tree = Tree(rev=boundary.rev, head=boundary.head)
        if role is not Role.WORKER or boundary.uncommitted or not self._needs_script(tree):
            return None
        return self.equipment.run_script(Watched(self.lease))

    def _needs_script(self, tree: Tree) -> bool:
        return self.fold.needs_script(tree, self.sight.facts(self.project).spec)
