"""What people can do to sessions. Every door (command line, forms, API) calls these verbs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from django.db import transaction

from loops import (
    configuration,
    independence,
    journal,
    ledger,
    live,
    moment,
    secrets,
    stage,
    uptake,
    wake,
)
from loops.engine import controllers
from loops.engine.lifecycle import Move
from loops.engine.values import Configured, State
from loops.models import Agent, Answer, Session
from loops.points import point
from loops.snapshots import Fold
from tracker import services as tracker
from tracker.errors import Conflict, Invalid, NotFound
from tracker.models import Project
from tracker.scope import Scope
from tracker.services import By


def get_session(session_id: int) -> Session:
    session = Session.objects.select_related("project").filter(pk=session_id).first()
    if session is None:
        raise NotFound(f"There is no session S-{session_id}.")
    return session


def create_session(
    project: Project,
    *,
    by: By,
    config: dict[str, Any],
    goal: str = "",
    scope: Scope | None = None,
    look: dict[str, Any] | None = None,
) -> Session:
    """A draft with frozen configuration; the goal becomes a requirement that the session owns.

    look: what stage.preflight found in the project a moment ago; None: start looks itself.
    """
    parsed = configuration.parse(config)
    configuration.refuse_unpriced(parsed, priced=ledger.are_priced(parsed))
    independence.refuse_own_judges(parsed)
    scope = scope or Scope()
    tracker.check_scope(project, scope)
    with transaction.atomic():
        session = Session.objects.create(
            project=project,
            pattern=parsed.pattern,
            goal=goal,
            config=parsed.model_dump(mode="json"),
            scope=scope.to_json(),
            preflight=look,
            created_by=str(by.actor),
            created_at=moment.now(),
        )
        if goal.strip():
            tracker.edit_requirement(project, None, text=goal, by=by, session_ref=session.ref)
        if not tracker.requirements(project, scope, session.ref):
            raise Invalid(
                "There is nothing to prove: give the session a goal, or a scope with a requirement."
            )
        live.session_changed(session.pk, project.pk, live.STATE)
    return session


def check(session: Session) -> dict[str, Any]:
    """Look at the repository as the start will find it; runs `prepare` and `check`. Slow."""
    result = stage.preflight(session.project, scratch=str(session.pk))
    Session.objects.filter(pk=session.pk).update(preflight=result)
    session.preflight = result
    live.session_changed(session.pk, session.project_id, live.STATE)
    return result


def look_at(project: Project) -> dict[str, Any]:
    """As check(), before there is a session: what a start on this project will find. Slow."""
    return stage.preflight(project, scratch=f"look-{project.pk}-{uuid4().hex[:8]}")


def start(session: Session, by: By) -> None:
    """draft -> queued, if the last look at the repository refused nothing."""
    look = session.preflight or check(session)
    if look["refusals"]:
        raise Conflict(f"{session.ref} cannot start. " + " ".join(look["refusals"]))
    config = configuration.parse(session.config).engine()
    with transaction.atomic():
        _project, locked = journal.lock(session.pk)
        at = moment.now()
        journal.move(locked, Move.START, by=str(by.actor), at=at)
        kind, payload = controllers.entry_to_json(Configured(0, config))
        journal.append(locked, kind, payload, at)
        wake.wake_on_commit(session.pk)
    point("started")


def launch(
    project: Project,
    *,
    by: By,
    config: dict[str, Any],
    goal: str = "",
    scope: Scope | None = None,
    look: dict[str, Any] | None = None,
) -> Session:
    """Look at the repository, then make a session and start it. A refusal leaves nothing behind, no
    draft either.

    look: what look_at() found a moment ago; None: it looks itself, which is slow.
    """
    configuration.parse(config)
    tracker.check_scope(project, scope or Scope())
    look = look or look_at(project)
    if look["refusals"]:
        raise Conflict("No session was started. " + " ".join(look["refusals"]))
    with transaction.atomic():
        session = create_session(project, by=by, config=config, goal=goal, scope=scope, look=look)
        start(session, by)
    session.refresh_from_db()
    return session


def pause(session: Session, by: By) -> None:
    """After the iteration that runs now."""
    _command(session, Move.PAUSE, by)


def resume(session: Session, by: By) -> None:
    _command(session, Move.RESUME, by)


def step(session: Session, by: By) -> None:
    """One iteration, then paused again."""
    _command(session, Move.STEP, by, stepping=True)


def stop(session: Session, by: By, *, reason: str = "") -> None:
    """Cut off what runs and end the session as stopped; what was changed stays on its branch.

    reason: the person's words, kept in the history.
    """
    with transaction.atomic():
        _project, locked = journal.lock(session.pk)
        journal.move(locked, Move.STOP, by=str(by.actor), at=moment.now(), note=reason)
        if locked.lease_until is None:
            uptake.end_as_stopped(locked)


def _command(session: Session, event: Move, by: By, **fields: Any) -> None:
    with transaction.atomic():
        _project, locked = journal.lock(session.pk)
        journal.move(locked, event, by=str(by.actor), at=moment.now(), **fields)
        wake.wake_on_commit(session.pk)


def answer(
    session: Session, *, decision: int, payload: dict[str, Any], is_last: bool, by: By
) -> None:
    """A person's decision, in the transaction that makes it. is_last: no other question blocks.

    Raises Conflict when the session is over: a stale answer reaches nobody.
    """
    with transaction.atomic():
        _project, locked = journal.lock(session.pk)
        if locked.state in (State.ENDED.value, State.STOPPING.value):
            raise Conflict(f"{session.ref} has ended; there is nothing left to answer.")
        _refuse_unfoldable(locked, payload)
        at = moment.now()
        Answer.objects.create(session=locked, decision=decision, payload=payload, at=at)
        if is_last and locked.state == State.WAITING_HUMAN.value:
            journal.move(locked, Move.LAST_DECIDED, by=str(by.actor), at=at)
        transaction.on_commit(lambda: _take_up_and_wake(session.pk))


def reconfigure(
    session: Session, by: By, *, agents: Mapping[str, str], limits: Mapping[str, float | None]
) -> None:
    """A new configuration version, in force from the next step and logged (RULES 1).

    agents: role, worker of the pool or verifier -> name of a stored agent. limits: name -> the new
    number, None for an explicit none. Raises Invalid when nothing changes or it cannot be used.
    """
    with transaction.atomic():
        _project, locked = journal.lock(session.pk)
        if locked.state in (State.DRAFT.value, State.ENDED.value, State.STOPPING.value):
            raise Conflict(f"{session.ref} does not run; its configuration cannot change now.")
        raw = configuration.changed(
            locked.config, {who: agent_config(name) for who, name in agents.items()}, limits
        )
        parsed = configuration.parse(raw)
        configuration.refuse_unpriced(parsed, priced=ledger.are_priced(parsed))
        independence.refuse_own_judges(parsed)
        kind, payload = controllers.entry_to_json(Configured(0, parsed.engine()))
        journal.append(locked, kind, payload, moment.now())
        config = parsed.model_dump(mode="json")
        Session.objects.filter(pk=locked.pk).update(config=config)
        session.config = config


def _refuse_unfoldable(session: Session, payload: dict[str, Any]) -> None:
    """A log entry that the controller cannot fold would end the session; it is refused first."""
    fold = Fold.load(session)
    try:
        entry = controllers.entry_from_json(fold.seq + 1, "decided", payload)
        fold.controller.apply(fold.state, entry)
    except ValueError as fault:
        raise Invalid(f"{session.ref} cannot take that decision: {fault}") from None


def _take_up_and_wake(session_id: int) -> None:
    point("answered")
    uptake.take_up(session_id)
    wake.wake(session_id)


def save_agent(name: str, settings: dict[str, Any]) -> Agent:
    """Add or replace. Sessions that run keep the copy they were started with; what a try of other
    settings said counts no more."""
    if not configuration.NAME.fullmatch(name):
        raise Invalid(f"{name!r} is no name for an agent: use small letters, digits and dashes.")
    checked = configuration.parse_agent(settings)
    for secret in secrets.named(checked):
        secrets.find(secret)
    agent, is_new = Agent.objects.get_or_create(
        name=name, defaults={"adapter": checked["adapter"], "settings": checked}
    )
    if not is_new and agent.settings != checked:
        agent.adapter, agent.settings = checked["adapter"], checked
        agent.trial = agent.tried_at = None
        agent.save(update_fields=["adapter", "settings", "trial", "tried_at"])
    return agent


def agent_config(name: str) -> dict[str, Any]:
    """A copy of a stored agent's settings, for a session's configuration."""
    agent = Agent.objects.filter(name=name).first()
    if agent is None:
        known = ", ".join(Agent.objects.order_by("name").values_list("name", flat=True)) or "none"
        raise NotFound(f"There is no agent {name!r}; known are: {known}.")
    return dict(agent.settings)
