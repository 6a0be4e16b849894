"""One slice of work on one session: claim, run, record, again (DESIGN 3)."""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta
from hashlib import sha256
from typing import assert_never

from django.db import transaction

from loops import briefing, journal, live, moment, output, questions, statements, uptake
from loops.agents.base import Reply
from loops.agents.output import OutputWriter
from loops.controls import Controls, Watched
from loops.engine import controllers
from loops.engine.lifecycle import Move
from loops.engine.values import AskHuman, Fault, Finish, Opened, Role, RunRole, Signal, State
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
from tracker.errors import DomainError

log = logging.getLogger(__name__)


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
        self.unjudged_at_claim: tuple[str, ...] = ()
        self.brief = ""
        self.brief_digest = ""

    def run(self, iterations: int | None, until: float) -> bool:
        if Iteration.objects.filter(session=self.session, ended_at=None).exists():
            self.settle_lost()
            return True
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
        if not self.session.base_rev or self._is_unjudged_fork():
            self._record_base(base)

    def _is_unjudged_fork(self) -> bool:
        """A fork knows its base already; only a done script still has to judge it."""
        session = self.session
        if session.forked_from_id is None or session.iteration_count:
            return False
        return self._needs_script(self.sight.tree)

    def _record_base(self, base: Base) -> None:
        """The log's Opened entry: what the session stands on, and what the script says of it."""
        code = self.equipment.run_script(Watched(self.lease))
        with transaction.atomic():
            self._lock()
            now = self.sight.facts(self.project)
            opened = Opened(
                seq=0,
                base_rev=base.rev,
                base_head=base.head,
                script_exit=code,
                spec=now.spec,
                blockers=now.blockers,
                unjudged=self.sight.unjudged(self.project),
                blocked=now.blocked,
            )
            kind, payload = controllers.entry_to_json(opened)
            journal.append(self.session, kind, payload, moment.now())
            Session.objects.filter(pk=self.session.pk).update(
                base_rev=base.rev, base_head=base.head
            )
        self.session.base_rev, self.session.base_head = base.rev, base.head

    def _look(self, tree: Tree) -> None:
        statements.refresh(self.project)
        self.sight.look(self.project, tree)

    def _lock(self) -> None:
        statements.lock(self.project, self.session)
        if self.session.fence != self.lease.fence or self.lease.lost:
            raise LeaseLost

    # --- one transaction: record what was, decide what is next, claim it ----------------------

    def _boundary(
        self, done: Happened | None, pieces: list[OutputPiece], go_on: bool
    ) -> Iteration | None:
        point("before boundary")
        with transaction.atomic():
            at = moment.now()
            self._lock()
            self.fold.catch_up(self.session)
            if done is not None:
                statements.keep_pieces(pieces)
                output.say(done.iteration, pieces)
                self._record(done, at)
            iteration = self._next(at, recorded=done is not None, go_on=go_on)
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
            detail=done.reply.detail,
            at=at,
        )
        if not in_time:
            raise LeaseLost
        self.session.stepping = False
        statements.save_counts(self.session)

    def _next(self, at: datetime, *, recorded: bool, go_on: bool) -> Iteration | None:
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
                )
                return None
            case _:
                assert_never(directive)

    def _claim(
        self, directive: RunRole, at: datetime, *, recorded: bool, go_on: bool
    ) -> Iteration | None:
        session, project = self.session, self.project
        if recorded and directive.after_seconds > 0:
            self._wait(directive, at)
            return None
        if not go_on:
            return None
        session.iteration_count += 1
        statements.save_counts(session)
        self.unjudged_at_claim = self.sight.unjudged(project)
        stamp = self.sight.stamp(project)
        self._keep_brief(briefing.prompt(session, directive, self.sight, project))
        iteration = Iteration(
            session=session,
            number=session.iteration_count,
            role=directive.role.value,
            rule=directive.rule,
            reason=directive.reason,
            fence=self.lease.fence,
            before={f: getattr(stamp, f) for f in ("rev", "head", "spec", "tracker_seq")},
            claimed_at_seq=session.log_seq,
            started_at=at,
            prompt_id=self.brief_digest,
        )
        statements.open_iteration(iteration)
        return iteration

    def _keep_brief(self, brief: str) -> None:
        if brief == self.brief:
            return
        self.brief, self.brief_digest = brief, sha256(brief.encode()).hexdigest()
        statements.keep_prompt(self.brief_digest, brief)

    def _wait(self, directive: RunRole, at: datetime) -> None:
        """Back-off or an agent's limit: the slot is free; the clock wakes the session then."""
        until = at + timedelta(seconds=directive.after_seconds)
        Session.objects.filter(pk=self.session.pk).update(
            not_before=until, held_until=until if self.fold.held() else None
        )

    # --- no transaction: run the agent, then look at what it left ------------------------------

    def _run(self, iteration: Iteration) -> tuple[Happened, list[OutputPiece]]:
        store = PieceStore(iteration)
        began = time.monotonic()
        role = Role(iteration.role)
        work = Work(role=role, number=iteration.number, reference=str(iteration), prompt=self.brief)
        reply, collected = self._call(work, store)
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

    def _call(self, work: Work, store: PieceStore) -> tuple[Reply, Collected]:
        """The agent's call. What must not be kept of its output is known before it can say it."""
        writer = None
        try:
            writer = OutputWriter(store, self.equipment.reveal(work.role))
            return self.equipment.perform(work, self.sight, Controls(self.lease, writer))
        except Unusable:
            raise
        except DomainError as refusal:  # a person's to mend: the sentence stands in the iteration
            return Reply(fault=Fault.CANNOT_START, detail=str(refusal)), Collected()
        except Exception as error:  # our own fault, not the agent's: the step is repeated
            log.exception("the call failed", extra={"session": self.session.pk})
            detail = f"Loopwatch itself failed in this step ({type(error).__name__})."
            return Reply(fault=Fault.WORKER_LOST, detail=detail), Collected()
        finally:
            store.finish()
            if writer is not None:
                writer.close()

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
        return self.equipment.run_script(Watched(self.lease))

    def _needs_script(self, tree: Tree) -> bool:
        return self.fold.needs_script(tree, self.sight.facts(self.project).spec)
