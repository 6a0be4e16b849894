"""Tries of agents as their rows tell them, and looks for programs: what a worker process does."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from loops import live, moment, programs
from loops.agent_settings import AgentConfig
from loops.models import Agent
from loops.trials import LATE_SECONDS, Trial, trial

PARTS = ("agents",)  # of the pages that show them
_OURS = "loops.agents."  # in the command of every program that comes with Loopwatch


def is_built_in(agent: Agent) -> bool:
    """Plays the demo only, so a try of it says nothing."""
    return any(_OURS in word for word in agent.settings.get("argv", ()))


def is_under_way(agent: Agent) -> bool:
    """A try that should have ended long ago counts as none: its worker is gone."""
    if not agent.trial or agent.trial["state"] not in ("waiting", "running") or not agent.tried_at:
        return False
    return moment.now() - agent.tried_at < timedelta(seconds=LATE_SECONDS)


def carry_out(name: str) -> None:
    """The worker's part: once for each time that it was asked for."""
    agent = Agent.objects.filter(name=name).first()
    if agent is None or not agent.trial or agent.trial["state"] != "waiting":
        return
    asked = Trial.from_json(agent.trial)
    waiting = Agent.objects.filter(pk=agent.pk, trial__id=asked.id, trial__state="waiting")
    running = replace(asked, state="running")
    if not waiting.update(trial=running.to_json(), tried_at=moment.now()):
        return
    changed()
    put(agent, replace(trial(AgentConfig.model_validate(agent.settings)), id=asked.id))
    changed()


def try_now(agent: Agent) -> Trial:
    """Try it in this process; takes up to a minute."""
    done = trial(AgentConfig.model_validate(agent.settings))
    now = Agent.objects.filter(pk=agent.pk).first()
    if now is not None and now.settings == agent.settings:
        now.trial, now.tried_at = done.to_json(), moment.now()
        now.save(update_fields=["trial", "tried_at"])
        changed()
    return done


def put(agent: Agent, new: Trial) -> bool:
    """False where the agent was changed, removed or tried anew meanwhile: then nothing is said."""
    ours = Agent.objects.filter(pk=agent.pk, trial__id=new.id)
    return ours.update(trial=new.to_json()) == 1


def look() -> tuple[programs.Found, ...]:
    found = programs.look()
    changed()
    return found


def changed() -> None:
    live.publish((live.ALL,), parts=PARTS)
