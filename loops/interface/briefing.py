"""What an iteration's agent is told: the tracker's rows as values for `engine.prompts`."""

from __future__ import annotations

from dataclasses import dataclass

from loops.engine.prompts import ENTRIES, Entry, Guidance, PromptInput, Requirement
from loops.engine.values import Role
from loops.interface import entries
from loops.interface.context import Context
from loops.interface.proof import lost_fixes, missing_marks
from tracker import services
from tracker.engine.rules import BLOCKING, UNJUDGED, WORK, State, Verb
from tracker.facts import Facts, facts
from tracker.models import Bug
from tracker.scope import Scope

STATES = {
    Role.WORKER: BLOCKING,
    Role.REVIEWER: BLOCKING | UNJUDGED,
    Role.COACH: frozenset(State) - {State.CLOSED},
}
"""What is open in the eyes of a role: its list and its prompt."""
LOST = "its commit is not in HEAD: reopen it"


@dataclass(frozen=True, slots=True)
class _Told:
    """What the tracker alone says; right as long as `now` is what `facts` returns."""

    now: Facts
    goal: str
    requirements: tuple[Requirement, ...]
    entries: tuple[Entry, ...]
    guidance: Guidance | None


_CACHE_SIZE = 64
_cache: dict[tuple[int, Scope, str, Role], _Told] = {}


def brief(
    context: Context,
    *,
    notes: tuple[str, ...] = (),
    decisions: tuple[str, ...] = (),
    history: tuple[str, ...] = (),
    instruction_files: tuple[str, ...] = (),
    shorter: bool = False,
) -> PromptInput:
    """Return all that the prompt of this iteration is made of; one query if nothing was written.

    notes, decisions, history, instruction_files, shorter: as in PromptInput.
    """
    told = _told(context)
    is_review = context.role is Role.REVIEWER
    return PromptInput(
        role=context.role,
        session=context.session_ref,
        iteration=int(context.reference.rpartition("/")[2]),
        goal=told.goal,
        requirements=told.requirements,
        entries=_with_lost(context, told) if is_review else told.entries,
        marks_missing=missing_marks(told.now, context.blob) if is_review else (),
        guidance=told.guidance,
        notes=notes,
        decisions=decisions,
        history=history,
        check=context.project.check_command,
        workdir=context.project.subpath,
        instruction_files=instruction_files,
        shorter=shorter,
    )


def _told(context: Context) -> _Told:
    now = facts(context.project, context.scope, context.session_ref)
    key = (context.project.pk, context.scope, context.session_ref, context.role)
    known = _cache.get(key)
    if known is not None and known.now is now:
        return known
    if len(_cache) >= _CACHE_SIZE:
        _cache.clear()
    _cache[key] = told = _read(context, now)
    return told


def _read(context: Context, now: Facts) -> _Told:
    goal = context.project.requirements.filter(
        session_ref=context.session_ref, removed_at=None
    ).first()
    guidance = services.current_guidance(context.project)
    found = services.bugs(
        context.project,
        context.scope,
        context.session_ref,
        states=STATES[context.role],
        kinds=None if context.role is Role.COACH else WORK,
        role=context.role.value,
    )
    return _Told(
        now=now,
        goal=goal.key if goal and context.session_ref else "",
        requirements=tuple(
            Requirement(
                key=each.key,
                version=each.version,
                document=each.document,
                lines=tuple(each.text.split("\n")),  # as engine.citations counts them
            )
            for each in now.requirements
        ),
        entries=tuple(_entry(bug, context.role) for bug in found),
        guidance=Guidance(guidance.number, guidance.text) if guidance and guidance.text else None,
    )


def _entry(bug: Bug, role: Role, note: str = "") -> Entry:
    return Entry(
        key=bug.key,
        kind=bug.kind,
        state=bug.state,
        priority=bug.priority,
        title=bug.title,
        cites=entries.cites(bug),
        quote=bug.quote,
        contradiction=bug.contradiction,
        place=bug.place,
        text=bug.text,
        commit=bug.commit,
        unjudged=role is Role.REVIEWER and (bool(note) or bug.state in UNJUDGED),
        note=note or _last_words(bug),
    )


def _last_words(bug: Bug) -> str:
    """Why it was reopened, or what a person answered when it was blocked."""
    if bug.state not in (State.OPEN, State.REOPENED):
        return ""
    wanted = (Verb.REOPEN.value, Verb.UNBLOCK.value)
    last = bug.moves.filter(verb__in=wanted).select_related("actor").order_by("-id").first()
    return entries.move_line(last).removeprefix("- ") if last else ""


def _with_lost(context: Context, told: _Told) -> tuple[Entry, ...]:
    """The entries, with those whose fix is not in HEAD as the first to judge."""
    lost = lost_fixes(told.now, context.is_missing)[:ENTRIES]
    marked = [_entry(services.get_bug(context.project, key), Role.REVIEWER, LOST) for key in lost]
    return (*marked, *(entry for entry in told.entries if entry.key not in lost))
