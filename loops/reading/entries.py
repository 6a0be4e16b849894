"""Entries of a log as a person reads them, newest first, a page at a time."""

from __future__ import annotations

from typing import Any

from loops.engine import controllers
from loops.engine.controllers import Controller
from loops.engine.values import Outcome, Recorded, Role
from loops.models import LogEntry, Session
from loops.pages.history import EntryLine
from loops.pages.states import outcome_chip, role_word
from loops.reading import links
from loops.reading.reading import Reading
from loops.reading.strip import EVENTS
from tracker.pages.atoms import Chip
from tracker.pages.words import listed, plural

SHOWN = 50
SHORT = 7
_CHIPS = {
    "opened": Chip("off", "play", "Base"),
    "configured": Chip("off", "pencil", "Configuration"),
    "human_event": Chip("wait", "person", "Person"),
    "decided": Chip("wait", "person", "Decision"),
    "forked": Chip("acc", "branch", "Fork"),
}


def entry_lines(
    reading: Reading, *, last: int, before: int | None = None
) -> tuple[tuple[EntryLine, ...], int]:
    """(lines up to entry `last`, the sequence to go on before, 0 at the log's beginning). before:
    only entries before this one."""
    session = reading.session
    rows = LogEntry.objects.filter(session=session, seq__lte=last)
    if before is not None:
        rows = rows.filter(seq__lt=before)
    found = list(rows.order_by("-seq")[: SHOWN + 1])
    controller = controllers.controller_of(session.pattern)
    shown = found[:SHOWN]
    older = shown[-1].seq if len(found) > SHOWN else 0
    return tuple(_line(reading, controller, row, last) for row in shown), older


def _line(reading: Reading, controller: Controller[Any], row: LogEntry, last: int) -> EntryLine:
    session = reading.session
    is_copied = row.seq < session.own_log_after
    chip, text, more, href = _told(session, controller, row, is_copied=is_copied)
    return EntryLine(
        seq=row.seq,
        at=reading.local(row.at),
        chip=chip,
        text=text,
        more=more,
        href=href,
        is_copied=is_copied,
        is_here=row.seq == last and row.kind == "recorded",
    )


def _told(
    session: Session, controller: Controller[Any], row: LogEntry, *, is_copied: bool
) -> tuple[Chip, str, str, str]:
    """(chip, sentence, second line, address)."""
    payload = row.payload
    if row.kind == "recorded":
        return _iteration(session, controller, row, is_copied=is_copied)
    chip = _CHIPS.get(row.kind, Chip("off", "doc", row.kind))
    if row.kind == "opened":
        tree, head = payload["base_rev"][:SHORT], payload["base_head"][:SHORT]
        return chip, f"The base is tree {tree} on commit {head}", _script(payload), ""
    if row.kind == "configured":
        most = payload["config"].get("limits", {}).get("iterations", "")
        return chip, f"In force from the next step: at most {most} iterations", "", ""
    if row.kind == "human_event":
        key, verb = payload["key"], EVENTS.get(payload["what"], payload["what"])
        page = links.requirement if key.startswith("R-") else links.entry
        return chip, f"{key} {verb}", "", page(session.project, key).href
    if row.kind == "decided":
        number = payload["escalation"]
        said = f"E-{number} decided: {payload['choice']}, asked for {payload['kind']}"
        return chip, said, payload.get("text", ""), f"/queue/{number}/"
    if row.kind == "forked":
        text = f"Forked from S-{payload['parent']} after iteration {payload['iteration']}"
        more = "Every counter, the streak and what was spent begin at 0 here."
        return chip, text, more, links.history(payload["parent"], payload["iteration"])
    return chip, row.kind, "", ""


def _script(payload: dict[str, Any]) -> str:
    code = payload.get("script_exit")
    return "" if code is None else f"The done script said {code} on it."


def _iteration(
    session: Session, controller: Controller[Any], row: LogEntry, *, is_copied: bool
) -> tuple[Chip, str, str, str]:
    entry = controllers.entry_from_json(row.seq, row.kind, row.payload)
    assert isinstance(entry, Recorded)
    evidence = entry.evidence
    chip = outcome_chip(
        Outcome(entry.outcome), findings=len(evidence.findings), guidance=evidence.guidance
    )
    who = f"{role_word(Role(evidence.role))} {evidence.agent}".rstrip()
    changed = evidence.changed_paths
    touched = f"{plural(len(changed), 'path')} changed: {listed(changed)}. " if changed else ""
    more = touched + controller.explain(evidence, entry.outcome)
    href = "" if is_copied else links.iteration(session.pk, evidence.number)
    return chip, f"Iteration {evidence.number}, {who}", more.strip(), href
