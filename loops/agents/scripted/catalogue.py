"""Every scripted agent by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loops.agents.scripted import careless, honest, hostile, unverified, verified
from loops.agents.scripted.tools import Tools

Behaviour = Callable[[Tools], None]

BEHAVIOURS: Mapping[str, Behaviour] = {
    "finisher": honest.finisher,
    "batch-worker": honest.batch_worker,
    "formatter": honest.formatter,
    "leftover-maker": honest.leftover_maker,
    "reviewer": honest.reviewer,
    "coach": honest.coach,
    "early-done": careless.early_done,
    "change-and-done": careless.change_and_done,
    "uncommitted-done": careless.uncommitted_done,
    "staller": careless.staller,
    "dead-reviewer": careless.dead_reviewer,
    "crasher": careless.crasher,
    "chatty": careless.chatty,
    "gold-plater": careless.gold_plater,
    "spec-spammer": careless.spec_spammer,
    "false-reviewer": careless.false_reviewer,
    "always-reopening": careless.always_reopening,
    "spec-editor": hostile.spec_editor,
    "task-forger": hostile.task_forger,
    "self-approver": hostile.self_approver,
    "git-attacker": hostile.git_attacker,
    "daemon-starter": hostile.daemon_starter,
    "planner": verified.planner,
    "restless-planner": verified.restless_planner,
    "builder": verified.builder,
    "slow-builder": verified.slow_builder,
    "checker": verified.checker,
    "foreign-planner": unverified.foreign_planner,
    "reporter": unverified.reporter,
    "verdict-forger": unverified.verdict_forger,
    "yes-sayer": unverified.yes_sayer,
    "unsure": unverified.unsure,
    "never-satisfied": unverified.never_satisfied,
    "mending-verifier": unverified.mending_verifier,
}


def overview() -> str:
    """One line for each: its name and the first line of what it says about itself."""
    width = max(map(len, BEHAVIOURS))
    rows = (
        f"{name:<{width}}  {(behaviour.__doc__ or '').strip().splitlines()[0]}"
        for name, behaviour in BEHAVIOURS.items()
    )
    return "\n".join(rows)
