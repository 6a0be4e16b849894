"""Verbs about tracker entries. Who may do what is the tracker's rule, not told again here."""

from __future__ import annotations

from functools import partial

from django.db.models import Q, QuerySet

from loops.engine.values import Role
from loops.interface import entries, words
from loops.interface.call import Call, Said
from loops.interface.grammar import Parser, Verb
from tracker import services
from tracker.engine import citations
from tracker.engine.rules import BLOCKING, UNJUDGED, Kind, State
from tracker.errors import Invalid, NotFound
from tracker.models import Bug

MOST_TITLE = 200
MOST_QUOTE = 2_000
MOST_WHY = 4_000
MOST_TEXT = 64 * 1024
MOST_LISTED = 500
EVERYONE = frozenset({Role.WORKER, Role.REVIEWER, Role.COACH})

_LISTED = {
    Role.WORKER: BLOCKING,
    Role.REVIEWER: BLOCKING | UNJUDGED,
    Role.COACH: frozenset(State) - {State.CLOSED},
}


def _file(call: Call) -> Said:
    context, args = call.context, call.args
    title = words.line(" ".join(args.title), what="The title", most=MOST_TITLE)
    if args.spec or args.task:
        file = services.file_spec_bug if args.spec else services.file_task
        bug = file(
            context.project,
            by=context.by,
            title=title,
            text=call.text(args.text, what="--text", most=MOST_TEXT) if args.text else "",
            cites=args.cites,
            session_ref=context.session_ref,
        )
        return _moved(bug, "filed")
    place = words.place(args.place) if args.place else ""
    filed = services.file_code_bug(
        context.project,
        by=context.by,
        title=title,
        cites=args.cites,
        quote=words.text(args.quote, what="--quote", most=MOST_QUOTE),
        contradiction=call.text(args.contradiction, what="--contradiction", most=MOST_WHY),
        place=place,
        blob=context.blob(citations.path_of(place)) if place else "",
        session_ref=context.session_ref,
    )
    done = "joined: it was open already" if filed.merged else "filed"
    said = _moved(filed.bug, done)
    return Said(said.text, {**said.data, "merged": filed.merged})


def _list(call: Call) -> Said:
    found = _wanted(call)
    shown = list(found[:MOST_LISTED])
    if call.context.role is Role.REVIEWER:
        shown.sort(key=lambda bug: bug.state not in UNJUDGED)  # what it must judge comes first
    rows = [entries.line(bug) for bug in shown]
    more = found.count() - len(shown)
    if more > 0:
        rows.append(f"and {more} more")
    return Said("\n".join(rows) or "No entry.", [entries.data(bug) for bug in shown])


def _wanted(call: Call) -> QuerySet[Bug]:
    context, args = call.context, call.args
    found = services.bugs(context.project, context.scope, context.session_ref)
    if context.role is Role.WORKER:
        found = found.exclude(kind=Kind.SPEC.value)  # RULES 5: never in a worker's list
    elif context.role is Role.REVIEWER and not args.all:
        found = found.exclude(kind=Kind.SPEC.value)
    if args.mine:
        actor = context.by.actor
        found = found.filter(Q(filed_by=actor) | Q(started_by=actor))
    if args.state:
        return found.filter(state=_state(args.state).value)
    return found if args.all else found.filter(state__in=[s.value for s in _LISTED[context.role]])


def _state(value: str) -> State:
    try:
        return State(value.strip().upper().replace("-", "_"))
    except ValueError:
        raise Invalid(
            f"There is no state {words.shown(value)}; there are {', '.join(State)}."
        ) from None


def _show(call: Call) -> Said:
    bug = _bug(call)
    return Said(entries.whole(bug), entries.data(bug))


def _start(call: Call) -> Said:
    return _moved(services.start(_bug(call), call.context.by), "is yours")


def _fixed(call: Call) -> Said:
    commit = words.commit(call.args.commit, call.context.head())
    return _moved(services.mark_fixed(_bug(call), call.context.by, commit), f"fixed by {commit}")


def _blocked(call: Call) -> Said:
    why = call.text(call.args.why, what="--why", most=MOST_WHY)
    return _moved(services.block(_bug(call), call.context.by, why), "a person is asked")


def _close(call: Call) -> Said:
    return _moved(services.close(_bug(call), call.context.by, _why(call)), "closed")


