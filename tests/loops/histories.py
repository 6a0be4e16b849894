"""Sessions that come to every kind of question and every end reason, in a world in memory.

Each story is told by a function; tests/histories/NAME.json holds the log it wrote once. Written
anew by `LOOPWATCH_RECORD=1 pytest tests/loops/test_histories.py`, when a rule changes on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from escalations import services as escalations
from escalations.models import Escalation
from escalations.word import Word
from loops import runner, services
from loops.agents.base import Reply
from loops.engine.values import Choice, Fault, Role
from loops.models import Session
from loops.workspaces import Unusable
from tests.loops import behaviours as b
from tests.loops import verified as v
from tests.loops.world import MemoryWorkspace, World
from tracker import services as tracker
from tracker.models import Project
from tracker.services import By

BAD = {"a.txt": "bad", "b.txt": "bad too"}


@dataclass
class Stage:
    """What a story plays on."""

    project: Project
    me: By
    start: Callable[..., Session]
    asked: list[str] = field(default_factory=list)

    def play(self, behaviours, files=None, **config) -> tuple[Session, World]:
        world = World(behaviours, MemoryWorkspace(files=dict(files or {"a.txt": "one"})))
        return self.go_on(self.start(**config), world), world

    def go_on(self, session: Session, world: World) -> Session:
        for _ in range(120):
            Session.objects.filter(pk=session.pk).update(not_before=None)
            runner.advance(session.pk, world)
            session.refresh_from_db()
            if session.state not in ("queued", "running"):
                break
        self.asked += [q.kind for q in self.open(session)]
        return session

    def open(self, session: Session) -> list[Escalation]:
        return list(Escalation.objects.filter(session=session, status="open").order_by("pk"))

    def decide(self, session: Session, choice: Choice, **word) -> Session:
        question = self.open(session)[0]
        evidence = question.evidence if choice is Choice.APPROVE else ""
        escalations.decide(question, Word(choice=choice, evidence=evidence, **word), self.me)
        return Session.objects.get(pk=session.pk)

    def stop(self, session: Session) -> None:
        services.stop(session, self.me)


def faulty(fault: Fault):
    def call(tools) -> Reply:
        return Reply(fault=fault, detail="It did not work.")

    return call


def single_done(s: Stage):
    s.play(b.HONEST, {"a.txt": "bad"})


def single_no_op(s: Stage):
    s.play(b.HONEST)


def single_limit_then_stopped(s: Stage):
    session, _ = s.play({**b.HONEST, Role.WORKER: b.vandal}, limits={"iterations": 5})
    s.stop(session)


def single_no_progress_granted(s: Stage):
    session, world = s.play({**b.HONEST, Role.WORKER: b.silent})
    world.behaviours = b.HONEST
    s.go_on(s.decide(session, Choice.GRANT), world)


def single_review_stall_granted(s: Stage):
    session, world = s.play({**b.HONEST, Role.REVIEWER: b.silent})
    world.behaviours = b.HONEST
    s.go_on(s.decide(session, Choice.GRANT), world)


def single_infrastructure_retried(s: Stage):
    session, world = s.play({**b.HONEST, Role.WORKER: faulty(Fault.API_ERROR)})
    world.behaviours = b.HONEST
    s.go_on(s.decide(session, Choice.RETRY), world)


def single_auth_retried(s: Stage):
    session, world = s.play({**b.HONEST, Role.REVIEWER: faulty(Fault.AUTH)}, {"a.txt": "bad"})
    world.behaviours = b.HONEST
    s.go_on(s.decide(session, Choice.RETRY), world)


def single_blocked_answered(s: Stage):
    session, world = s.play({**b.HONEST, Role.WORKER: b.blocker}, {"a.txt": "bad"})
    world.behaviours = b.HONEST
    word = {"text": "Use another word.", "disposition": "reopen"}
    s.go_on(s.decide(session, Choice.ANSWER, **word), world)


def single_disputed_approved(s: Stage):
    def reopen(tools):
        if not tools.entries("--all"):
            return b.honest_reviewer(tools)
        return b.reopener(tools)

    session, _ = s.play({**b.HONEST, Role.REVIEWER: reopen}, {"a.txt": "bad"})
    s.decide(session, Choice.APPROVE)


def single_gate_allowed(s: Stage):
    session, world = s.play(b.HONEST, {"a.txt": "bad"}, gates=["reviewer"])
    for _ in range(20):
        if not s.open(session):
            break
        session = s.go_on(s.decide(session, Choice.ALLOW), world)


def single_edited_mid_run(s: Stage):
    def edit_once(tools):
        if not tools.memory.get("edited"):
            tools.memory["edited"] = True
            tracker.edit_requirement(s.project, "R-1", text="The file a.txt is kept.", by=s.me)
        b.honest_reviewer(tools)

    s.play({**b.HONEST, Role.REVIEWER: edit_once}, {"a.txt": "bad"})


def single_failed(s: Stage):
    def lose_the_clone(tools):
        raise Unusable("The session's clone is gone.")

    s.play({**b.HONEST, Role.REVIEWER: lose_the_clone}, {"a.txt": "bad"})


def maker_done(s: Stage):
    s.play(v.MAKERS, BAD, **v.maker_config())


def maker_ceiling_granted(s: Stage):
    session, world = s.play({**v.MAKERS, Role.MAKER: v.idle}, BAD, **v.maker_config(attempts=2))
    world.behaviours = v.MAKERS
    word = {"text": "Mend both files.", "attempts": 2}
    s.go_on(s.decide(session, Choice.REJECT, **word), world)


def maker_ceiling_exhausted(s: Stage):
    session, _ = s.play({**v.MAKERS, "judge": v.failing()}, BAD, **v.maker_config(attempts=1))
    s.decide(session, Choice.REJECT, text="This leads nowhere.", attempts=0)


def maker_uncertain_amended(s: Stage):
    session, world = s.play({**v.MAKERS, "judge": v.unsure}, BAD, **v.maker_config())
    world.behaviours = {**v.MAKERS, Role.MAKER: v.idle}
    word = {"requirement": "R-2", "document": "No file holds the word bad, but for a.txt."}
    s.go_on(s.decide(session, Choice.AMEND, **word), world)


def maker_conflict_approved(s: Stage):
    def opposed(tools):
        keys = [c.key for c in tools.context.criteria]
        seen = [{"criterion": key, "status": "OK", "evidence": "a.txt:1"} for key in keys]
        v.submit_report(tools, status="OK", score=9, evidence=seen)

    def against(tools):
        seen = [{"criterion": "C-1", "status": "FAIL", "evidence": "a.txt:1"}]
        v.submit_report(tools, status="FAIL", score=2, feedback="No.", evidence=seen)

    verifiers = [v.verifier("judge"), v.verifier("other")]
    roles = {Role.MAKER: v.builder, "judge": opposed, "other": against}
    session, _ = s.play(roles, BAD, **v.maker_config(verifiers=verifiers))
    s.decide(session, Choice.APPROVE)


def feedback_done(s: Stage):
    s.play(v.FEEDBACK, BAD, **v.feedback_config())


def feedback_exhausted_rejected(s: Stage):
    roles = {**v.FEEDBACK, "judge": v.failing("REASSIGN")}
    session, _ = s.play(roles, BAD, **v.feedback_config("a", "b", "c"))
    s.decide(session, Choice.REJECT, text="Enough.", attempts=0)


def feedback_uncertain_reassigned(s: Stage):
    session, world = s.play({**v.FEEDBACK, "judge": v.unsure}, BAD, **v.feedback_config("a", "b"))
    world.behaviours = v.FEEDBACK
    s.go_on(s.decide(session, Choice.REASSIGN, worker="b", text="Try b."), world)


def feedback_spec_changed_replanned(s: Stage):
    def edit_then_judge(tools):
        if not tools.memory.get("edited"):
            tools.memory["edited"] = True
            tracker.edit_requirement(s.project, "R-1", text="The file a.txt stays there.", by=s.me)
        v.judge(tools)

    roles = {**v.FEEDBACK, "judge": edit_then_judge}
    session, world = s.play(roles, {"a.txt": "bad"}, **v.feedback_config())
    s.go_on(s.decide(session, Choice.REPLAN, text="Heed R-1."), world)


STORIES: dict[str, Callable[[Stage], None]] = {
    story.__name__: story
    for story in (
        single_done,
        single_no_op,
        single_limit_then_stopped,
        single_no_progress_granted,
        single_review_stall_granted,
        single_infrastructure_retried,
        single_auth_retried,
        single_blocked_answered,
        single_disputed_approved,
        single_gate_allowed,
        single_edited_mid_run,
        single_failed,
        maker_done,
        maker_ceiling_granted,
        maker_ceiling_exhausted,
        maker_uncertain_amended,
        maker_conflict_approved,
        feedback_done,
        feedback_exhausted_rejected,
        feedback_uncertain_reassigned,
        feedback_spec_changed_replanned,
    )
}
