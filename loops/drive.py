"""One slice of work on one session: claim, run, record, again (DESIGN 3)."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict
from datetime import timedelta
from typing import assert_never

from django.db import transaction

from loops import briefing, journal, moment, questions, uptake
from loops.agents.base import ProcessIdentity, Reply
from loops.agents.output import OutputWriter
from loops.engine import controllers
from loops.engine.lifecycle import Move
from loops.engine.values import AskHuman, Evidence, Fault, Finish, Opened, Role, RunRole, Signal, State
from loops.equipment import Equipment, Work
from loops.evidence import Happened, evidence_of
from loops.interface import Collected
from loops.leases import Lease, LeaseLost
from loops.models import Iteration, OutputPiece, Session
from loops.output import PieceStore
from loops.points import point
from loops.sight import Sight
from loops.snapshots import Fold
from loops.workspaces import Base, Boundary, Tree, Unusable
from tracker.models import Project

log = logging.getLogger(__name__)


class Drive:
    """One slice of work on one session. Holds the folded state between iterations, so that an
    iteration costs the same whatever the log's length."""

    def __init__(self, session: Session, lease: Lease, equipment: Equipment) -> None:
        self.session = session
        self.lease = lease
        self.equipment = equipment
        self.sight = Sight(session, equipment.workspace)
        self.fold = Fold.load(session)
        self.unjudged_at_claim: tuple[str, ...] = ()
        self.brief = ""

    def run(self, iterations: int | None, until: float) -> bool:
        self._open()
        done: Happened | None = None
        pieces: list[OutputPiece] = []
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
        iteration = Iteration.objects.filter(session=self.session, ended_at=None).first()
        if iteration is None:
            self._boundary(None, [], go_on=False)
            return
        self.equipment.open()
        before = Tree(rev=iteration.before["rev"], head=iteration.before["head"])
        reply = Reply(fault=Fault.WORKER_LOST, detail="The process that ran this step was lost.")
        lost = Collected()
        self.sight.tree = before
        happened = Happened(
            iteration=iteration,
            reply=reply,
            collected=lost,
            boundary=self._settle(iteration, Role(iteration.role), lost),
            unjudged_at_claim=(),
            active_seconds=0.0,
        )
        self._boundary(happened, [], go_on=False)

    def _still_running(self) -> bool:
        state = Session.objects.values_list("state", flat=True).get(pk=self.session.pk)
        return state in (State.RUNNING.value, State.PAUSING.value)

    def _open(self) -> None:
        """The workspace and the first stamp of this slice; the base is recorded once."""
        base = self.equipment.open()
        point("opened")
        self._look(self.equipment.workspace.stamp())
        if not self.session.base_rev:
            self._record_base(base)

    def _record_base(self, base: Base) -> None:
        """The log's Opened entry: what the session stands on, and what the done script says of it."""
        code = self.equipment.run_script()
        with transaction.atomic():
            project, session = self._locked()
            now = self.sight.facts(project)
            opened = Opened(
                seq=0,
                base_rev=base.rev,
                base_head=base.head,
                script_exit=code,
                spec=now.spec,
                blockers=now.blockers,
                unjudged=self.sight.unjudged(project),
                blocked=now.blocked,
            )
            kind, payload = controllers.entry_to_json(opened)
            journal.append(session, kind, payload, moment.now())
            Session.objects.filter(pk=session.pk).update(base_rev=base.rev, base_head=base.head)
        self.session.base_rev, self.session.base_head = base.rev, base.head

    def _look(self, tree: Tree) -> None:
        self.sight.look(Project.objects.get(pk=self.session.project_id), tree)

    def _locked(self) -> tuple[Project, Session]:
        project, session = journal.lock(self.session.pk)
        if session.fence != self.lease.fence or self.lease.lost:
            raise LeaseLost
        return project, session

    # --- one transaction: record what was, decide what is next, claim it ----------------------

    def _boundary(
        self, done: Happened | None, pieces: list[OutputPiece], go_on: bool
    ) -> Iteration | None:
        point("before boundary")
        with transaction.atomic():
            project, session = self._locked()
            self.fold.catch_up(session)
            if done is not None:
                OutputPiece.objects.bulk_create(pieces)
                self._record(project, session, done)
            iteration = self._next(project, session, recorded=done is not None, go_on=go_on)
            if iteration is None:
                self.fold.save(session)
            point("in boundary")
        point("after boundary")
        return iteration

    def _record(self, project: Project, session: Session, done: Happened) -> None:
        evidence = evidence_of(done, self.sight, project)
        recorded = self.fold.record(evidence, session)
        _close(session, done, evidence, recorded.outcome.value)

    def _next(
        self, project: Project, session: Session, *, recorded: bool, go_on: bool
    ) -> Iteration | None:
        at = moment.now()
        if session.state == State.STOPPING.value:
            uptake.end_as_stopped(session)
            return None
        if session.state == State.PAUSING.value and (recorded or not session.stepping):
            journal.move(session, Move.BOUNDARY, by=journal.ENGINE, at=at)
            return None
        directive = self.fold.direct()
        match directive:
            case RunRole():
                return self._claim(project, session, directive, recorded=recorded, go_on=go_on)
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
                )
                return None
            case _:
                assert_never(directive)

    def _claim(
        self, project: Project, session: Session, directive: RunRole, *, recorded: bool, go_on: bool
    ) -> Iteration | None:
        at = moment.now()
        if recorded and directive.after_seconds > 0:
            _wait(session, directive, held=self.fold.held())
            return None
        if not go_on:
            return None
        session.iteration_count += 1
        Session.objects.filter(pk=session.pk).update(iteration_count=session.iteration_count)
        self.unjudged_at_claim = self.sight.unjudged(project)
        stamp = self.sight.stamp(project)
        iteration = Iteration.objects.create(
            session=session,
            number=session.iteration_count,
            role=directive.role.value,
            rule=directive.rule,
            reason=directive.reason,
            fence=self.lease.fence,
            before={f: getattr(stamp, f) for f in ("rev", "head", "spec", "tracker_seq")},
            claimed_at_seq=session.log_seq,
            started_at=at,
        )
        self.brief = briefing.prompt(project, session, directive, iteration.number, self.sight)
        OutputPiece.objects.create(
            iteration=iteration, stream="prompt", seq=1, offset=0, text=self.brief, at=at
        )
        return iteration

    # --- no transaction: run the agent, then look at what it left ------------------------------

    def _run(self, iteration: Iteration) -> tuple[Happened, list[OutputPiece]]:
        store = PieceStore(iteration)
        began = time.monotonic()
        role = Role(iteration.role)
        work = Work(role=role, number=iteration.number, reference=str(iteration), prompt=self.brief)
        control = Controls(self.lease, OutputWriter(store, self.equipment.secrets()))
        try:
            reply, collected = self.equipment.perform(work, self.sight, control)
        except Unusable:
            raise
        except Exception as error:  # our own fault, not the agent's: the step is repeated
            log.exception("the call failed", extra={"session": self.session.pk})
            detail = f"Loopwatch itself failed in this step ({type(error).__name__})."
            reply, collected = Reply(fault=Fault.WORKER_LOST, detail=detail), Collected()
        store.finish()
        control.writer.close()
        if self.lease.must_stop() and self.lease.lost:
            raise LeaseLost
        active = time.monotonic() - began
        boundary = self._settle(iteration, role, collected)
        happened = Happened(
            iteration=iteration,
            reply=self._cut_off(reply),
            collected=collected,
            boundary=boundary,
            unjudged_at_claim=self.unjudged_at_claim,
            active_seconds=active,
            script_exit=self._script(role, boundary),
        )
        return happened, store.held()

    def _settle(self, iteration: Iteration, role: Role, collected: Collected) -> Boundary:
        boundary = self.equipment.workspace.boundary(
            self.sight.tree,
            number=iteration.number,
            may_change=role is Role.WORKER,
            done_signalled=collected.signal is Signal.DONE,
        )
        self._look(Tree(rev=boundary.rev, head=boundary.head))
        return boundary

    def _cut_off(self, reply: Reply) -> Reply:
        """A call that a person's stop cut off is no fault of the agent."""
        if not self.lease.stopping:
            return reply
        return Reply(fault=Fault.WORKER_LOST, detail="Cut off by stop.", survivors=reply.survivors)

    def _script(self, role: Role, boundary: Boundary) -> int | None:
        """The done script judges a committed tree of a worker that it has not judged before."""
        tree = Tree(rev=boundary.rev, head=boundary.head)
        if role is not Role.WORKER or boundary.uncommitted or not self._needs_script(tree):
            return None
        return self.equipment.run_script()

    def _needs_script(self, tree: Tree) -> bool:
        project = Project.objects.get(pk=self.session.project_id)
        return self.fold.needs_script(tree, self.sight.facts(project).spec)


