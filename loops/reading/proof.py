"""Why a session is not done, by the rule that ends it; or what proved that it is."""

from __future__ import annotations

import re

from loops import records
from loops.engine.endings import DONES_NEEDED
from loops.engine.rules import Rule
from loops.engine.values import EndReason, Outcome, Pattern, State
from loops.pages.session import WhyNotDonePart
from loops.reading import links, standing
from loops.reading.reading import Reading
from tracker.pages.atoms import CheckLine, Link, met, unmet
from tracker.pages.words import listed, plural

SHORT = 7
_KEY = re.compile(r"\b[BTQ]-\d+\b")
_PROVED = (EndReason.DONE, EndReason.NO_OP)
_MOST_LINKS = 3


def why_part(reading: Reading) -> WhyNotDonePart:
    fold = reading.fold
    if reading.pattern is not Pattern.SINGLE_THREAD:
        part = standing.standing_part(reading)
        return WhyNotDonePart(streak=0, needed=0, lead=part.lead, lines=part.lines, standing=part)
    if reading.is_ended:
        return _ended(reading, fold.state.streak if fold else 0)
    if fold is None:
        lead = "It has not been started."
        return WhyNotDonePart(streak=0, needed=DONES_NEEDED, lead=lead, lines=())
    return WhyNotDonePart(
        streak=fold.state.streak,
        needed=DONES_NEEDED,
        lead="Not done yet, because:",
        lines=reasons(reading),
    )


def reasons(reading: Reading) -> tuple[CheckLine, ...]:
    """One line per condition of the end that is not met, then the tree."""
    if reading.fold is None:
        return ()
    if reading.pattern is not Pattern.SINGLE_THREAD:
        return standing.reasons(reading)
    lines: list[CheckLine] = []
    for why in records.why_not_done(reading.session, reading.fold):
        lines += _unmet(reading, why["rule"], why["text"])
    return (*lines, *_tree(reading))


def remains(reading: Reading) -> str:
    """What keeps it from done, short: "2 bugs, 1 task"."""
    if reading.is_ended:
        return "proved" if reading.end in _PROVED else "not proved"
    if reading.state is State.DRAFT or reading.fold is None:
        return "not begun"
    if reading.pattern is not Pattern.SINGLE_THREAD:
        return "an OK verdict"
    bugs, tasks = _by_kind(reading.facts.blockers)
    words = [plural(len(bugs), "bug")] if bugs else []
    words += [plural(len(tasks), "task")] if tasks else []
    if reading.facts.blocked:
        words.append(f"{len(reading.facts.blocked)} blocked")
    if words:
        return ", ".join(words)
    has_review = reading.fold.state.clean_review is not None
    return "a done signal" if has_review else "a clean review"


def _by_kind(keys: tuple[str, ...]) -> tuple[list[str], list[str]]:
    return [key for key in keys if key[0] == "B"], [key for key in keys if key[0] == "T"]


def _unmet(reading: Reading, rule: str, text: str) -> list[CheckLine]:
    fold = reading.fold
    assert fold is not None
    if rule == Rule.NEEDS_STREAK:
        return [unmet("Two done signals in a row", fact=f"{fold.state.streak} of {DONES_NEEDED}")]
    if rule == Rule.NEEDS_NO_BLOCKERS:
        bugs, tasks = _by_kind(reading.facts.blockers)
        return [
            _entries(
                reading, keys, f"{plural(len(keys), noun)} {'is' if len(keys) == 1 else 'are'} open"
            )
            for keys, noun in ((bugs, "code bug"), (tasks, "task"))
            if keys
        ]
    if rule == Rule.NEEDS_NO_UNJUDGED:
        keys = _KEY.findall(text)
        return [
            _entries(reading, keys, f"{plural(len(keys), 'fix', 'fixes')} not judged by a review")
        ]
    if rule == Rule.NEEDS_NO_BLOCKED:
        keys = list(reading.facts.blocked)
        words = "entry is" if len(keys) == 1 else "entries are"
        return [
            _entries(reading, keys, f"{len(keys)} {words} blocked", sub="A person has to decide.")
        ]
    return [unmet(text.rstrip("."))]


def _entries(reading: Reading, keys: list[str], text: str, sub: str = "") -> CheckLine:
    shown = tuple(links.entry(reading.project, key) for key in keys[:_MOST_LINKS])
    if len(keys) > _MOST_LINKS:
        more = len(keys) - _MOST_LINKS
        shown = (*shown, Link(f"{more} more", links.tracker(reading.project)))
    return unmet(text, links=shown, sub=sub)


def _tree(reading: Reading) -> list[CheckLine]:
    """Whether the tree was committed at the last boundary; nothing is known before the first."""
    ended = [one for one in reading.iterations if one.ended_at and one.head]
    if not ended:
        return []
    last = ended[-1]
    loose = reading.evidence(last.number).get("uncommitted", ())
    checked = f"Checked after iteration {last.number}"
    if loose:
        return [unmet(f"{plural(len(loose), 'file')} not committed", sub=listed(list(loose)))]
    return [met("Tree is committed", fact=last.head[:SHORT], sub=checked)]


def _ended(reading: Reading, streak: int) -> WhyNotDonePart:
    lead = reading.session.end_sentence
    if reading.end not in _PROVED:
        return WhyNotDonePart(
            streak=streak, needed=DONES_NEEDED, lead=lead or "It ended.", lines=_tree(reading)
        )
    return WhyNotDonePart(
        streak=streak, needed=DONES_NEEDED, lead="It counts as done because:", lines=_proof(reading)
    )


def _proof(reading: Reading) -> tuple[CheckLine, ...]:
    """The ending row, condition by condition (RULES 4)."""
    dones = [one.number for one in reading.iterations if one.outcome == Outcome.DONE.value]
    reviews = [one for one in reading.iterations if one.outcome == Outcome.REVIEW_CLEAN.value]
    lines = [met("No code bug or task is open")]
    if len(dones) >= DONES_NEEDED:
        numbers = ", ".join(str(number) for number in dones[-DONES_NEEDED:])
        lines.append(met("Two done signals in a row", fact=f"it. {numbers}"))
    if reviews:
        marks = (
            f"{len(reading.facts.marks)} of {len(reading.facts.requirements)} requirements marked"
        )
        lines.append(met("Clean review of this tree", fact=f"it. {reviews[-1].number}", sub=marks))
    return (*lines, *_tree(reading))
