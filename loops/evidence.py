"""From what happened to what the log keeps: one iteration's evidence."""

from __future__ import annotations

from dataclasses import dataclass

from loops.agents.base import Reply
from loops.engine.contracts import Report
from loops.engine.values import Evidence, Role, Verdict
from loops.in_flight import InFlight
from loops.interface import Collected
from loops.sight import Sight
from loops.workspaces import Boundary
from tracker.facts import During, during
from tracker.models import Project

NOTHING = During()


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """Everything known of an iteration once its agent's tree is gone, before it is judged."""

    iteration: InFlight
    reply: Reply
    collected: Collected
    boundary: Boundary
    unjudged_at_claim: tuple[str, ...]
    active_seconds: float
    script_exit: int | None = None


def evidence_of(happened: Happened, sight: Sight, project: Project) -> Evidence:
    """Read inside the record's transaction, the project locked: what is judged is what is true."""
    iteration, reply, boundary = happened.iteration, happened.reply, happened.boundary
    before, role = iteration.before, iteration.role
    now = sight.facts(project)
    unjudged = sight.unjudged(project)
    moved_on = project.tracker_seq != before.tracker_seq
    did = during(project, str(iteration)) if moved_on else NOTHING
    return Evidence(
        number=iteration.number,
        role=role,
        agent=iteration.agent,
        before=before,
        after=sight.stamp(project),
        claimed_at=iteration.claimed_at,
        signal=happened.collected.signal,
        fault=reply.fault,
        resets_in=reply.resets_in,
        moved=did.moved,
        task_worked=did.task_worked,
        blockers=now.blockers,
        unjudged=unjudged,
        blocked=now.blocked,
        unjudged_left=tuple(key for key in happened.unjudged_at_claim if key in unjudged),
        findings=did.findings,
        marks_missing=sight.marks_missing(project) if role is Role.REVIEWER else (),
        marks_added=did.marks_added,
        uncommitted=boundary.uncommitted,
        changed_paths=boundary.changed_paths,
        disputed=now.disputed,
        guidance=did.guidance,
        script_exit=happened.script_exit,
        plan=happened.collected.plan,
        report=_report(happened),
        active_seconds=round(happened.active_seconds, 3),
        tokens=reply.tokens,
        money=reply.money,
        notes=_notes(happened),
    )


def _report(happened: Happened) -> Report | None:
    """A verifier that changed what it judged has judged something else."""
    report, spoiled = happened.collected.report, happened.boundary.spoiled
    if report is None or not spoiled:
        return report
    what = ", ".join(spoiled[:10])
    feedback = f"It changed what it was to judge ({what}), so its verdict does not count."
    return Report(status=Verdict.UNCERTAIN, feedback=feedback)


def _notes(happened: Happened) -> tuple[str, ...]:
    """Sentences for the next prompt: what the engine undid, moved, killed or heard twice."""
    survivors = tuple(
        f"A process that iteration {happened.iteration.number} left running was ended: {line}"
        for line in happened.reply.survivors
    )
    detail = (happened.reply.detail,) if happened.reply.fault and happened.reply.detail else ()
    return (*happened.boundary.notes, *happened.collected.notes, *survivors, *detail)