class Controls:
    """What a running call may use (agents.base.Control)."""

    def __init__(self, lease: Lease, writer: OutputWriter) -> None:
        self.lease = lease
        self.writer = writer

    def started(self, process: ProcessIdentity) -> None:
        Session.objects.filter(pk=self.lease.session_id, fence=self.lease.fence).update(
            process=asdict(process)
        )
        point("agent started")

    def output(self, data: bytes) -> bool:
        return self.writer.write(data)

    def must_stop(self) -> bool:
        return self.lease.must_stop()


def _close(session: Session, done: Happened, evidence: Evidence, outcome: str) -> None:
    """Write the one outcome, where the iteration is still in flight under the fence it began with."""
    open_row = Iteration.objects.filter(
        pk=done.iteration.pk, fence=done.iteration.fence, ended_at=None
    )
    changed = open_row.update(
        ended_at=moment.now(),
        outcome=outcome,
        rev=evidence.after.rev,
        head=evidence.after.head,
        detail=done.reply.detail,
    )
    if not changed:
        raise LeaseLost
    if session.stepping:
        session.stepping = False
        Session.objects.filter(pk=session.pk).update(stepping=False)


def _wait(session: Session, directive: RunRole, *, held: bool) -> None:
    """Back-off or an agent's limit: the slot is free until then, the clock wakes the session."""
    until = moment.now() + timedelta(seconds=directive.after_seconds)
    Session.objects.filter(pk=session.pk).update(
        not_before=until, held_until=until if held else None
    )
