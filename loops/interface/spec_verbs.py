"""Verbs about what must hold: requirements, guidance, marks."""

from __future__ import annotations

from typing import Any

from loops.engine.values import Role
from loops.interface import words
from loops.interface.call import Call, Said
from loops.interface.grammar import Parser, Verb
from tracker import services
from tracker.engine.citations import path_of, requirement_key
from tracker.errors import Invalid, NotFound
from tracker.facts import RequirementNow, facts

EVERYONE = frozenset(Role)
# A verifier judges by criteria and output only (RULES 2): guidance is not shown to it.
GUIDED = EVERYONE - {Role.VERIFIER}


def _list(call: Call) -> Said:
    found = _in_scope(call)
    rows = [f"{each.key}  version {each.version}  {_first(each)}" for each in found]
    return Said("\n".join(rows) or "No requirement is in scope.", [_data(each) for each in found])


def _show(call: Call) -> Said:
    pointer = requirement_key(call.args.key)
    key = f"R-{pointer.number}" if pointer else words.shown(call.args.key)
    found = next((each for each in _in_scope(call) if each.key == key), None)
    if found is None:
        raise NotFound(f"There is no requirement {key} in scope; see `loopwatch req list`.")
    head = f"{found.key}  version {found.version}  {found.document}".rstrip()
    lines = [f"{found.key}.{number} | {line}" for number, line in enumerate(_lines(found), 1)]
    return Said("\n".join([head, *lines]), _data(found) | {"text": found.text})


def _in_scope(call: Call) -> tuple[RequirementNow, ...]:
    context = call.context
    return facts(context.project, context.scope, context.session_ref).requirements


def _lines(each: RequirementNow) -> list[str]:
    return each.text.split("\n")


def _first(each: RequirementNow) -> str:
    first = next((line for line in _lines(each) if line.strip()), "")
    return words.shown(first, 200)


def _data(each: RequirementNow) -> dict[str, Any]:
    return {
        "key": each.key,
        "version": each.version,
        "document": each.document,
        "title": _first(each),
    }


def _guidance_show(call: Call) -> Said:
    newest = services.current_guidance(call.context.project)
    if newest is None:
        return Said("There is no guidance yet.", None)
    data = {"version": newest.number, "text": newest.text}
    return Said(f"Guidance, version {newest.number}\n{newest.text}", data)


def _guidance_set(call: Call) -> Said:
    text = call.text(call.args.text, what="The guidance")
    version = services.set_guidance(call.context.project, text, call.context.by)
    return Said(f"Guidance, version {version.number}, is set.", {"version": version.number})


def _mark(call: Call) -> Said:
    context = call.context
    if call.args.verdict != "holds":
        raise Invalid("A mark says `holds`; what does not hold is filed with `bug file`.")
    place = words.place_with_line(call.args.where)
    blob = context.blob(path_of(place))
    if not blob:
        raise Invalid(
            f"There is no file {words.shown(path_of(place), 200)} in the tree of this "
            "session; a mark needs a file that shows the requirement holds."
        )
    mark = services.add_mark(
        context.project,
        words.shown(call.args.key),
        by=context.by,
        place=place,
        blob=blob,
        session_ref=context.session_ref,
    )
    key = mark.requirement.key
    return Said(f"{key} is marked: holds at {place}.", {"key": key, "place": place})


def _key(parser: Parser) -> None:
    parser.add_argument("key", help="requirement, such as R-2")


def _guidance_arguments(parser: Parser) -> None:
    parser.add_argument("text", help="the whole new text, or - for standard input")


def _mark_arguments(parser: Parser) -> None:
    _key(parser)
    parser.add_argument("verdict", metavar="holds", help="the only verdict a mark can say")
    parser.add_argument("--where", required=True, help="place that shows it: file:line")


VERBS = (
    Verb(
        words=("req", "list"),
        help="List the requirements in scope.",
        example="loopwatch req list",
        roles=EVERYONE,
        run=_list,
    ),
    Verb(
        words=("req", "show"),
        help="Show a requirement with numbered lines.",
        example="loopwatch req show R-2",
        roles=EVERYONE,
        run=_show,
        arguments=_key,
    ),
    Verb(
        words=("guidance", "show"),
        help="Show the guidance in force.",
        example="loopwatch guidance show",
        roles=GUIDED,
        run=_guidance_show,
    ),
    Verb(
        words=("guidance", "set"),
        help="Replace the guidance.",
        example="loopwatch guidance set 'Fix the parser before the printer.'",
        roles=frozenset({Role.COACH}),
        owner=Role.COACH,
        run=_guidance_set,
        arguments=_guidance_arguments,
    ),
    Verb(
        words=("review", "mark"),
        help="Mark a requirement as holding.",
        example="loopwatch review mark R-2 holds --where src/file.py:10",
        roles=frozenset({Role.REVIEWER}),
        owner=Role.REVIEWER,
        run=_mark,
        arguments=_mark_arguments,
    ),
)
