"""What people can do to agents besides saving them: look for programs, try, remove, propose for
roles. Every door calls these verbs."""

from __future__ import annotations

import secrets as randomness
from collections.abc import Mapping
from dataclasses import replace

from celery import current_app
from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from loops import moment, services, trying
from loops.agent_settings import CLIS
from loops.engine.values import Role
from loops.models import Agent, RoleDefault
from loops.programs import Found
from loops.trials import Trial
from tracker.errors import Conflict, Invalid, NotFound

TRY, LOOK = "loops.tasks.try_agent", "loops.tasks.look_for_programs"
_LOOK_EVERY = 120.0  # seconds until a look that never came is asked for again


def get_agent(name: str) -> Agent:
    agent = Agent.objects.filter(name=name).first()
    if agent is None:
        raise NotFound(f"There is no agent {name}.")
    return agent


def remove(name: str) -> None:
    """Sessions that were started with it keep their copy."""
    get_agent(name).delete()
    trying.changed()


def look_again() -> tuple[Found, ...]:
    """Ask the CLIs of this machine for their versions; takes seconds."""
    return trying.look()


def ask_to_look() -> None:
    """Have a worker look, unless that was asked for a moment ago. Without a broker nothing comes of
    it: pages offer to look again."""
    if cache.add("loopwatch:asked-to-look", 1, timeout=_LOOK_EVERY):
        _send(LOOK)


# --- trying ----------------------------------------------------------------------------------


def ask_to_try(name: str) -> Agent:
    """Have a worker try it; the row says how that goes, also where no worker could be asked.
    Raises Conflict while it is being tried."""
    with transaction.atomic():
        agent = Agent.objects.select_for_update().filter(name=name).first() or get_agent(name)
        if trying.is_under_way(agent):
            raise Conflict(f"{name} is being tried already; its answer is shown when it is there.")
        waiting = Trial(state="waiting", id=randomness.token_hex(8))
        agent.trial, agent.tried_at = waiting.to_json(), moment.now()
        agent.save(update_fields=["trial", "tried_at"])
    if not _send(TRY, name):
        sentence = "No worker could be asked: the broker does not answer."
        trying.put(agent, replace(waiting, state="failed", fault="cannot_start", sentence=sentence))
    trying.changed()
    return agent


# --- roles -----------------------------------------------------------------------------------


def proposals() -> dict[str, str]:
    """Role -> name of the agent that the form of a new session proposes for it."""
    return dict(RoleDefault.objects.values_list("role", "agent__name"))


def propose(agents: Mapping[str, str]) -> None:
    """agents: role -> name of an agent, "" for none. Roles that are not named stay as they are."""
    with transaction.atomic():
        for role, name in agents.items():
            if role not in set(Role):
                raise Invalid(f"{role!r} is no role; the roles are {', '.join(Role)}.")
            if not name:
                RoleDefault.objects.filter(role=role).delete()
            else:
                agent = get_agent(name)
                RoleDefault.objects.update_or_create(role=role, defaults={"agent": agent})


def free_name(adapter: str) -> str:
    """A name for a new agent of the adapter: its own, or with a number behind it."""
    taken = set(Agent.objects.filter(name__startswith=adapter).values_list("name", flat=True))
    names = [adapter, *(f"{adapter}-{number}" for number in range(2, len(taken) + 2))]
    return next(name for name in names if name not in taken)


def add_found(name: str, *, logins: tuple[str, ...] = ()) -> Agent:
    """An agent of a CLI that was found on PATH, with its own defaults, unless there is one."""
    if name not in CLIS:
        raise NotFound(f"There is no coding CLI {name!r}; known are {', '.join(CLIS)}.")
    there = Agent.objects.filter(adapter=name).order_by("pk").first()
    if there is not None and not logins:
        return there
    settings = there.settings if there else {"adapter": name}
    called = there.name if there else free_name(name)
    return services.save_agent(called, {**settings, "logins": list(logins)})


def _send(task: str, *args: str) -> bool:
    try:
        current_app.send_task(task, args=list(args))
    except (RedisError, OperationalError, OSError):
        return False
    return True
