"""The head of a session's page: its state with the reason and the age of its evidence, and what
a person can do now."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from loops.agents.confine import Confinement, confinement
from loops.engine.lifecycle import By, Move, moves
from loops.engine.values import Pattern, State
from loops.forms import MoveForm, StopForm
from loops.models import Session
from loops.pages.acting import ActionsPart, Command, MoveStep, StopStep
from loops.pages.session import StatusPart
from loops.pages.states import PATTERN_NAMES, role_word, state_chip
from loops.reading import links, whereabouts
from loops.reading.reading import Reading
from loops.reading.waiting import ahead_of, waits_for
from tracker.errors import Invalid
from tracker.pages.atoms import Act, CheckLine, Link
from tracker.pages.words import listed, moment, plural

QUIET_AFTER = timedelta(seconds=60)
EXPOSED = (
    "This agent could act as you: no sandbox hides the data folder from it on this machine. "
    "Install bubblewrap, or run only agents that you trust."
)


def status_part(reading: Reading) -> StatusPart:
    session = reading.session
    silence = reading.now - reading.said_at if reading.said_at else timedelta(0)
    chip = state_chip(
        reading.state,
        end=reading.end,
        held_until=moment(reading.local(session.held_until), reading.now)
        if _is_held(reading)
        else "",
        is_quiet=reading.running is not None and silence > QUIET_AFTER,
        is_responding=not _is_lost(reading),
    )
    evidence = _evidence(reading)
    return StatusPart(
        ref=session.ref,
        title=title(session),
        chip=replace(chip, loud=True),
        project=Link(reading.project.name, links.tracker(reading.project)),
        branch=f"loopwatch/{session.ref}" if session.started_at else "",
        evidence=evidence or "Output",
        evidence_at=None if evidence else reading.said_at,
        facts=_facts(reading),
        exposed=exposed(),
    )


def title(session: Session) -> str:
    """First line of the goal, else what the session is about."""
    goal = session.goal.strip()
    if goal:
        first = goal.splitlines()[0]
        return first if len(first) <= 80 else f"{first[:79]}…"
    chosen = [*session.scope.get("documents", ()), *session.scope.get("requirements", ())]
    return listed(chosen) if chosen else "The whole spec"


def exposed() -> str:
    """The sentence of RULES 5 where no sandbox hides the data folder from agents, else ""."""
    try:
        return EXPOSED if confinement() is Confinement.SHIM else ""
    except Invalid as fault:
        return str(fault)


def _is_held(reading: Reading) -> bool:
    until = reading.session.held_until
    return until is not None and until > reading.now


def _is_lost(reading: Reading) -> bool:
    until = reading.session.lease_until
    return until is not None and until < reading.now


def _evidence(reading: Reading) -> str:
    """What the state rests on; "" where the age of the newest output says it."""
    if reading.state in (State.RUNNING, State.PAUSING):
        if whereabouts.is_lost(reading.session):
            return waits_for(reading)
        if _is_lost(reading):
            return "Its worker is silent; the step is repeated when the engine has taken over"
        if reading.running is None:
            return waits_for(reading)
        return "" if reading.said_at else "No output yet"
    if reading.state is State.QUEUED:
        return waits_for(reading)
    if reading.is_ended and reading.session.ended_at:
        return f"Ended {moment(reading.local(reading.session.ended_at), reading.now)}"
    last = reading.last_move
    if last is None:
        return "Nothing runs until it is started"
    by = "" if last.by == "engine" else f" by {last.by}"
    return f"Since {moment(reading.local(last.at), reading.now)}{by}"


def _facts(reading: Reading) -> tuple[str, ...]:
    session = reading.session
    at, verb = (
        (session.started_at, "Started") if session.started_at else (session.created_at, "Made")
    )
    since = f"{verb} {moment(reading.local(at), reading.now)} by {session.created_by}"
    return *_team(reading), since, *whereabouts.facts(reading)


def _team(reading: Reading) -> tuple[str, ...]:
    """Who takes part; in the patterns with verifiers by the pattern's name and their number."""
    if reading.pattern is Pattern.SINGLE_THREAD:
        return (", ".join(role_word(role) for role in reading.roles),)
    pool, verifiers = len(reading.pool), len(reading.verifiers)
    team = [plural(pool, "worker")] if pool else []
    team.append(plural(verifiers, "verifier"))
    return PATTERN_NAMES[reading.pattern], ", ".join(team)


