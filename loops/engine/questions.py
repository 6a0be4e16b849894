"""What a person may decide on each kind of question, and what it does (RULES 6), as data."""

from __future__ import annotations

from dataclasses import dataclass

from loops.engine.values import Choice, Kind, Pattern


@dataclass(frozen=True, slots=True)
class Offer:
    """One row of the decision table. kinds, patterns: None = all."""

    choice: Choice
    effect: str
    kinds: frozenset[Kind] | None = None
    patterns: frozenset[Pattern] | None = None
    needs_artefact: bool = False


def _kinds(*kinds: Kind) -> frozenset[Kind]:
    return frozenset(kinds)


# In the order in which a form shows them. The rows that only other patterns have (reject, replan,
# reassign) join with those patterns.
OFFERS: tuple[Offer, ...] = (
    Offer(
        Choice.APPROVE,
        "The session ends as approved by a person and is labelled not proved.",
        needs_artefact=True,
    ),
    Offer(
        Choice.EDIT,
        "Your commit goes on top and the session ends as edited by a person.",
        needs_artefact=True,
    ),
    Offer(
        Choice.ANSWER,
        "Your words go into the next prompts, and the entry is reopened, dismissed or made a task.",
        kinds=_kinds(Kind.BLOCKED, Kind.DISPUTED_FIX),
    ),
    Offer(
        Choice.ALLOW,
        "What was held back is let through, with your words.",
        kinds=_kinds(Kind.GATE, Kind.QUARANTINE),
    ),
    Offer(
        Choice.DENY,
        "What was held back stays out, and the loop is told why.",
        kinds=_kinds(Kind.GATE, Kind.QUARANTINE),
    ),
    Offer(
        Choice.GRANT,
        "The loop gets more room, and the bound shown grows by as much.",
        kinds=_kinds(Kind.LIMIT, Kind.NO_PROGRESS, Kind.REVIEW_STALL),
    ),
    Offer(
        Choice.CHANGE,
        "The new agents or limits are in force from the next step.",
        kinds=_kinds(Kind.INFRASTRUCTURE, Kind.AUTH, Kind.REVIEW_STALL, Kind.LIMIT),
    ),
    Offer(
        Choice.RETRY,
        "The same step runs again once the credential's test call has passed.",
        kinds=_kinds(Kind.INFRASTRUCTURE, Kind.AUTH),
    ),
    Offer(
        Choice.AMEND,
        "The requirement gets your new text; two done signals and a clean review are needed anew.",
    ),
    Offer(Choice.STOP, "The session ends as stopped, and its other questions fall away."),
)

_EFFECT: dict[tuple[Kind, Choice], str] = {
    (Kind.LIMIT, Choice.GRANT): "The limit is raised and the loop goes on with the step it was at.",
    (Kind.NO_PROGRESS, Choice.GRANT): "The worker goes on, and idle iterations are counted anew.",
    (Kind.REVIEW_STALL, Choice.GRANT): "The review runs again, and its failures are counted anew.",
    (Kind.LIMIT, Choice.CHANGE): (
        "The new limits or agents are in force from the next step, the one the loop was at."
    ),
    (Kind.REVIEW_STALL, Choice.CHANGE): "The review runs again with the new agents or limits.",
    (Kind.INFRASTRUCTURE, Choice.CHANGE): "The same step runs again with the new agents or limits.",
    (Kind.AUTH, Choice.CHANGE): "The same step runs again with the new agents or limits.",
    (Kind.BLOCKED, Choice.ANSWER): (
        "Your words go into the next prompts. A reopened entry or a new task goes to the worker; if"
        " every blocked entry is dismissed, a review comes next."
    ),
    (Kind.DISPUTED_FIX, Choice.ANSWER): (
        "Your words go into the next prompts, the entry's reopenings are counted anew, and the"
        " worker goes on."
    ),
}


def offered(
    kind: Kind, has_artefact: bool, pattern: Pattern = Pattern.SINGLE_THREAD
) -> tuple[Choice, ...]:
    """What a person may decide. has_artefact: a result exists that the person can be shown."""
    return tuple(
        offer.choice for offer in OFFERS if _is_offered(offer, kind, has_artefact, pattern)
    )


def _is_offered(offer: Offer, kind: Kind, has_artefact: bool, pattern: Pattern) -> bool:
    return (
        (offer.kinds is None or kind in offer.kinds)
        and (offer.patterns is None or pattern in offer.patterns)
        and (has_artefact or not offer.needs_artefact)
    )


def effect(kind: Kind, choice: Choice) -> str:
    """One plain sentence: what this decision does to the loop. ValueError if it is not offered."""
    for offer in OFFERS:
        if offer.choice is choice and (offer.kinds is None or kind in offer.kinds):
            return _EFFECT.get((kind, choice), offer.effect)
    raise ValueError(f"{choice.value!r} cannot be decided on a question of kind {kind.value!r}.")
