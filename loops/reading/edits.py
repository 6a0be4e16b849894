"""Edits on their way into the loop: pending, delivered with an iteration, used once it has ended
(RULES 5). Derived from the log and the versions; nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from loops.engine.values import REQUIREMENT_EDITED, Pattern
from loops.models import Iteration
from loops.pages.session import SpecEdit, SpecEditsPart
from loops.reading import links
from loops.reading.reading import Reading
from tracker.models import GuidanceVersion, RequirementVersion
from tracker.pages.atoms import Chip, Link
from tracker.pages.words import moment

MOST = 8
_OUTDATES = (
    "An edit is read with the next iteration and makes the criteria out of date: an attempt that "
    "meets them then asks you."
)


def edits_part(reading: Reading) -> SpecEditsPart:
    """The newest edits of requirements in scope and of guidance, newest first."""
    found = sorted([*_requirements(reading), *_guidance(reading)], key=lambda one: one[0])
    edits = tuple(edit for _at, edit in reversed(found[-MOST:]))
    if reading.pattern is Pattern.SINGLE_THREAD:
        return SpecEditsPart(edits=edits)
    return SpecEditsPart(edits=edits, effect=_OUTDATES)


def _requirements(reading: Reading) -> list[tuple[datetime, SpecEdit]]:
    """One edit per log entry; the version is the newest that was there when it was written."""
    events = reading.session.own_log.filter(kind="human_event", payload__what=REQUIREMENT_EDITED)
    entries = events.order_by("-seq")[:MOST]
    found = []
    for entry in entries:
        key = entry.payload["key"]
        version = (
            RequirementVersion.objects.filter(
                requirement__project=reading.project,
                requirement__number=int(key[2:]),
                created_at__lte=entry.at,
            )
            .select_related("actor")
            .order_by("-number")
            .first()
        )
        what = links.requirement(reading.project, key)
        name = f"{key} v{version.number}" if version else key
        by = f"by {version.actor}, " if version else ""
        edit = SpecEdit(
            what=Link(name, what.href),
            by=f"{by}{moment(reading.local(entry.at), reading.now)}",
            chip=_fate(reading, lambda one, seq=entry.seq: one.claimed_at_seq >= seq),
        )
        found.append((entry.at, edit))
    return found


def _guidance(reading: Reading) -> list[tuple[datetime, SpecEdit]]:
    began = reading.session.started_at
    if began is None:
        return []
    versions = GuidanceVersion.objects.filter(project=reading.project, created_at__gte=began)
    if reading.session.ended_at:
        versions = versions.filter(created_at__lte=reading.session.ended_at)
    found = []
    for version in versions.select_related("actor").order_by("-number")[:MOST]:
        at = version.created_at
        edit = SpecEdit(
            what=Link(f"Guidance v{version.number}", _written_in(reading, version)),
            by=f"by {version.actor}" if version.actor.is_person else "by the coach",
            chip=_fate(reading, lambda one, at=at: one.started_at > at),
        )
        found.append((at, edit))
    return found


def _written_in(reading: Reading, version: GuidanceVersion) -> str:
    """The page of the iteration that wrote it; the session's own page for a person's version."""
    ref, _, number = version.reference.partition("/")
    if ref == reading.session.ref and number.isdigit():
        return links.iteration(reading.session.pk, int(number))
    return links.session(reading.session.pk)


def _fate(reading: Reading, saw_it: Callable[[Iteration], bool]) -> Chip:
    """saw_it: whether an iteration was claimed after the edit, so that its prompt holds it."""
    reader = next((one for one in reading.iterations if saw_it(one)), None)
    if reader is None and reading.is_ended:
        return Chip("off", "stopped", "never read", title="The session ended before it was read.")
    if reader is None:
        number = reading.session.iteration_count + 1
        return Chip("warn", "clock", f"with iteration {number}", title="Pending")
    if reader.ended_at is None:
        return Chip("run", "send", f"read by {reader.number}", title="Delivered, being used now")
    return Chip("ok", "check", f"in use since {reader.number}", title="Used")
