"""What a person may decide on each kind of question, and what it does (RULES 6), as data."""

from __future__ import annotations

from dataclasses import dataclass

from loops.engine.question_texts import EFFECTS
from loops.engine.values import Choice, Kind, Pattern


@dataclass(frozen=True, slots=True)
class Offer:
    """One row of the decision table. kinds, patterns: None = all."""

    choice: Choice
    kinds: frozenset[Kind] | None = None
    patterns: frozenset[Pattern] | None = None
    needs_artefact: bool = False
    needs_plan: bool = False


def _kinds(*kinds: Kind) -> frozenset[Kind]:
    return frozenset(kinds)


_WITH_VERIFIERS = frozenset({Pattern.FEEDBACK, Pattern.MAKER_VERIFIER})
_WITH_THINKER = frozenset({Pattern.FEEDBACK})

# In the order in which a form shows them.
OFFERS: tuple[Offer, ...] = (
    Offer(Choice.APPROVE, needs_artefact=True),
    Offer(Choice.EDIT, needs_artefact=True),
    Offer(Choice.REJECT, patterns=_WITH_VERIFIERS),
    Offer(Choice.REPLAN, patterns=_WITH_THINKER, needs_plan=True),
    Offer(Choice.REASSIGN, patterns=_WITH_THINKER, needs_plan=True),
    Offer(Choice.ANSWER, kinds=_kinds(Kind.BLOCKED, Kind.DISPUTED_FIX)),
    Offer(Choice.ALLOW, kinds=_kinds(Kind.GATE, Kind.QUARANTINE)),
    Offer(Choice.DENY, kinds=_kinds(Kind.GATE, Kind.QUARANTINE)),
    Offer(Choice.GRANT, kinds=_kinds(Kind.LIMIT, Kind.NO_PROGRESS, Kind.REVIEW_STALL)),
    Offer(
        Choice.CHANGE,
        kinds=_kinds(Kind.INFRASTRUCTURE, Kind.AUTH, Kind.REVIEW_STALL, Kind.LIMIT),
    ),
    Offer(Choice.RETRY, kinds=_kinds(Kind.INFRASTRUCTURE, Kind.AUTH)),
    Offer(Choice.AMEND),
    Offer(Choice.STOP),
)


def offered(
    kind: Kind, pattern: Pattern, *, has_artefact: bool, has_plan: bool = True
) -> tuple[Choice, ...]:
    """What a person may decide. has_artefact: a result exists that the person can be shown.
    has_plan: there is one to work on, or to replace."""
    return tuple(
        offer.choice
        for offer in OFFERS
        if _fits(offer, kind, pattern)
        and (has_artefact or not offer.needs_artefact)
        and (has_plan or not offer.needs_plan)
    )


def effect(kind: Kind, choice: Choice, pattern: Pattern) -> str:
    """In plain words: what this decision does to the loop. ValueError if it is not offered."""
    if not any(offer.choice is choice and _fits(offer, kind, pattern) for offer in OFFERS):
        raise ValueError(
            f"{choice.value!r} cannot be decided on a question of kind {kind.value!r}"
            f" in a session of pattern {pattern.value!r}."
        )
    return next(
        EFFECTS[key]
        for key in (
            (choice, kind, pattern),
            (choice, None, pattern),
            (choice, kind, None),
            (choice, None, None),
        )
        if key in EFFECTS
    )


def _fits(offer: Offer, kind: Kind, pattern: Pattern) -> bool:
    return (offer.kinds is None or kind in offer.kinds) and (
        offer.patterns is None or pattern in offer.patterns
    )