def _reopen(call: Call) -> Said:
    return _moved(services.reopen(_bug(call), call.context.by, _why(call)), "reopened")


def _confirm(call: Call) -> Said:
    return _moved(services.confirm(_bug(call), call.context.by, _why(call)), "confirmed")


def _why(call: Call) -> str:
    given = call.args.why
    return call.text(given, what="--why", most=MOST_WHY) if given else ""


def _bug(call: Call) -> Bug:
    """The named entry, unless it belongs to another session."""
    key, context = words.shown(call.args.key.strip().upper()), call.context
    bug = services.get_bug(context.project, key)
    if bug.session_ref not in ("", context.session_ref):
        raise NotFound(f"There is no entry {key} in this session.")
    return bug


def _moved(bug: Bug, what: str) -> Said:
    return Said(f"{bug.key} {bug.state}: {what}.", entries.data(bug))


def _key(parser: Parser) -> None:
    parser.add_argument("key", help="entry, such as B-7, T-2 or Q-1")


def _key_and_why(parser: Parser, *, required: bool) -> None:
    _key(parser)
    parser.add_argument("--why", required=required, default="", help="text, or - for stdin")


def _fixed_arguments(parser: Parser) -> None:
    _key(parser)
    parser.add_argument("--commit", default="", help="whole id of the fix; default: HEAD")


def _list_arguments(parser: Parser) -> None:
    parser.add_argument("--all", action="store_true", help="closed ones too")
    parser.add_argument("--state", default="", help="only this state")
    parser.add_argument("--mine", action="store_true", help="filed or started by this role")


def _file_arguments(parser: Parser) -> None:
    parser.add_argument("title", metavar="TITLE", nargs="+", help="what is wrong, in one line")
    parser.add_argument("--spec", action="store_true", help="the requirement itself is wrong")
    parser.add_argument("--task", action="store_true", help="(people only)")
    parser.add_argument("--cites", default="", help="requirement and line: R-2.3")
    parser.add_argument("--quote", default="", help="words that stand in it")
    parser.add_argument("--contradiction", default="", help="what happens instead; - for stdin")
    parser.add_argument("--place", default="", help="where: file:line")
    parser.add_argument("--text", default="", help="explanation of a spec bug; - for stdin")


def _verb(name: str, help: str, example: str, run, arguments, roles=EVERYONE) -> Verb:
    return Verb(
        words=("bug", name),
        help=help,
        example=f"loopwatch bug {name}{example}",
        roles=roles,
        run=run,
        arguments=arguments,
    )


_WORKER, _REVIEWER = frozenset({Role.WORKER}), frozenset({Role.REVIEWER})
_MAY_SAY_WHY = partial(_key_and_why, required=False)
_MUST_SAY_WHY = partial(_key_and_why, required=True)
_FINDING = " --cites R-2.3 --quote 'words' --contradiction 'what happens' --place a.py:4 'TITLE'"

VERBS = (
    _verb("file", "File a code bug (reviewer).", _FINDING, _file, _file_arguments, _REVIEWER),
    _verb(
        "file",
        "File a spec bug: a requirement is unclear or wrong.",
        " --spec --cites R-2 --text 'why' 'TITLE'",
        _file,
        _file_arguments,
    ),
    _verb("list", "List entries to work on or to judge.", "", _list, _list_arguments),
    _verb("show", "Show an entry whole.", " B-7", _show, _key),
    _verb("start", "Take an entry before fixing it.", " B-7", _start, _key, _WORKER),
    _verb("fixed", "Say that HEAD fixes it.", " B-7", _fixed, _fixed_arguments, _WORKER),
    _verb(
        "blocked",
        "Say that it cannot or must not be fixed; a person is asked.",
        " B-7 --why 'why'",
        _blocked,
        _MUST_SAY_WHY,
        _WORKER,
    ),
    _verb("close", "Say that it is fixed indeed.", " B-7", _close, _MAY_SAY_WHY, _REVIEWER),
    _verb(
        "reopen",
        "Say that it is not fixed.",
        " B-7 --why 'what is still wrong'",
        _reopen,
        _MAY_SAY_WHY,
        _REVIEWER,
    ),
    _verb(
        "confirm",
        "Say that a STALE entry still contradicts the new text.",
        " B-7",
        _confirm,
        _MAY_SAY_WHY,
        _REVIEWER,
    ),
)