def actions_part(reading: Reading, *, may_steer: bool) -> ActionsPart:
    """may_steer: False for viewers, who get links only."""
    if reading.is_ended:
        again = f"{links.NEW_SESSION}?project={reading.project.name}"
        act = Act(text="New session", href=again, icon="plus")
        return ActionsPart(links=(act,) if may_steer else ())
    if not may_steer:
        return ActionsPart()
    file = Act(text="File", href=f"{links.tracker(reading.project)}?file=task", icon="plus")
    allowed = moves(reading.state, By.OPERATOR)
    stop = _stop(reading) if Move.STOP in allowed else None
    commands, move = _commands(reading, allowed), _move(reading)
    return ActionsPart(links=(file,), commands=commands, stop=stop, move=move)


def _move(reading: Reading) -> MoveStep | None:
    session = reading.session
    if not whereabouts.may_move(session):
        return None
    running = reading.running
    cut = f"Iteration {running.number} counts as interrupted and is repeated. " if running else ""
    return MoveStep(
        post=f"{links.session(session.pk)}move/",
        question=f"Go on without host {session.host}?",
        sentence=f"{cut}{session.ref} goes on from {whereabouts.origin(session)}. Should "
        f"{session.host} come back, it does nothing to {session.ref} any more.",
        form=MoveForm(hosts=whereabouts.targets(session)),
        button=f"Move {session.ref}",
    )


def _commands(reading: Reading, allowed: tuple[Move, ...]) -> tuple[Command, ...]:
    base = links.session(reading.session.pk)
    after = f"after {reading.running.number}" if reading.running else ""
    known = {
        Move.START: Command(post=f"{base}start/", word="Start", icon="play", primary=True),
        Move.PAUSE: Command(post=f"{base}pause/", word="Pause", icon="pause", more=after, key="p"),
        Move.RESUME: Command(
            post=f"{base}resume/", word="Resume", icon="play", primary=True, key="p"
        ),
        Move.STEP: Command(
            post=f"{base}step/",
            word="Step",
            icon="commit",
            title="One iteration, then paused again",
        ),
    }
    return tuple(known[move] for move in allowed if move in known)


def _stop(reading: Reading) -> StopStep:
    ref, running = reading.session.ref, reading.running
    cut = f"Iteration {running.number} is cut off; what it changed stays. " if running else ""
    return StopStep(
        post=f"{links.session(reading.session.pk)}stop/",
        question=f"Stop {ref} now?",
        sentence=f"{cut}The branch is kept and nothing is pushed. The agent and all its child "
        "processes are gone before it shows as stopped. A stopped session cannot be resumed.",
        lines=_left_behind(reading),
        form=StopForm(),
        button=f"Stop {ref}",
    )


def _left_behind(reading: Reading) -> tuple[CheckLine, ...]:
    lines = []
    keys = reading.facts.blockers
    if keys:
        are = "stays" if len(keys) == 1 else "stay"
        words = f"{plural(len(keys), 'entry', 'entries')} {are} open"
        lines.append(CheckLine(tone="off", icon="bug", text=words, fact=listed(keys)))
    behind = ahead_of(reading.session, them=False).first()
    if behind is not None and reading.session.holds_project:
        words = f"{behind.ref} starts next"
        lines.append(
            CheckLine(tone="off", icon="queued", text=words, fact="it waits for the project")
        )
    return tuple(lines)
