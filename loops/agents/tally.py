"""What a command agent used, found in its output by patterns that a person wrote.

A pattern is a regular expression with one group ("Tokens: (\\S+) sent"), or a JSON path
("$.usage.input_tokens", "$.calls[0].input") into lines that are JSON. Every match is one call's
number and is added to the others.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from typing import Any

from loops.agents.base import Control, ProcessIdentity
from loops.agents.events import Usage
from loops.agents.output import plain

LONGEST_LINE = 64 * 1024  # characters looked at; noise without an end is no report
MOST_TOKENS = 10**12
_PATH = re.compile(r"\$(?:\.[A-Za-z_][A-Za-z0-9_-]*|\[\d{1,4}\])+")
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]")
_NUMBER = re.compile(r"([\d,_]+(?:\.\d+)?)\s*([kKmM]?)")
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


def fault(pattern: str) -> str:
    """What is wrong with a pattern, "" if nothing is."""
    if pattern.startswith("$"):
        return "" if _PATH.fullmatch(pattern) else "a JSON path looks like $.usage.input_tokens"
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        return f"this is no regular expression: {error}"
    return "" if groups == 1 else "put one group ( ) around the number"


class Tally:
    """A Control in front of another one that counts what passes through."""

    def __init__(self, control: Control, patterns: Mapping[str, str], model: str) -> None:
        self._control, self._model = control, model
        self._expressions = {
            name: re.compile(one) for name, one in patterns.items() if not one.startswith("$")
        }
        self._paths = {name: one for name, one in patterns.items() if one.startswith("$")}
        self._found: dict[str, int] = {}
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._line = ""

    def started(self, process: ProcessIdentity) -> None:
        self._control.started(process)

    def must_stop(self) -> bool:
        return self._control.must_stop()

    def output(self, data: bytes) -> bool | None:
        taken = self._control.output(data)
        if taken is not False:
            *lines, rest = (self._line + self._decode(data)).split("\n")
            for line in lines:
                self._read(line)
            self._line = rest[-LONGEST_LINE:]
        return taken

    def usages(self) -> tuple[Usage, ...]:
        """After the end; none where no pattern matched."""
        self._read(self._line)
        self._line = ""
        if not self._found:
            return ()
        asked, cached = self._found.get("input", 0), self._found.get("cached", 0)
        said = self._found.get("output", 0)
        return (Usage(model=self._model, input=max(asked, cached), cached=cached, output=said),)

    def _read(self, line: str) -> None:
        line = plain(line[:LONGEST_LINE])
        for name, expression in self._expressions.items():
            for found in expression.finditer(line):
                self._add(name, found[1])
        if self._paths and line.lstrip().startswith(("{", "[")):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                return
            for name, path in self._paths.items():
                self._add(name, _at(value, path))

    def _add(self, name: str, value: Any) -> None:
        number = _tokens(value)
        if number is not None:
            self._found[name] = min(self._found.get(name, 0) + number, MOST_TOKENS)


def _at(value: Any, path: str) -> Any:
    for name, index in _STEP.findall(path):
        if name:
            value = value.get(name) if isinstance(value, dict) else None
        else:
            at = int(index)
            value = value[at] if isinstance(value, list) and at < len(value) else None
    return value


def _tokens(value: Any) -> int | None:
    """12, "1,234", "1.0k" or "2.3M"; None for what is no number of tokens."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return int(value) if 0 <= value <= MOST_TOKENS else None
    found = _NUMBER.fullmatch(str(value).strip())
    if found is None:
        return None
    digits = found[1].replace(",", "").replace("_", "")
    return int(float(digits) * _TIMES[found[2].lower()]) if digits.strip(".") else None
