"""What a change of tracker or spec does to the loops: said before it is sent, and after.

A human event (RULES 4) sets the done streak to 0 and voids the clean review at once; what changed
is read with the prompt of the next iteration. In the patterns with verifiers an edited requirement
makes the criteria out of date; entries of the tracker are no condition of their end.
"""

from __future__ import annotations

from dataclasses import dataclass

from loops.engine.endings import DONES_NEEDED
from loops.engine.values import Pattern, State
from loops.models import Iteration, Session
from loops.reading import links
from loops.sight import scope_of
from loops.snapshots import Fold, LogUnusable
from tracker.engine.rules import Verb
from tracker.models import Bug, Move, Project, Requirement
from tracker.pages.atoms import CheckLine, Link, met
from tracker.pages.filing import Effect
from tracker.scope import Scope, bugs_in

_STANDS = {
    State.DRAFT: "It is a draft",
    State.QUEUED: "It waits for its turn",
    State.PAUSING: "It pauses after this iteration",
    State.PAUSED: "It is paused and reads it when it goes on",
    State.WAITING_HUMAN: "It waits for a decision and reads it when it goes on",
}


@dataclass(frozen=True, slots=True)
class Loop:
    """A session that reads what changes. running: number of the iteration in flight, 0 = none.

    reads_with: number of the iteration that reads a change made now. is_judged: its pattern has
    verifiers and no done streak.
    """

    ref: str
    href: str
    state: State
    scope: Scope
    running: int
    reads_with: int
    streak: int
    has_clean_review: bool
    is_judged: bool = False

    @property
    def link(self) -> Link:
        return Link(self.ref, self.href)

    def hears(self, requirement: Requirement) -> bool:
        return self.scope.holds(
            key=requirement.key,
            document=requirement.document,
            owner=requirement.session_ref,
            session_ref=self.ref,
        )

    def sees(self, bug: Bug) -> bool:
        return Bug.objects.filter(bugs_in(self.scope, self.ref), pk=bug.pk).exists()

    def reads(self, what: str = "it") -> CheckLine:
        if self.running and self.state is State.RUNNING:
            sub = f"Iteration {self.running} runs on undisturbed"
        else:
            sub = _STANDS.get(self.state, "")
        return CheckLine(
            tone="off", icon="clock", text=f"{self.ref} reads {what} {self.moment}", sub=sub
        )

    @property
    def moment(self) -> str:
        return f"with iteration {self.reads_with}"

    def falls(self) -> CheckLine | None:
        """Return what a human event does to the proof so far; None before the start."""
        if self.state in (State.DRAFT, State.QUEUED) and not self.running and self.reads_with == 1:
            return None
        if self.is_judged:
            return None
        if self.streak:
            text = f"Its done streak goes back to 0 of {DONES_NEEDED}"
        else:
            text = f"Its done streak stays at 0 of {DONES_NEEDED}"
        if self.has_clean_review:
            sub = "Its last clean review is void; a new one is needed"
        else:
            sub = "A clean review is needed, as before"
        tone = "warn" if self.streak or self.has_clean_review else "off"
        return CheckLine(tone=tone, icon="undo", text=text, sub=sub)  # type: ignore[arg-type]

    def outdates(self) -> CheckLine | None:
        """Return what an edited requirement does to frozen criteria; None where there are none."""
        if not self.is_judged or (self.reads_with == 1 and not self.running):
            return None
        text = "Its criteria are out of date then"
        sub = "An attempt that meets them asks a person instead of ending it as done"
        return CheckLine(tone="warn", icon="warn", text=text, sub=sub)

    @property
    def fall_sentence(self) -> str:
        if self.is_judged:
            return "what its verifiers said stands"
        return "its streak goes back to 0" if self.streak else "its streak stays at 0"


def loops_of(project: Project) -> tuple[Loop, ...]:
    """Return the sessions that are not over, the one that holds the project first."""
    live = Session.objects.filter(project=project).exclude(
        state__in=(State.ENDED.value, State.STOPPING.value)
    )
    return tuple(_loop(session) for session in live.order_by("-holds_project", "pk"))


def _loop(session: Session) -> Loop:
    running = Iteration.objects.filter(session=session, ended_at=None)
    streak, clean = 0, False
    is_judged = session.pattern != Pattern.SINGLE_THREAD.value
    if session.log_seq and not is_judged:
        try:
            state = Fold.load(session).state
            streak, clean = state.streak, state.clean_review is not None
        except LogUnusable:
            pass  # the session's own page says so; nothing is claimed of its streak
    return Loop(
        ref=session.ref,
        href=links.session(session.pk),
        state=State(session.state),
        scope=scope_of(session),
        running=running.values_list("number", flat=True).first() or 0,
        reads_with=session.iteration_count + 1,
        streak=streak,
        has_clean_review=clean,
        is_judged=is_judged,
    )


def active(loops: tuple[Loop, ...]) -> Loop | None:
    """Return the loop that a project's pages speak of: never one that is still a draft."""
    return next((loop for loop in loops if loop.state is not State.DRAFT), None)


