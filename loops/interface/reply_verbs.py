"""Verbs by which a thinker hands in its plan and a verifier its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from loops.engine.values import Role
from loops.interface import replies, words
from loops.interface.call import Call, Said
from loops.interface.context import Used
from loops.interface.grammar import Parser, Verb
from tracker.engine.citations import requirement_key
from tracker.errors import Invalid
from tracker.facts import facts

MOST_CALLS = 1000  # reported in one iteration


def _plan(call: Call) -> Said:
    context = call.context
    needs = facts(context.project, context.scope, context.session_ref).requirements
    known = {need.key for need in needs}

    def traceable(key: str) -> str:
        pointer = requirement_key(key)
        named = f"R-{pointer.number}" if pointer else key
        if named.lower() == "goal":
            return context.goal
        return named if named in known else ""

    with _noted(call):
        plan = replies.plan(call.stdin_text(), pool=context.pool, traceable=traceable)
    call.collector.plan = plan
    count = len(plan.success_criteria)
    return Said(f"Noted: a plan with {count} criteria for {plan.selected_worker}.", {"noted": True})


@contextmanager
def _noted(call: Call) -> Iterator[None]:
    """A refusal stays known: a reply that never came and one that was refused differ."""
    try:
        yield
    except Invalid as refusal:
        call.collector.refused = str(refusal)
        raise


def _verdict(call: Call) -> Said:
    context = call.context
    keys = tuple(criterion.key for criterion in context.criteria)
    with _noted(call):
        report = replies.report(call.stdin_text(), pool=context.pool, criteria=keys)
    call.collector.report = report
    hints = []
    shown = {one.criterion for one in report.evidence if one.evidence}
    missing = [key for key in keys if key not in shown]
    if report.status == "OK" and missing:
        hints.append(f"Without evidence, so an OK may not count: {', '.join(missing)}.")
    data = {"noted": True, "hints": hints}
    return Said("\n".join([f"Noted: {report.status.value}.", *hints]), data)


def _criteria(call: Call) -> Said:
    found = call.context.criteria
    rows = [f"{each.key}  {each.traces or '-'}  {words.shown(each.words, 300)}" for each in found]
    data = [{"key": each.key, "text": each.words, "traces": each.traces} for each in found]
    return Said("\n".join(rows) or "There are no criteria yet.", data)


def _pool(call: Call) -> Said:
    pool = call.context.pool
    return Said("\n".join(pool) or "There is no pool.", [{"name": name} for name in pool])


def _usage(call: Call) -> Said:
    args, used = call.args, call.collector.used
    if args.cached > args.input:
        raise Invalid("--cached is a part of --input and cannot be more.")
    if len(used) >= MOST_CALLS:
        raise Invalid(f"An iteration reports at most {MOST_CALLS} calls; add them up.")
    model = words.line(args.model, what="--model", most=100)
    used.append(Used(model, args.input, args.output, args.cached))
    return Said(f"Noted: {args.input + args.output} tokens of {model}.", {"noted": True})


def _usage_arguments(parser: Parser) -> None:
    parser.add_argument("--model", required=True, help="as the price table names it")
    for name in ("input", "output", "cached"):
        is_needed = name != "cached"
        parser.add_argument(f"--{name}", type=_tokens, required=is_needed, default=0, metavar="N")


def _tokens(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise Invalid(f"{words.shown(text)!r} is no number of tokens.")
    return int(text)


def _dash(parser: Parser) -> None:
    parser.add_argument("source", choices=("-",), help="- : JSON on standard input")


VERBS = (
    Verb(
        words=("usage", "report"),
        help="Report what a call of a model used; once for each call.",
        example="loopwatch usage report --model NAME --input 1200 --output 300",
        roles=frozenset(Role),
        run=_usage,
        arguments=_usage_arguments,
    ),
    Verb(
        words=("pool", "list"),
        help="List the workers that a plan may choose.",
        example="loopwatch pool list",
        roles=frozenset({Role.THINKER, Role.VERIFIER}),
        run=_pool,
    ),
    Verb(
        words=("criteria", "list"),
        help="List the criteria in force, each with what it traces to.",
        example="loopwatch criteria list",
        roles=frozenset({Role.THINKER, Role.WORKER, Role.MAKER, Role.VERIFIER}),
        run=_criteria,
    ),
    Verb(
        words=("plan", "submit"),
        help="Hand in your plan, JSON on standard input; the last one counts.",
        example="loopwatch plan submit - < plan.json",
        roles=frozenset({Role.THINKER}),
        owner=Role.THINKER,
        run=_plan,
        arguments=_dash,
        stdin=replies.plan_schema,
    ),
    Verb(
        words=("verdict", "submit"),
        help="Hand in your verdict, JSON on standard input; the last one counts.",
        example="loopwatch verdict submit - < report.json",
        roles=frozenset({Role.VERIFIER}),
        owner=Role.VERIFIER,
        run=_verdict,
        arguments=_dash,
        stdin=replies.report_schema,
    ),
)
