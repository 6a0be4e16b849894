"""The proven bound beside the form of a new session, from its values as they stand."""

from __future__ import annotations

from loops.engine import bounds
from loops.engine.contracts import Verifier
from loops.engine.values import Config, Pattern, Policy
from loops.pages.new_session import BoundPart
from loops.session_forms import NewSessionForm
from tracker.pages.words import duration, plural

Rows = tuple[tuple[str, str], ...]


def bound_part(form: NewSessionForm) -> BoundPart:
    """What is no number counts as the field's default."""
    config = as_it_stands(form)
    match config.pattern:
        case Pattern.SINGLE_THREAD:
            return _single_thread(form, config)
        case Pattern.MAKER_VERIFIER:
            return _maker_verifier(form, config)
        case Pattern.FEEDBACK:
            return _feedback(form, config)


def as_it_stands(form: NewSessionForm) -> Config:
    """Only what bounds need; names are numbers here, for they may still be missing."""
    known = {one.value: one for one in Policy}
    policies = [str(row.value("policy")) for row in form.verifiers]
    return Config(
        pattern=form.pattern_now,
        pool=tuple(str(number) for number in range(max(1, len(form.pool)))),
        verifiers=tuple(
            Verifier(name=str(number), policy=known.get(one, Policy.REQUIRED))
            for number, one in enumerate(policies)
        ),
        retries=_value(form, "retries", least=0),
        reassigns=_value(form, "reassigns", least=0),
        replans=_value(form, "replans", least=0),
        self_calls=_value(form, "self_calls", least=0),
        is_nested=bool(form["nested"].value()),
        attempts=_value(form, "attempts"),
        reverifications=_value(form, "reverifications", least=0),
    )


def _single_thread(form: NewSessionForm, config: Config) -> BoundPart:
    most = _value(form, "iterations")
    after = plural(_value(form, "review_every"), "work turn")
    return BoundPart(
        number=bounds.worst_case(most, 0),
        unit="iteration",
        formula=f"the limit of {plural(most, 'iteration')}; worker, reviewer and coach all count",
        rows=(("Review", f"after {after}"), *_limits(form)),
    )


def _maker_verifier(form: NewSessionForm, config: Config) -> BoundPart:
    judged = bounds.verifier_calls(config, config.attempts)
    return BoundPart(
        number=config.attempts,
        unit="maker attempt",
        formula="what a person grants comes on top",
        rows=(
            ("Verifier calls", f"at most {judged:,}"),
            *_calls(form, config.attempts + judged),
            *_limits(form),
        ),
    )


def _feedback(form: NewSessionForm, config: Config) -> BoundPart:
    attempts = bounds.worker_attempts(config)
    thought, judged = bounds.thinker_calls(config), bounds.verifier_calls(config, attempts)
    return BoundPart(
        number=attempts,
        unit="worker attempt",
        formula=formula(config),
        rows=(
            *_pool(config),
            ("Thinker calls", f"at most {thought:,}"),
            ("Verifier calls", f"at most {judged:,}"),
            *_calls(form, attempts + thought + judged),
            *_limits(form),
        ),
    )


def formula(config: Config) -> str:
    """bounds.worker_attempts in words; the numbers in it add up to it, whatever the pool holds."""
    reassigns = _reassigns(config)
    if config.is_nested:
        return (
            f"(first 1 + retries {config.retries}) x (worker 1 + reassigns {reassigns})"
            f" x (plan 1 + replans {config.replans}) + final 1"
        )
    return (
        f"first 1 + retries {config.retries} + reassigns {reassigns}"
        f" + replans {config.replans} + final 1"
    )


def _reassigns(config: Config) -> int:
    """How many the pool allows: counted over all plans, or, nested, under each plan."""
    others = len(config.pool) - 1
    plans = 1 if config.is_nested else config.replans + 1
    return min(config.reassigns, others * plans)


def _pool(config: Config) -> Rows:
    """Said only where the pool is smaller than the budget."""
    possible = _reassigns(config)
    if possible == config.reassigns:
        return ()
    under = " under each plan" if config.is_nested else ""
    pool = plural(len(config.pool), "worker")
    return (("Reassigns", f"{possible} of {config.reassigns}{under}, the pool has {pool}"),)


def _calls(form: NewSessionForm, together: int) -> Rows:
    """The limit of iterations beside what the budgets allow, whichever is met first."""
    most = _value(form, "iterations")
    if most < together:
        return (("Iterations", f"at most {most:,}, met before {together:,} calls"),)
    return (("Iterations", f"at most {most:,}, faults count too"),)


def _limits(form: NewSessionForm) -> Rows:
    return (
        ("Time", f"at most {duration(_value(form, 'hours') * 3600)}"),
        ("Without a change", f"{_value(form, 'no_progress')} in a row"),
        ("Tokens", _open_limit(form, "tokens", "million")),
        ("Money", _open_limit(form, "money", "dollars")),
    )


def _value(form: NewSessionForm, name: str, *, least: int = 1) -> int:
    value = form[name].value()
    text = "" if value is None else str(value)
    is_number = text.isascii() and text.isdigit() and len(text) < 7
    if is_number and int(text) >= least:
        return int(text)
    initial: int = form.fields[name].initial
    return initial


def _open_limit(form: NewSessionForm, name: str, unit: str) -> str:
    text = str(form[name].value() or "")
    is_number = text.isascii() and text.isdigit() and 0 < len(text) < 9 and int(text)
    return f"at most {text} {unit}, one call can pass it" if is_number else "not bounded"
