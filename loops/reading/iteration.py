"""The middle pane: one iteration with its output, diff, prompt or files."""

from __future__ import annotations

from loops.engine import controllers
from loops.engine.values import Outcome, Role
from loops.models import Iteration
from loops.pages.output import DiffPart, LogPart, PromptPart
from loops.pages.session import IterationPart, Tab, TabLink
from loops.pages.states import role_icon, role_word
from loops.reading import changes, lines, links
from loops.reading.budgets import agent_name
from loops.reading.iterations import chip_of, seconds
from loops.reading.reading import Noted, Reading
from tracker.pages.atoms import Link
from tracker.pages.words import money, quantity, stopwatch

TABS: tuple[Tab, ...] = ("output", "diff", "prompt", "files")
SHORT = 7


def iteration_part(
    reading: Reading, one: Iteration, *, tab: Tab = "output", before: int | None = None
) -> IterationPart:
    """tab: which of its sides to show. before: only output lines before this number."""
    role = Role(one.role)
    runs = one.ended_at is None
    diff = changes.iteration_diff(one)
    frozen = reading.session.config["agents"].get(one.role)
    wall = frozen["wall_seconds"] if frozen else 0
    newest = reading.newest
    return IterationPart(
        number=one.number,
        role=role_word(role),
        role_icon=role_icon(role),
        chip=chip_of(reading, one),
        agent=agent_name(frozen) if frozen else "",
        tab=tab,
        tabs=_tabs(one, diff),
        spent=stopwatch(seconds(reading, one)),
        limit=stopwatch(wall) if wall else "",
        usage=_usage(reading.noted.get(one.number)),
        reason=reason(reading, one),
        started_at=one.started_at if runs else None,
        is_live=runs,
        newest=_newest(newest) if newest is not None and newest.number != one.number else None,
        then=None if runs else Link("State after it", links.history(one.session_id, one.number)),
        log=log_part(one, before=before) if tab == "output" else None,
        diff=diff if tab == "diff" else None,
        prompt=_prompt(one) if tab == "prompt" else None,
        files=changes.files_part(reading, one, diff) if tab == "files" else None,
    )


def log_part(one: Iteration, *, before: int | None = None) -> LogPart:
    shown = lines.window(one, before=before)
    base = links.iteration(one.session_id, one.number)
    older = f"{base}?before={shown.first}" if shown.lines and shown.first > 1 else ""
    return LogPart(
        lines=shown.lines,
        total=shown.total,
        after_url=f"{base}output/",
        raw_url=lines.raw_url(one),
        older=older,
        secrets_removed=shown.removed,
        is_following=one.ended_at is None and before is None,
    )


def reason(reading: Reading, one: Iteration) -> str:
    """Why it runs; once it has ended, why it was classed as it was."""
    if one.outcome is None:
        return one.reason[:1].upper() + one.reason[1:]
    said = one.detail
    payload = reading.evidence(one.number)
    if payload and reading.fold is not None:
        entry = controllers.entry_from_json(
            1, "recorded", {"evidence": payload, "outcome": one.outcome}
        )
        explained = reading.fold.controller.explain(entry.evidence, Outcome(one.outcome))
        said = f"{explained} {one.detail}"
    return said.strip()


def _tabs(one: Iteration, diff: DiffPart) -> tuple[TabLink, ...]:
    base = links.iteration(one.session_id, one.number)
    runs = one.ended_at is None
    added, removed = changes.size(diff)
    has_diff = bool(diff.files)
    words = {"output": "Live output" if runs else "Output", "diff": "Diff", "prompt": "Prompt",
             "files": "Files"}  # fmt: skip
    return tuple(
        TabLink(
            name=name,
            word=words[name],
            href=base if name == "output" else f"{base}?show={name}",
            count=len(diff.files) if name == "files" and has_diff else None,
            added=added if name == "diff" and has_diff else None,
            removed=removed if name == "diff" and has_diff else None,
        )
        for name in TABS
    )


def _usage(noted: Noted | None) -> str:
    if noted is None:
        return ""
    tokens = f"{quantity(noted.tokens)} tokens" if noted.tokens is not None else ""
    price = money(noted.money) if noted.money is not None else ""
    return " · ".join(filter(None, (tokens, price)))


def _newest(newest: Iteration) -> Link:
    word = "live" if newest.ended_at is None else "the newest"
    return Link(f"Iteration {newest.number}, {word}", links.session(newest.session_id))


def _prompt(one: Iteration) -> PromptPart:
    before = one.before
    uses = (f"tree {before['rev'][:SHORT]}", f"spec {before['spec'][:SHORT]}", one.reason)
    return PromptPart(text=one.prompt.text, uses=uses)
