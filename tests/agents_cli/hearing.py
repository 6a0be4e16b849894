"""Recorded lines of real CLIs, as a reader hears them; and the same lines, spoilt.

recorded/<cli>/<case>.jsonl was printed by the version that the adapter names as tested, driven by
its own launch against the stub: ok (a file is written), limit (429 for ever), hiccup (500 once),
auth (401), context (prompt too long), killed (SIGTERM while a tool runs).
"""

import copy
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from loops.agents.events import Event, Kind

RECORDED = Path(__file__).parent / "recorded"
JUNK = (None, True, False, 0, -7, 1.5, float("inf"), float("nan"), 10**400, "", "x", "٣", [])
JUNK += ([[1]], ["x", None, {}], {}, {"text": {"text": 1}}, [{"type": 5}, {"type": "text"}])


def recorded(cli: str, case: str) -> list[dict[str, Any]]:
    text = (RECORDED / cli / f"{case}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def every_case(cli: str) -> list[str]:
    return sorted(path.stem for path in (RECORDED / cli).glob("*.jsonl"))


def hear(reader, lines: Iterable[dict[str, Any]]) -> list[Event]:
    return [event for line in lines for event in reader.read(line)]


def kinds(events: Iterable[Event]) -> list[str]:
    """In order, without tokens: where those are told is a CLI's own affair."""
    return [event.kind.value for event in events if event.kind is not Kind.USAGE]


def only(events: Iterable[Event], kind: Kind) -> Event:
    (event,) = (event for event in events if event.kind is kind)
    return event


def spoilt(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The line with each of its fields, at any depth, gone or holding each piece of junk."""
    for path in _paths(line):
        for junk in JUNK:
            yield _changed(line, path, junk)
        yield _changed(line, path, None, is_gone=True)


def _paths(value: Any, path: tuple = ()) -> Iterator[tuple]:
    children = value.items() if isinstance(value, dict) else enumerate(value)
    for name, child in children if isinstance(value, dict | list) else ():
        yield (*path, name)
        if isinstance(child, dict | list):
            yield from _paths(child, (*path, name))


def _changed(line, path, junk, is_gone=False):
    line = copy.deepcopy(line)
    parent = line
    for name in path[:-1]:
        parent = parent[name]
    if is_gone:
        del parent[path[-1]]
    else:
        parent[path[-1]] = junk
    return line


def check(events: Iterable[Event]) -> None:
    """What the product relies on, whatever the CLI said."""
    for event in events:
        assert isinstance(event.kind, Kind)
        assert all(isinstance(one, str) for one in (event.text, event.conversation, event.model))
        assert isinstance(event.ok, bool)
        assert type(event.status) is int
        assert event.wait_seconds is None or 0 <= event.wait_seconds < float("inf")
        if event.usage is not None:
            check_usage(event.usage)


def check_usage(usage) -> None:
    counts = (usage.input, usage.output, usage.cached, usage.reasoning)
    assert all(type(count) is int and count >= 0 for count in counts)
    assert usage.cached <= usage.input
    assert usage.reasoning <= usage.output
    assert isinstance(usage.model, str)
    assert usage.reported is None or 0 <= usage.reported < float("inf")