def filing_lines(loops: tuple[Loop, ...]) -> tuple[CheckLine, ...]:
    """Return what filing a task or a code bug will do."""
    lines: list[CheckLine] = []
    for loop in _heard(loops):
        lines.append(loop.reads())
        if not loop.scope.everything:
            lines.append(
                CheckLine(
                    tone="off",
                    icon="filter",
                    text=f"{loop.ref} has a scope",
                    sub="It does not see what cites a requirement outside of it",
                )
            )
        if fall := loop.falls():
            lines.append(fall)
    return tuple(lines) or (_nobody("It is kept for the next session"),)


def spec_bug_lines() -> tuple[CheckLine, ...]:
    return (
        CheckLine(
            tone="off",
            icon="lock",
            text="No loop reads it and it does not block done",
            sub="It waits on this board for a person",
        ),
    )


def saving_lines(
    project: Project, requirement: Requirement | None, version: int
) -> tuple[CheckLine, ...]:
    """Return what saving a version (or removing, version 0) does to the loops of the project."""
    lines: list[CheckLine] = []
    loops = _heard(loops_of(project))
    for loop in loops:
        if requirement is not None and not loop.hears(requirement):
            lines.append(met(f"{loop.ref} does not use {requirement.key}"))
            continue
        lines.append(_reads_version(loop, requirement, version))
        if fall := loop.falls() or loop.outdates():
            lines.append(fall)
    return tuple(lines) or (_nobody("The next session reads it from its start"),)


def _reads_version(loop: Loop, requirement: Requirement | None, version: int) -> CheckLine:
    if requirement is None:
        if loop.scope.everything:
            return loop.reads()
        documents = " or ".join(loop.scope.documents)
        return CheckLine(
            tone="off",
            icon="filter",
            text=f"{loop.ref} reads it only in {documents}"
            if documents
            else f"{loop.ref} does not read it: its scope names single requirements",
        )
    if not version:
        return CheckLine(
            tone="off", icon="clock", text=f"{loop.ref} drops {requirement.key} {loop.moment}"
        )
    line = loop.reads(f"v{version}")
    if loop.running and requirement.current:
        sub = f"Iteration {loop.running} finishes on v{requirement.current.number}"
        return CheckLine(tone=line.tone, icon=line.icon, text=line.text, sub=sub)
    return line


def _nobody(sub: str) -> CheckLine:
    return CheckLine(tone="off", icon="loops", text="No loop is running in this project", sub=sub)


def _heard(loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
    return tuple(loop for loop in loops if loop.state is not State.DRAFT)


def entry_effect(loops: tuple[Loop, ...], bug: Bug) -> Effect:
    """Return what each kind of write to `bug` does, in words."""
    seeing = [loop for loop in _heard(loops) if loop.sees(bug)]
    if not seeing:
        return Effect()
    resets = " ".join(
        f"{loop.ref} reads it {loop.moment}, {loop.fall_sentence}." for loop in seeing
    )
    names = ", ".join(loop.ref for loop in seeing)
    stays = "" if all(loop.is_judged for loop in seeing) else " The streak stays."
    keeps = f"{names} sees it with the next prompt.{stays}"
    answers = (
        f"{names} reads your answer {seeing[0].moment}. A question about it counts as decided."
    )
    return Effect(resets=resets, keeps=keeps, answers=answers)


def happened(loops: tuple[Loop, ...], bug: Bug, *, counts: bool) -> str:
    """Return what is now true of the loops after a write to `bug`. counts: a human event."""
    seeing = [loop for loop in _heard(loops) if loop.sees(bug)]
    if not counts:
        return " ".join(
            f"{loop.ref} sees it {loop.moment}{'' if loop.is_judged else '; its streak stays'}."
            for loop in seeing
        )
    return " ".join(f"{loop.ref} reads it {loop.moment}." for loop in seeing)


def saved(project: Project, requirement: Requirement, what: str) -> str:
    """Return what is now true of the loops after a version was saved."""
    hearing = [loop for loop in _heard(loops_of(project)) if loop.hears(requirement)]
    return " ".join(f"{loop.ref} reads {what} {loop.moment}." for loop in hearing)


def uses(project: Project, requirement: Requirement) -> dict[int, str]:
    """Return, per version number, which loop has it in a prompt or will read it (RULES 5)."""
    saved_at = _saved_at(requirement)
    notes: dict[int, list[str]] = {}
    current = requirement.current.number if requirement.current else 0
    for loop in _heard(loops_of(project)):
        if not loop.hears(requirement):
            continue
        last = (
            Iteration.objects.filter(session_id=int(loop.ref[2:]))
            .order_by("-number")
            .values_list("before", "number", "ended_at")
            .first()
        )
        used = 0
        if last is not None:
            seq = last[0].get("tracker_seq", 0)
            used = max((number for number, at in saved_at.items() if at <= seq), default=0)
            word = "in use by" if last[2] or used < current else "delivered to"
            notes.setdefault(used, []).append(f"{word} {loop.ref}")
        if used < current:
            notes.setdefault(current, []).append(f"pending, {loop.ref} iteration {loop.reads_with}")
    return {number: "; ".join(words) for number, words in notes.items() if number}


def _saved_at(requirement: Requirement) -> dict[int, int]:
    """Return version number -> tracker_seq of the write that made it."""
    moves = Move.objects.filter(requirement=requirement, verb=Verb.EDIT.value)
    return {
        int(note.removeprefix("version ")): seq
        for note, seq in moves.values_list("note", "seq")
        if note.startswith("version ")
    }
