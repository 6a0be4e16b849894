"""What a person may decide on one question: options with their effects, and the form that asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from escalations.forms import DecisionForm
from escalations.models import Escalation
from escalations.pages.queue import Option
from escalations.reading import setup, words
from escalations.reading.effects import growth
from escalations.word import Word, offered
from loops.engine import questions
from loops.engine.values import Choice, Kind, LimitName, Pattern
from loops.reading.reading import Reading
from tracker.facts import Facts, RequirementNow

# limit -> what is asked for, and how many of the limit's own units one of it is.
UNITS: dict[str, tuple[str, int]] = {
    LimitName.ITERATIONS.value: ("How many more iterations", 1),
    LimitName.WALL_SECONDS.value: ("How many more minutes", 60),
    LimitName.NO_PROGRESS.value: ("How many more iterations without a change", 1),
    LimitName.TOKENS.value: ("How many more million tokens", 1_000_000),
    LimitName.MONEY.value: ("How many more dollars", 1),
}
_UNSEEN = "The result cannot be shown here, so it cannot be approved."


def options(escalation: Escalation, reading: Reading, *, is_shown: bool) -> tuple[Option, ...]:
    """is_shown: the page shows the evidence that an approval would be bound to."""
    return tuple(
        _option(escalation, choice, reading, is_shown=is_shown) for choice in offered(escalation)
    )


def _option(escalation: Escalation, choice: Choice, reading: Reading, *, is_shown: bool) -> Option:
    ref = f"S-{escalation.session_id}"
    needs_result = choice in (Choice.APPROVE, Choice.EDIT)
    page = f"/queue/{escalation.pk}/edit/" if choice is Choice.EDIT else ""
    role, _, name = gate_of(escalation, reading).partition(" ")
    gate = words.gate_words(choice, f"{role} {name}".rstrip()) if role else ""
    button = words.button(choice, ref, has_amount=_limit(escalation) != "")
    return Option(
        choice=choice,
        word=gate or words.CHOICES[choice],
        why=questions.effect(Kind(escalation.kind), choice, Pattern(escalation.session.pattern)),
        button=words.gate_words(choice, role) if gate else button,
        key=words.KEYS.get(choice, ""),
        reason_not=_UNSEEN if needs_result and not is_shown else "",
        page=page,
        growth=growth(escalation, choice, reading),
        button_none=f"Reject, end {ref} as exhausted" if choice is Choice.REJECT else "",
    )


def gate_of(escalation: Escalation, reading: Reading) -> str:
    """Who waits behind the gate: "verifier judge"; "" for another question."""
    if escalation.kind != Kind.GATE.value or reading.fold is None:
        return ""
    step = reading.fold.state.step
    return f"{step.role.value} {getattr(step, 'agent', '')}".rstrip()


def _limit(escalation: Escalation) -> str:
    """The limit whose grant is a number; other questions are granted without one."""
    return escalation.limit if escalation.kind == Kind.LIMIT.value else ""


def decision_form(
    escalation: Escalation,
    reading: Reading,
    offered: tuple[Option, ...],
    data: Mapping[str, Any] | None = None,
    *,
    amend: str = "",
) -> DecisionForm:
    """data: what was posted. The hidden fields always name the evidence that this page shows.

    amend: key of the requirement whose text stands in the form; else the only one, or none.
    """
    limit, facts = _limit(escalation), reading.facts
    bound = {"evidence": escalation.evidence, "version": str(escalation.version)}
    return DecisionForm(
        None if data is None else {**data, **bound},
        offered=[option.choice for option in offered if not option.reason_not],
        limit=limit,
        limit_label=UNITS.get(limit, (limit, 1))[0],
        requirements=[(one.key, _label(one)) for one in facts.requirements],
        document=_document(facts, amend),
        has_subject=bool(escalation.subject),
        workers=setup.workers(reading),
        changeable=setup.changeable(reading),
        initial={**bound, "requirement_amend": amend},
    )


def _label(one: RequirementNow) -> str:
    first = one.text.strip().splitlines()[0]
    return f"{one.key} v{one.version} {first[:60]}{'…' if len(first) > 60 else ''}"


def _document(facts: Facts, amend: str) -> str:
    if len(facts.requirements) == 1:
        return facts.requirements[0].text
    return next((one.text for one in facts.requirements if one.key == amend), "")


def word_of(cleaned: Mapping[str, Any]) -> Word:
    """From a valid form's values to the decision; amounts in the limit's own units."""
    return Word(
        choice=cleaned["choice"],
        text=cleaned["text"],
        evidence=cleaned["evidence"],
        version=cleaned["version"],
        grants={name: amount * UNITS[name][1] for name, amount in cleaned["grants"].items()},
        disposition=cleaned["disposition"],
        requirement=cleaned["requirement"],
        document=cleaned["document"],
        attempts=cleaned["attempts"],
        worker=cleaned["worker"],
        agents=cleaned["agents"],
        limits=cleaned["limits"],
    )


def refuse_mixed_up(form: DecisionForm, facts: Facts) -> bool:
    """The chosen requirement and the text belong together: without a script the text does not
    follow the choice. Adds the error and returns True when another one's text was left there."""
    cleaned = form.cleaned_data
    if cleaned["choice"] is not Choice.AMEND:
        return False
    text = " ".join(cleaned["document"].split())
    for one in facts.requirements:
        if one.key != cleaned["requirement"] and text == " ".join(one.text.split()):
            form.add_error(
                "document_amend",
                f"This is the text of {one.key}; give the one of {cleaned['requirement']}.",
            )
            return True
    return False
