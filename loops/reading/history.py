"""The history browser: a session as it stood after any of its iterations."""

from __future__ import annotations

from typing import Any

from loops import forks, replays
from loops.engine.rule_texts import rule_text
from loops.engine.values import AskHuman, EndReason, Finish, Outcome, Role, RunRole
from loops.models import Iteration, LogEntry, Session
from loops.pages.history import DuePart, HistoryPage, ReplayPage, ReplayRow, StatePart
from loops.pages.states import end_chip, outcome_chip, role_word
from loops.reading import links
from loops.reading.budgets import budgets
from loops.reading.entries import entry_lines
from loops.reading.head import title
from loops.reading.past import ReadingThen, fold_at
from loops.reading.reading import Reading
from loops.snapshots import Fold, LogUnusable
from tracker.errors import NotFound
from tracker.pages.atoms import Act, Chip, Link, met, unmet
from tracker.pages.words import plural

MOST_NOTES = 20


def history_page(
    session: Session, *, at: int | None, before: int | None, may_fork: bool
) -> HistoryPage:
    """at: the iteration, None = the newest that has ended. before: older entries of the log.
    Raises NotFound for an iteration that has not ended."""
    one = _iteration(session, at)
    entry = forks.recorded_entry(session, one) if one is not None else None
    last = entry.seq if entry else session.log_seq
    state, fault = _state(session, one, entry)
    reading = Reading(session)
    lines, older = entry_lines(reading, last=last, before=before)
    number = one.number if one else 0
    here = links.history(session.pk, number)
    return HistoryPage(
        ref=session.ref,
        title=title(session),
        session=Link(session.ref, links.session(session.pk)),
        number=number,
        count=session.iteration_count,
        headline=_headline(one, state),
        sentence=_sentence(state),
        post=links.history(session.pk),
        chip=_chip(one, entry),
        iteration=Link(f"Iteration {number}", links.iteration(session.pk, number)) if one else None,
        state=state,
        fault=fault,
        entries=lines,
        entry_count=last,
        previous=_neighbour(session, number - 1),
        next=_neighbour(session, number + 1),
        older=f"{here}{'&' if number else '?'}before={older}" if older else "",
        newest=here if before is not None else "",
        acts=_acts(session, one, entry, may_fork=may_fork),
    )


def _iteration(session: Session, at: int | None) -> Iteration | None:
    ended = session.iterations.exclude(ended_at=None)
    if at is None:
        return ended.order_by("-number").first()
    found = ended.filter(number=at).first()
    if found is None:
        raise NotFound(f"{session.ref} has no finished iteration {at}.")
    return found


def _state(
    session: Session, one: Iteration | None, entry: LogEntry | None
) -> tuple[StatePart | None, str]:
    if one is None:
        return None, ""
    if entry is None:
        return (
            None,
            "This iteration left no entry in the log: the workspace or the log broke in it.",
        )
    try:
        fold = fold_at(session, entry.seq)
    except LogUnusable as fault:
        return None, str(fault)
    return _state_part(session, one, fold, entry.payload["evidence"]), ""


def _state_part(
    session: Session, one: Iteration, fold: Fold, evidence: dict[str, Any]
) -> StatePart:
    state, controller = fold.state, fold.controller
    seen = {name: tuple(evidence.get(name, ())) for name in ("blockers", "unjudged", "blocked")}
    why = controller.why_not_done(state, rev=state.rev, head=state.head, spec=state.spec, **seen)
    most = controller.at_most(state)
    return StatePart(
        due=_due(session, one, fold),
        why=tuple(unmet(line.text.rstrip(".")) for line in why) or (met("Nothing was missing"),),
        budgets=budgets(ReadingThen(session, fold)),
        bound=f"At most {plural(most, 'more iteration')} could run from here.",
        notes=tuple(
            (role_word(note.to) if note.to else "Whoever is next", note.text)
            for note in state.notes[-MOST_NOTES:]
        ),
        streak=getattr(state, "streak", None),
    )


