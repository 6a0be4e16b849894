"""What a person reads of an event in the live log: a mark, a space, words. Pure.

A CLI's own JSON repeats itself and is hard to read, so these lines are what is kept of it. An
unknown line is kept as it is.
"""

from __future__ import annotations

from loops.agents.events import Event, Kind

CALLED, FAILED, SAID = "$ ", "✗ ", "! "
RESULT = "  "
MOST_LINES = 40
LONGEST_LINE = 2_000
# Say nothing that another line does not say: the conversation's number, tokens (the ledger's).
_SILENT = (Kind.INIT, Kind.USAGE, Kind.DONE)


def lines(event: Event) -> str:
    """Whole lines, "" for what is not shown. The event's text holds no secret any more: a cut
    could leave half of one."""
    if event.kind in _SILENT or not event.text:
        return ""
    match event.kind:
        case Kind.TOOL_CALL:
            return _block(CALLED, event.text)
        case Kind.TOOL_RESULT:
            return _block(RESULT if event.ok else FAILED, event.text)
        case Kind.RETRY | Kind.ERROR:
            return _block(SAID, event.text)
    return event.text if event.text.endswith("\n") else f"{event.text}\n"


def _block(mark: str, text: str) -> str:
    every = text.strip("\n").split("\n")
    shown = [_cut(line) for line in every[:MOST_LINES]]
    left = len(every) - len(shown)
    if left:
        shown.append(f"… {left} more lines")
    first, *rest = shown
    return "\n".join([f"{mark}{first}", *(f"{RESULT}{line}" for line in rest)]) + "\n"


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …"
