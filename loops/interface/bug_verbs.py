"""Verbs about tracker entries. Who may do what is the tracker's rule, not told again here."""

from __future__ import annotations

from collections.abc import Callable

from loops.engine.values import Role
from loops.interface import entries, words
from loops.interface.call import Call, Said
from loops.interface.grammar import Parser, Verb
from tracker import services
from tracker.engine import citations
from tracker.engine.rules import BLOCKING, UNJUDGED, WORK, State
from tracker.errors import Invalid, NotFound
from tracker.models import Bug

MOST_TITLE = 200
MOST_QUOTE = 2_000
MOST_WHY = 4_000
MOST_TEXT = 64 * 1024
MOST_LISTED = 500
MOST_HISTORY = 50
# A verifier judges by criteria and output only (RULES 2): what others say about them is no input.
EVERYONE = frozenset(Role) - {Role.VERIFIER}

_LISTED = {
    Role.WORKER: BLOCKING,
    Role.MAKER: BLOCKING,
    Role.THINKER: BLOCKING,
    Role.VERIFIER: BLOCKING,
    Role.REVIEWER: BLOCKING | UNJUDGED,
    Role.COACH: frozenset(State) - {State.CLOSED},
}
"""What is open in the eyes of a role."""


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
    if call.context.role is Role.REVIEWER:
        found.sort(key=lambda bug: bug.state not in UNJUDGED)  # what it must judge comes first
    shown = found[:MOST_LISTED]
    rows = [entries.line(bug) for bug in shown]
    if len(found) > MOST_LISTED:
        rows.append(f"and {len(found) - MOST_LISTED} more; narrow with --state or --mine")
    return Said("\n".join(rows) or "No entry.", [entries.brief(bug) for bug in shown])


def _wanted(call: Call) -> list[Bug]:
    context, args = call.context, call.args
    states = _LISTED[context.role]
    if args.state or args.all:
        states = frozenset({_state(args.state)} if args.state else State)
    is_review = context.role is Role.REVIEWER and not args.all
    found = services.bugs(
        context.project,
        context.scope,
        context.session_ref,
        states=states,
        kinds=WORK if is_review else None,
        role=context.role.value,
    )
    me = context.by.actor.pk
    return [bug for bug in found if not args.mine or me in (bug.filed_by_id, bug.started_by_id)]


def _state(value: str) -> State:
    try:
        return State(value.strip().upper().replace("-", "_"))
    except ValueError:
        raise Invalid(
            f"There is no state {words.shown(value)}; there are {', '.join(State)}."
        ) from None


def _show(call: Call) -> Said:
    bug = _bug(call)
    told = services.history(bug)[-MOST_HISTORY:]
    data = {**entries.data(bug), "history": [entries.move(each) for each in told]}
    return Said("\n".join([entries.whole(bug), *map(entries.move_line, told)]), data)


def _start(call: Call) -> Said:
    return _moved(services.start(_bug(call), call.context.by), "is yours")


def _fixed(call: Call) -> Said:
    commit = words.commit(call.args.commit, call.context.head())
    bug = _bug(call)
    if bug.state in (State.OPEN, State.REOPENED):  # who fixes an entry has taken it
        services.start(bug, call.context.by)
    return _moved(services.mark_fixed(bug, call.context.by, commit), f"fixed by {commit}")


def _blocked(call: Call) -> Said:
    why = call.text(call.args.why, what="--why", most=MOST_WHY)
    return _moved(services.block(_bug(call), call.context.by, why), "a person is asked")


def _close(call: Call) -> Said:
    return _moved(services.close(_bug(call), call.context.by, _why(call)), "closed")


def _reopen(call: Call) -> Said:
    why = call.text(call.args.why, what="--why", most=MOST_WHY)
    bug = _bug(call)
    # A fix that is not in HEAD was not judged: no step towards `disputed_fix` (RULES 4)
    missing = bool(bug.commit) and call.context.is_missing(bug.commit)
    return _moved(services.reopen(bug, call.context.by, why, commit_missing=missing), "reopened")


def _confirm(call: Call) -> Said:
    words_now = (
        words.text(call.args.quote, what="--quote", most=MOST_QUOTE) if call.args.quote else ""
    )
    bug = services.confirm(_bug(call), call.context.by, _why(call), quote=words_now)
    return _moved(bug, "confirmed")


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


def _key_and_why(parser: Parser) -> None:
    _key(parser)
    parser.add_argument("--why", required=True, help="text, or - for stdin")


def _close_arguments(parser: Parser) -> None:
    _key(parser)
    parser.add_argument("--why", default="", help="text, or - for stdin")


def _confirm_arguments(parser: Parser) -> None:
    _close_arguments(parser)
    parser.add_argument("--quote", default="", help="words of the new text, if the old ones left")


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


def _verb(
    name: str,
    help: str,
    example: str,
    run: Callable[[Call], Said],
    arguments: Callable[[Parser], None],
    roles: frozenset[Role] = EVERYONE,
) -> Verb:
    return Verb(
        words=("bug", name),
        help=help,
        example=f"loopwatch bug {name}{example}",
        roles=roles,
        run=run,
        arguments=arguments,
    )


_WORKER, _REVIEWER = frozenset({Role.WORKER}), frozenset({Role.REVIEWER})
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
        _key_and_why,
        _WORKER,
    ),
    _verb("close", "Say that it is fixed indeed.", " B-7", _close, _close_arguments, _REVIEWER),
    _verb(
        "reopen",
        "Say that it is not fixed.",
        " B-7 --why 'what is still wrong'",
        _reopen,
        _key_and_why,
        _REVIEWER,
    ),
    _verb(
        "confirm",
        "Say that a STALE entry still contradicts the new text.",
        " B-7",
        _confirm,
        _confirm_arguments,
        _REVIEWER,
    ),
)
