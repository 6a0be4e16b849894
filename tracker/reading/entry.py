"""One entry: its facts, what a person can do, its history."""

from __future__ import annotations

from django.forms import BaseForm

from tracker import services
from tracker.engine.rules import Kind, State, Verb
from tracker.models import Bug, Move
from tracker.pages.atoms import Link
from tracker.pages.filing import Effect, EntryPart, HistoryLine
from tracker.pages.words import plural
from tracker.reading import entries, moves
from tracker.reading.reader import Reader

HISTORY = 200

_DID = {
    Verb.FILE: "filed it",
    Verb.MERGE: "found it again",
    Verb.START: "started it",
    Verb.FIX: "marked it fixed",
    Verb.BLOCK: "blocked it",
    Verb.UNBLOCK: "answered",
    Verb.CLOSE: "closed it",
    Verb.REOPEN: "reopened it",
    Verb.CONFIRM: "confirmed it",
    Verb.DISMISS: "dismissed it",
    Verb.TURN: "closed it",
    Verb.OUTDATE: "made its citation stale",
    Verb.REWORD: "reworded it",
    Verb.DISPUTE: "disputed the citation",
    Verb.PRIORITIZE: "set the priority",
    Verb.COMMENT: "said",
    Verb.RESET: "let the count of reopenings begin anew",
}
_SILENT = {Verb.FILE}  # their note repeats the title


def entry(
    bug: Bug,
    reader: Reader,
    effect: Effect,
    *,
    base: str,
    specs: str,
    can_act: bool,
    unfolded: str = "",
    refused: BaseForm | None = None,
) -> EntryPart:
    """Read an entry. base, specs: URLs of tracker and spec. unfolded: slug of the move that is
    open; refused: its form with errors."""
    offered = moves.offers(bug) if can_act else ()
    if refused is not None and unfolded not in [offer.slug for offer in offered]:
        # Somebody moved it meanwhile: the words stay, with the sentence that refused them.
        offered = (moves.offer(unfolded), *offered)
    return EntryPart(
        key=bug.key,
        kind=entries.kind_word(bug),
        kind_icon=entries.kind_icon(bug),
        title=bug.title,
        chip=entries.chip(bug),
        priority="" if bug.kind == Kind.SPEC else bug.priority,
        close=base,
        text=bug.text,
        cites=_cites(bug, specs),
        quote=bug.quote,
        contradiction=bug.contradiction,
        place=bug.place,
        tags=entries.tags(bug, shows_state=False),
        facts=_facts(bug, reader),
        moves=tuple(
            offer.shown(bug, effect, base, _form(offer, bug, unfolded, refused))
            for offer in offered
        ),
        history=tuple(_line(move, reader) for move in _newest_first(bug)),
    )


def _form(offer: moves.Offer, bug: Bug, unfolded: str, refused: BaseForm | None) -> BaseForm | None:
    if offer.slug != unfolded:
        return None
    return refused or offer.form(bug, None, offer.slug)


def _cites(bug: Bug, specs: str) -> Link | None:
    if bug.requirement is None or bug.version is None:
        return None
    key = bug.requirement.key
    current = bug.requirement.current_id == bug.version_id
    line = f"#line-{bug.line}" if bug.line and current else ""
    old = "" if current else f"?compare={bug.version.number}"
    return Link(entries.cites(bug), f"{specs}{key}/{old}{line}")


def _facts(bug: Bug, reader: Reader) -> tuple[tuple[str, str], ...]:
    filed = f"{reader.who(bug.filed_by, bug.reference)}, {reader.when(bug.created_at)}"
    found = [("Filed by", filed)]
    if bug.started_by:
        found.append(("Worked on by", reader.who(bug.started_by, bug.started_reference)))
    if bug.commit:
        found.append(("Fixed with", bug.commit[:12]))
    if bug.state == State.BLOCKED:
        found.append(("Blocked because", _blocked_because(bug)))
    if bug.count > 1:
        found.append(("Found", f"{bug.count} times"))
    if bug.reopen_count:
        found.append(("Reopened", plural(bug.reopen_count, "time")))
    if bug.session_ref:
        found.append(("Seen only by", bug.session_ref))
    if bug.is_dismissed and bug.dismissed_by:
        found.append(("Dismissed by", reader.who(bug.dismissed_by)))
        found.append(("Because", bug.dismiss_reason))
    return tuple(found)


def _blocked_because(bug: Bug) -> str:
    notes = bug.moves.filter(verb=Verb.BLOCK.value).order_by("-id")
    return notes.values_list("note", flat=True).first() or ""


def _newest_first(bug: Bug) -> list[Move]:
    return services.history(bug)[::-1][:HISTORY]


def _line(move: Move, reader: Reader) -> HistoryLine:
    verb = Verb(move.verb)
    what = _DID.get(verb, move.verb)
    if verb is Verb.FIX and move.commit:
        what += f" with {move.commit[:12]}"
    if move.is_commit_missing:
        what += ", because its commit is not in the session's HEAD"
    if verb is Verb.PRIORITIZE:
        what += f" to {move.note}"
    return HistoryLine(
        when=reader.when(move.at),
        title=reader.stamp(move.at),
        who=reader.who(move.actor, move.reference),
        what=what,
        text="" if verb in _SILENT or verb is Verb.PRIORITIZE else move.note,
    )
