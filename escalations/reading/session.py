"""A session's page and its parts, with the question that it waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from escalations.models import Escalation, Status
from escalations.reading import queue, words
from loops.engine.values import EndReason, State
from loops.models import Iteration
from loops.pages.session import CostPart, IterationPart, NoticePart, SessionPage, Tab
from loops.reading import confined, head, iterations, links, whereabouts
from loops.reading.budgets import cost_part, limits_part
from loops.reading.deliver import deliver_part, handed_over
from loops.reading.edits import edits_part
from loops.reading.forking import lineage_part
from loops.reading.iteration import iteration_part
from loops.reading.proof import why_part
from loops.reading.reading import Reading
from loops.reading.strip import timeline_part
from tracker.pages.atoms import Act, Tone

_TONES: dict[EndReason, tuple[Tone, str]] = {
    EndReason.DONE: ("ok", "ok"),
    EndReason.NO_OP: ("ok", "stall"),
    EndReason.HUMAN_APPROVED: ("ok", "person"),
    EndReason.HUMAN_EDITED: ("ok", "pencil"),
    EndReason.EXHAUSTED: ("warn", "hourglass"),
    EndReason.FAILED: ("bad", "fail"),
    EndReason.STOPPED: ("off", "stopped"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What of a session is looked at. pinned: one iteration, None = the newest. tab: its side.
    before: output lines before this one. rows_before: older rows of the list. may_steer: the
    person may operate."""

    pinned: Iteration | None = None
    tab: Tab = "output"
    before: int | None = None
    rows_before: int | None = None
    may_steer: bool = False


def session_page(reading: Reading, view: View) -> SessionPage:
    parts = {name: build(reading, view) for name, (_template, build) in PARTS.items()}
    return SessionPage(parts_url=_parts_url(reading, view), **parts)


def _parts_url(reading: Reading, view: View) -> str:
    if view.pinned is not None:
        return f"{links.iteration(reading.session.pk, view.pinned.number)}parts/"
    return f"{links.session(reading.session.pk)}parts/"


def _shown(reading: Reading, view: View) -> Iteration | None:
    return view.pinned or reading.newest


def _rows(reading: Reading, view: View) -> Any:
    shown = _shown(reading, view)
    number = shown.number if shown else 0
    return iterations.rows_part(reading, current=number, before=view.rows_before)


def _iteration(reading: Reading, view: View) -> IterationPart | None:
    shown = _shown(reading, view)
    if shown is None:
        return None
    return iteration_part(reading, shown, tab=view.tab, before=view.before)


def notice(reading: Reading) -> NoticePart | None:
    """The line under the head when the state needs words."""
    session = reading.session
    asked = Escalation.objects.filter(session=session, status=Status.OPEN.value)
    first = asked.order_by("-blocking", "created_at", "pk").first()
    if first is not None:
        act = Act(text=f"Decide {first}", href=f"{queue.HREF}{first.pk}/", primary=first.blocking)
        others = asked.count() - 1
        more = words.effect(first) + (f" {others} more open." if others else "")
        tone: Tone = "wait" if first.blocking else "off"
        return NoticePart(tone=tone, icon="person", text=first.question, more=more, act=act)
    if reading.end is not None:
        tone, icon = _TONES[reading.end]
        return NoticePart(tone=tone, icon=icon, text=_ending(reading), more=_what_is_left(reading))
    if reading.state is State.DRAFT:
        return _draft_notice(reading)
    return whereabouts.notice(reading)


def _ending(reading: Reading) -> str:
    stopped = reading.session.transitions.filter(move="stop").order_by("-id").first()
    if reading.end is EndReason.STOPPED and stopped is not None:
        why = f": {stopped.note}" if stopped.note else "."
        return f"Stopped by {stopped.by}{why}"
    return reading.session.end_sentence


def _what_is_left(reading: Reading) -> str:
    if not reading.iterations:
        return "Nothing has run, so nothing was changed."
    branch = f"The branch loopwatch/{reading.session.ref} is in the project's store."
    unproved = (
        " The verifiers could not run on the edit." if reading.end is EndReason.HUMAN_EDITED else ""
    )
    return f"{branch}{unproved} {handed_over(reading)}"


def _draft_notice(reading: Reading) -> NoticePart:
    refusals = (reading.session.preflight or {}).get("refusals", ())
    if refusals:
        return NoticePart(tone="bad", icon="x", text="It cannot start.", more=" ".join(refusals))
    return NoticePart(
        tone="off",
        icon="pencil",
        text="It has not been started.",
        more="Start looks at the repository first.",
    )


def _cost(reading: Reading) -> CostPart:
    lines = () if reading.is_ended else confined.lines(reading)
    return replace(cost_part(reading), confined=lines)


# part -> its template and what builds its value, in the order of the page.
PARTS: Mapping[str, tuple[str, Callable[[Reading, View], Any]]] = {
    "status": ("loops/_status.html", lambda reading, view: head.status_part(reading)),
    "actions": (
        "loops/_actions.html",
        lambda reading, view: head.actions_part(reading, may_steer=view.may_steer),
    ),
    "notice": ("loops/_notice.html", lambda reading, view: notice(reading)),
    "lineage": ("loops/_lineage.html", lambda reading, view: lineage_part(reading)),
    "timeline": ("loops/_timeline.html", lambda reading, view: timeline_part(reading)),
    "rows": ("loops/_iteration_rows.html", _rows),
    "iteration": ("loops/_iteration.html", _iteration),
    "why": ("loops/_why_not_done.html", lambda reading, view: why_part(reading)),
    "deliver": (
        "loops/_deliver.html",
        lambda reading, view: deliver_part(reading, may_steer=view.may_steer),
    ),
    "limits": ("loops/_limits.html", lambda reading, view: limits_part(reading)),
    "edits": ("loops/_spec_edits.html", lambda reading, view: edits_part(reading)),
    "cost": ("loops/_cost.html", lambda reading, view: _cost(reading)),
}
