"""What a coding CLI did reads like a log: speech, commands, results, troubles."""

import pytest

from loops.agents.cli.lines import LONGEST_LINE, MOST_LINES, lines
from loops.agents.events import Event, Kind


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (Event(kind=Kind.TEXT, text="I look.\nThen I act."), "I look.\nThen I act.\n"),
        (Event(kind=Kind.TOOL_CALL, text="bash ls -l\n| wc"), "$ bash ls -l\n  | wc\n"),
        (Event(kind=Kind.TOOL_RESULT, text="one\ntwo\n"), "  one\n  two\n"),
        (Event(kind=Kind.TOOL_RESULT, text="no such file", ok=False), "✗ no such file\n"),
        (Event(kind=Kind.RETRY, text="HTTP 429, again in 2 s"), "! HTTP 429, again in 2 s\n"),
        (Event(kind=Kind.ERROR, text="overloaded"), "! overloaded\n"),
        (Event(kind=Kind.RAW, text="npm warn"), "npm warn\n"),
        (Event(kind=Kind.INIT, conversation="c"), ""),
        (Event(kind=Kind.DONE, text="the last words, said before"), ""),
    ],
)
def test_each_kind_of_event(event, shown):
    assert lines(event) == shown


def test_a_long_result_is_cut_and_says_so():
    text = "\n".join(["x" * 5000, *map(str, range(100))])
    shown = lines(Event(kind=Kind.TOOL_RESULT, text=text)).splitlines()
    assert len(shown) == MOST_LINES + 1
    assert len(shown[0]) < LONGEST_LINE + 10
    assert shown[-1] == "  … 61 more lines"
