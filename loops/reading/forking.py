"""The form of a fork with its bound, and the line that joins a session to parent and forks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from loops import configuration, forks, stage
from loops.engine.values import Outcome, Pattern, Role, State
from loops.forks import Point
from loops.forms import ForkForm
from loops.models import Agent, Session
from loops.pages.forking import Difference, ForkPage, LineagePart
from loops.pages.new_session import BoundPart, PreflightPart
from loops.pages.states import POSSIBLE_ENDS, end_chip, outcome_chip, role_word
from loops.reading import links
from loops.reading.budgets import agent_name
from loops.reading.head import title
from loops.reading.past import fold_at
from loops.reading.reading import Reading
from loops.services import agent_config
from tracker.errors import DomainError
from tracker.models import Project
from tracker.pages.atoms import Act, CheckLine, Link, met, unmet
from tracker.pages.words import duration, moment, money, quantity

_MOST_FORKS = 12


def fork_form(session: Session, data: Mapping[str, Any] | None = None) -> ForkForm:
    limits = session.config["limits"]
    names = Agent.objects.order_by("name").values_list("name", flat=True)
    return ForkForm(
        data,
        players=[(who, label, agent_name(frozen)) for who, label, frozen in _players(session)],
        agents=[(name, name) for name in names],
        initial={
            "iterations": limits["iterations"],
            "minutes": math.ceil(limits["wall_seconds"] / 60),
            "no_progress": limits["no_progress"],
            "tokens": limits["tokens"],
            "money": limits["money"],
            "no_tokens": limits["tokens"] is None,
            "no_money": limits["money"] is None,
        },
    )


def _players(session: Session) -> list[tuple[str, str, dict[str, Any]]]:
    """(name, label, settings) of everybody who plays in the session."""
    config = session.config
    found = [(role, role_word(Role(role)), agent) for role, agent in config["agents"].items()]
    for kind, word in (("pool", "Worker"), ("verifiers", "Verifier")):
        found += [
            (one["name"], f"{word} {one['name']}", one["agent"]) for one in config.get(kind, ())
        ]
    return found


def fork_page(session: Session, point: Point, form: ForkForm) -> ForkPage:
    reading, one = Reading(session), point.iteration
    here = links.fork(session.pk, one.number)
    ended = reading.local(one.ended_at or one.started_at)
    return ForkPage(
        ref=session.ref,
        title=title(session),
        session=Link(session.ref, links.session(session.pk)),
        iteration=Link(f"Iteration {one.number}", links.history(session.pk, one.number)),
        number=one.number,
        chip=outcome_chip(Outcome(one.outcome) if one.outcome else None),
        since=moment(ended, reading.now),
        form=form,
        post=here,
        update=here.replace("fork/", "fork/before/"),
        bound=bound_part(session, point, form),
        preflight=_preflight(session, point),
        ends=tuple(
            replace(end_chip(end), loud=False) for end in POSSIBLE_ENDS[Pattern(session.pattern)]
        ),
        differences=told(session.project, forks.differences(session, point)),
        taken=(
            f"tree {one.rev[:7]} on commit {one.head[:7]}",
            f"the log up to entry {point.seq}",
            "scope, goal and done script",
        ),
        left=("counters and streak", "what was spent", "marks and entries of its own"),
    )


def told(project: Project, found: tuple[Any, ...]) -> tuple[Difference, ...]:
    return tuple(Difference(_page_of(project, one.key), one.text) for one in found)


def _page_of(project: Project, key: str) -> Link:
    if key.startswith("R-"):
        return links.requirement(project, key)
    is_entry = "-" in key
    return links.entry(project, key) if is_entry else Link(key, links.spec(project))


# --- bound and preflight -------------------------------------------------------------------------


def bound_part(session: Session, point: Point, form: ForkForm) -> BoundPart:
    """From the form as it stands; what is wrong in it counts as the parent's."""
    try:
        is_usable = form.is_bound and form.is_valid()
        raw = changed(session, form) if is_usable else session.config
        config = configuration.parse(raw)
    except DomainError:
        config = configuration.parse(session.config)
    fold = fold_at(session, point.seq)
    for entry in forks.begin(session, point, config):
        fold.apply(entry, session)
    number = fold.controller.at_most(fold.state)
    limits = config.limits
    tokens = f"at most {quantity(limits.tokens)}" if limits.tokens else "not bounded"
    dollars = f"at most {money(limits.money)}" if limits.money else "not bounded"
    return BoundPart(
        number=number,
        unit="iteration",
        formula=f"of its own; the iterations of {session.ref} do not count",
        rows=(
            ("Time", f"at most {duration(limits.wall_seconds)}"),
            ("Without a change", f"{limits.no_progress} in a row"),
            ("Tokens", tokens),
            ("Money", dollars),
        ),
    )


def changed(session: Session, form: ForkForm) -> dict[str, Any]:
    """The configuration that a valid form makes of the session's. Raises Invalid, NotFound."""
    return forks.changed_config(session.config, form.limits(), agents_of(form))


def agents_of(form: ForkForm) -> dict[str, dict[str, Any]]:
    return {who: agent_config(name) for who, name in form.agents().items()}


def _preflight(session: Session, point: Point) -> PreflightPart:
    refusal = stage.lacks(session, point.base.rev, point.base.head)
    ahead = _ahead(session.project)
    lines: list[CheckLine] = []
    if refusal:
        lines.append(unmet(refusal))
    else:
        lines.append(met("The recorded tree is there", fact=point.base.rev[:7]))
        sub = "What was changed there since is not looked at."
        lines.append(CheckLine(tone="off", icon="branch", text="The source is not needed", sub=sub))
    if ahead is not None:
        sub = f"The fork starts when {ahead.ref} ends."
        text = f"{ahead.ref} holds this project"
        lines.append(CheckLine(tone="warn", icon="clock", text=text, sub=sub))
    button = f"Queue fork behind {ahead.ref}" if ahead else "Start fork"
    return PreflightPart(
        lines=tuple(lines),
        button="Not ready to fork" if refusal else button,
        can_start=not refusal,
    )


def _ahead(project: Project) -> Session | None:
    """The last of those that a new session waits for."""
    queued = Session.objects.filter(project=project, state=State.QUEUED.value)
    active = Session.objects.filter(project=project, holds_project=True)
    return queued.order_by("-pk").first() or active.first()


# --- on the session's page -----------------------------------------------------------------------


def lineage_part(reading: Reading) -> LineagePart | None:
    """None for a session that is no fork and has none."""
    session = reading.session
    children = session.forks.order_by("-pk")[: _MOST_FORKS + 1]
    forks_of = tuple(
        Link(f"{child.ref} after {child.forked_at}", links.session(child.pk))
        for child in children[:_MOST_FORKS]
    )
    if session.forked_from is None or session.forked_at is None:
        return LineagePart(forks=forks_of) if forks_of else None
    parent, number = session.forked_from, session.forked_at
    point = forks.point_of(parent, number)
    found = forks.differences(parent, point, until=session.created_at)
    return LineagePart(
        forked=f"Forked from {parent.ref} after iteration {number}; its spending stays there.",
        acts=(
            Act(text=f"{parent.ref} then", href=links.history(parent.pk, number)),
            Act(text="Compare", href=links.compare(parent.pk, session.pk)),
        ),
        differences=told(reading.project, found),
        forks=forks_of,
    )
