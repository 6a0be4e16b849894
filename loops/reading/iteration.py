"""The middle pane: one iteration with its output, plan, verdict, diff, prompt or files."""

from __future__ import annotations

from loops.adapters import KINDS, outside
from loops.engine import controllers
from loops.engine.values import Outcome, Pattern, Role
from loops.models import Iteration
from loops.pages.output import DiffPart, LogPart, PromptPart
from loops.pages.session import IterationPart, Tab, TabLink
from loops.pages.states import role_icon, role_word
from loops.reading import changes, lines, links
from loops.reading.budgets import agent_name
from loops.reading.iterations import chip_of, seconds
from loops.reading.matrix import matrix_part
from loops.reading.reading import Noted, Reading
from loops.reading.replies import attempt_of, plan_part, verdict_part
from loops.reading.seen import seen_part
from tracker.pages.atoms import Link
from tracker.pages.words import money, quantity, stopwatch

TABS: tuple[Tab, ...] = ("output", "plan", "verdict", "diff", "prompt", "files", "verdicts")
SHORT = 7
_OF_THREAD: tuple[Tab, ...] = ("output", "diff", "prompt", "files")
_OF_ROLE: dict[Role, tuple[Tab, ...]] = {
    Role.THINKER: ("output", "plan", "prompt", "files", "verdicts"),
    Role.VERIFIER: ("output", "verdict", "diff", "prompt", "files", "verdicts"),
}
_OF_MAKER: tuple[Tab, ...] = (*_OF_THREAD, "verdicts")
_MISSING: dict[Tab, str] = {
    "plan": "The thinker has handed in no plan in this iteration.",
    "verdict": "The verifier has handed in no verdict in this iteration.",
    "verdicts": "There is no attempt yet, so nothing was judged.",
}


def iteration_part(
    reading: Reading, one: Iteration, *, tab: Tab = "output", before: int | None = None
) -> IterationPart:
    """tab: which of its sides to show, its output if it has no such side. before: only output lines
    before this number."""
    role = Role(one.role)
    runs = one.ended_at is None
    diff = _diff(reading, one)
    frozen = reading.agent_of(role, one.agent)
    wall = frozen.get("wall_seconds", 0)
    newest = reading.newest
    tab = tab if tab in tabs_of(reading, role) else "output"
    return IterationPart(
        number=one.number,
        role=role_word(role),
        role_icon=role_icon(role),
        chip=chip_of(reading, one),
        agent=agent_name(frozen) if frozen else "",
        name=one.agent,
        tab=tab,
        tabs=_tabs(reading, one, diff),
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
        prompt=_prompt(reading, one) if tab == "prompt" else None,
        files=changes.files_part(reading, one, diff) if tab == "files" else None,
        plan=plan_part(reading, one) if tab == "plan" else None,
        verdict=verdict_part(reading, one) if tab == "verdict" else None,
        matrix=matrix_part(reading, _rev_of(reading, one)) if tab == "verdicts" else None,
        missing=_MISSING.get(tab, ""),
        follows=tab == "verdicts" and not reading.is_ended,
        version=one.version,
        warning=_warning(one.version, str(frozen.get("adapter", ""))),
    )


def _warning(version: str, adapter: str) -> str:
    kind = KINDS.get(adapter)
    note = outside(version, kind.tested) if kind else ""
    return f"{adapter} {version} is {note}, which was tested last." if note else ""


def tabs_of(reading: Reading, role: Role) -> tuple[Tab, ...]:
    """The sides that an iteration of this role has."""
    if reading.pattern is Pattern.SINGLE_THREAD:
        return _OF_THREAD
    return _OF_ROLE.get(role, _OF_MAKER)


def _rev_of(reading: Reading, one: Iteration) -> str:
    """The tree of the attempt that this iteration made or judged."""
    attempt = attempt_of(reading, one, with_own=True)
    return attempt.rev if attempt else ""


def _diff(reading: Reading, one: Iteration) -> DiffPart:
    """What it changed; of a verifier, what it was to judge."""
    session = reading.session
    if one.role != Role.VERIFIER.value:
        return changes.iteration_diff(one)
    against = f"base {session.base_head[:SHORT]}"
    return changes.diff_of(session, session.base_rev, one.before.get("rev", ""), against)


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


def _tabs(reading: Reading, one: Iteration, diff: DiffPart) -> tuple[TabLink, ...]:
    base, role = links.iteration(one.session_id, one.number), Role(one.role)
    added, removed = changes.size(diff)
    has_diff = bool(diff.files)
    words: dict[Tab, str] = {
        "output": "Output" if one.ended_at else "Live output",
        "plan": "Plan",
        "verdict": "Verdict",
        "diff": "Work judged" if role is Role.VERIFIER else "Diff",
        "prompt": "Prompt",
        "files": "Files",
        "verdicts": "All verdicts",
    }
    counts: dict[Tab, int] = {"verdicts": len(reading.verdict_at)}
    if has_diff and role is not Role.VERIFIER:
        counts["files"] = len(diff.files)
    return tuple(
        TabLink(
            name=name,
            word=words[name],
            href=base if name == "output" else f"{base}?show={name}",
            count=counts.get(name),
            added=added if name == "diff" and has_diff else None,
            removed=removed if name == "diff" and has_diff else None,
        )
        for name in tabs_of(reading, role)
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


def _prompt(reading: Reading, one: Iteration) -> PromptPart:
    before = one.before
    uses = (f"tree {before['rev'][:SHORT]}", f"spec {before['spec'][:SHORT]}", one.reason)
    return PromptPart(text=one.prompt.text, uses=uses, seen=seen_part(reading, one))
