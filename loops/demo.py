"""`up --demo`: a project, its requirements and one started session that needs no API key."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import transaction

from loops import demo_source, services
from loops.agents import ruff_demo
from loops.agents.ruff_demo import findings
from loops.agents.scripted.tools import Failed
from loops.engine.values import State
from loops.models import Agent, Session
from tracker import services as tracker
from tracker.errors import Conflict, Invalid
from tracker.models import Project
from tracker.services import By

NAME = "demo"
DOCUMENT = "code-style"
# Each line names the rules of ruff that decide it; the demo's agents read nothing else of it.
REQUIREMENTS = (
    "Imports are sorted and grouped (I001).\nNo name is imported and not used (F401).",
    "Text is put together with f-strings, not with str.format (UP032).",
    "An error raised while another one is handled names its cause:\n"
    "raise ... from the caught error, or from None (B904).",
    "An else after a return is left out (RET505).\nSo is an else after a raise (RET506).",
)
ROLES = ("worker", "reviewer", "coach")


def ensure_demo(by: By) -> Session:
    """The demo's session, made and started unless that was done before. Whatever has become of it
    since, a second call changes nothing.

    Raises Invalid or Conflict with a sentence: no ruff, no git, or another project named "demo".
    """
    repository = settings.DATA / "demo" / "repo"
    project = Project.objects.filter(name=NAME).first()
    if project is not None and project.repo_path != str(repository):
        raise Conflict(
            f"There is a project named {NAME} that is not the demo: {project.repo_path}. "
            "Start without --demo, or with another data folder."
        )
    session = Session.objects.filter(project=project).order_by("pk").first() if project else None
    if session is None:
        _refuse_without_ruff()
        demo_source.build(repository)
        session = _create(str(repository), by)
    if session.state == State.DRAFT.value:
        services.start(session, by)
        session.refresh_from_db()
    return session


def _refuse_without_ruff() -> None:
    try:
        findings.command()
    except Failed as failure:
        raise Invalid(str(failure)) from None


def _create(repository: str, by: By) -> Session:
    with transaction.atomic():
        project = tracker.create_project(name=NAME, repo_path=repository, by=by)
        for text in REQUIREMENTS:
            tracker.edit_requirement(project, None, text=text, document=DOCUMENT, by=by)
        return services.create_session(project, by=by, config=_config())


def _config() -> dict[str, Any]:
    """Short limits, and a coach early enough to be seen."""
    agents = {}
    for role in ROLES:
        agent = {"argv": ruff_demo.argv(role), "wall_seconds": 300, "silence_seconds": 120}
        agents[role] = {"adapter": "command", "prompt": "stdin", **agent}
        Agent.objects.update_or_create(
            name=f"{NAME}-{role}", defaults={"adapter": "command", "settings": agent}
        )
    return {
        "pattern": "single_thread",
        "limits": {"iterations": 40, "wall_seconds": 3600, "no_progress": 6},
        "review_every": 3,
        "coach_every": 5,
        "agents": agents,
    }
