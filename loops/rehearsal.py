"""A dry run: what a start would do now, by the same code, and nothing of it kept.

The session is made and its first prompt built inside a transaction that is always rolled back, so
no row, no message and no wake-up is left, and no agent is called. PostgreSQL gives no number twice,
so there a dry run uses up a session's number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from loops import briefing, configuration, criteria, services, stage
from loops.configuration import SessionConfig
from loops.engine import controllers
from loops.engine.values import (
    AskHuman,
    Choice,
    Configured,
    Decided,
    Directive,
    Finish,
    Kind,
    Opened,
    RunRole,
)
from loops.models import Session
from loops.sight import Sight, scope_of
from tracker.facts import facts
from tracker.models import Project
from tracker.scope import Scope
from tracker.services import By

_BASE = "base"  # stands for the tree's hash, which is not known before the clone is there


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """first: the directive that the controller would issue. turn: the first role's turn, which
    comes after a person's yes where `first` is a question; None: it ends without one. prompt: what
    that role would read."""

    config: SessionConfig
    first: Directive
    turn: RunRole | None
    prompt: str


def rehearse(
    project: Project,
    *,
    by: By,
    config: dict[str, Any],
    goal: str,
    scope: Scope,
    look: dict[str, Any],
) -> Rehearsal:
    """look: what stage.preflight found a moment ago. Raises Invalid, as the start would."""
    with transaction.atomic():
        session = services.create_session(
            project, by=by, config=config, goal=goal, scope=scope, look=look
        )
        project.refresh_from_db()
        found = _first(session, project, look)
        transaction.set_rollback(True)
    project.refresh_from_db()
    return found


def _first(session: Session, project: Project, look: dict[str, Any]) -> Rehearsal:
    config = configuration.parse(session.config)
    controller = controllers.controller_of(session.pattern)
    entries = [Configured(1, config.engine()), _opened(session, project, look)]
    state = controllers.fold(config.engine(), entries)
    first = turn = controller.direct(state)
    if isinstance(first, AskHuman) and first.kind is Kind.GATE:
        allowed = Decided(seq=3, escalation=1, kind=Kind.GATE, choice=Choice.ALLOW)
        state = controller.apply(state, allowed)
        turn = controller.direct(state)
    if not isinstance(turn, RunRole):
        return Rehearsal(config=config, first=first, turn=None, prompt="")
    sight = Sight(session, stage.workspace_of(session))
    text = briefing.prompt(state, session, turn, sight, project)
    return Rehearsal(config=config, first=first, turn=turn, prompt=text)


def _opened(session: Session, project: Project, look: dict[str, Any]) -> Opened:
    """As the first claim will write it, but for the tree's hash and the script's word."""
    now = facts(project, scope_of(session), session.ref)
    opened = Opened(
        seq=2,
        base_rev=_BASE,
        base_head=str(look.get("head", "")),
        spec=now.spec,
        blockers=now.blockers,
        unjudged=now.unjudged,
        blocked=now.blocked,
    )
    return replace(opened, criteria=criteria.frozen(session, now))


def in_words(rehearsal: Rehearsal) -> tuple[str, str]:
    """(rule, sentence) of the first directive."""
    match rehearsal.first:
        case RunRole(rule=rule, role=role, agent=agent, reason=reason):
            who = f"{role.value} {agent}".rstrip()
            return rule, f"Run the {who}: {reason}."
        case AskHuman(rule=rule, question=question):
            return rule, f"Ask a person: {question}"
        case Finish(rule=rule, sentence=sentence):
            return rule, f"End: {sentence}"