def _due(session: Session, one: Iteration, fold: Fold) -> DuePart:
    directive = fold.direct()
    follower = session.iterations.filter(number=one.number + 1).first()
    ran = ""
    if follower is not None:
        ran = f"Iteration {follower.number} ran: {follower.role}, by rule {follower.rule}."
    if isinstance(directive, RunRole):
        words = f"{role_word(directive.role)} {directive.agent}".rstrip()
        reason = directive.reason
    elif isinstance(directive, AskHuman):
        words, reason = f"Ask a person: {directive.kind.value}", directive.question
    else:
        assert isinstance(directive, Finish)
        words, reason = f"End: {end_chip(directive.reason).word}", directive.sentence
    rule = str(directive.rule)
    return DuePart(words=words, rule=rule, text=rule_text(rule), reason=_upper(reason), ran=ran)


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _headline(one: Iteration | None, state: StatePart | None) -> str:
    if one is None:
        return "No iteration has ended yet"
    after = f"After iteration {one.number}"
    return f"{after}: {state.due.words}" if state else after


def _sentence(state: StatePart | None) -> str:
    if state is None:
        return "The log below is what the rules fold."
    return state.due.text or state.due.reason


def _chip(one: Iteration | None, entry: LogEntry | None) -> Chip | None:
    if one is None or one.outcome is None:
        return None
    evidence = entry.payload["evidence"] if entry else {}
    found = len(evidence.get("findings", ()))
    return outcome_chip(Outcome(one.outcome), findings=found, guidance=evidence.get("guidance"))


def _neighbour(session: Session, number: int) -> Link | None:
    if not session.iterations.filter(number=number).exclude(ended_at=None).exists():
        return None
    return Link(str(number), links.history(session.pk, number))


def _acts(
    session: Session, one: Iteration | None, entry: LogEntry | None, *, may_fork: bool
) -> tuple[Act, ...]:
    acts = [
        Act(text="Replay", href=links.replay(session.pk)),
        Act(text="Compare", href=f"{links.COMPARE}?a={session.pk}"),
        Act(text="Export", href=links.export(session.pk)),
    ]
    if one is not None and entry is not None and one.rev and may_fork:
        here = links.fork(session.pk, one.number)
        acts.append(Act(text="Fork from here", href=here, icon="branch", primary=True))
    return tuple(acts)


# --- replay --------------------------------------------------------------------------------------


def replay_page(session: Session) -> ReplayPage:
    acts = (Act(text="History", href=links.history(session.pk)),)
    found = replays.replay(session)
    compared = plural(found.iterations, "iteration")
    headline = (
        f"Today's rules say the same of {compared}"
        if found.is_same
        else f"Today's rules differ in {found.changed} of {compared}"
    )
    return ReplayPage(
        ref=session.ref,
        title=title(session),
        session=Link(session.ref, links.session(session.pk)),
        headline=headline,
        sentence="The recorded log was folded again, entry by entry. Nothing was changed by it.",
        rows=tuple(_replay_row(session, one) for one in found.differences),
        left_out=found.changed - len(found.differences),
        acts=acts,
    )


def _replay_row(session: Session, one: replays.Difference) -> ReplayRow:
    number = one.iteration
    return ReplayRow(
        where="The end" if number is None else str(number),
        href=links.history(session.pk, number) if number else links.session(session.pk),
        recorded=_upper(_said(one.recorded)),
        recorded_rule=one.recorded.rule,
        recorded_chip=_outcome(one.recorded),
        now=_upper(_said(one.now)),
        now_rule=one.now.rule,
        now_chip=_outcome(one.now),
    )


def _said(said: replays.Said) -> str:
    verb, _, what = said.what.partition(" ")
    if verb == "end":
        return f"End: {end_chip(EndReason(what)).word}"
    if verb == "ask":
        return f"Ask a person: {what}"
    return f"{role_word(Role(verb))} {what}".rstrip()


def _outcome(said: replays.Said) -> Chip | None:
    return outcome_chip(Outcome(said.outcome)) if said.outcome else None
