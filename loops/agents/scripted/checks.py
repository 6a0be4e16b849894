"""The checks that the honest scripted agents share: "R-1 app.txt lacks TODO".

A reviewer turns a check that fails into a bug, and a worker reads from the bug's title what to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from loops.agents.scripted.tools import Failed, Tools

_CHECK = re.compile(r"(?:(?P<key>R-\d+) )?(?P<path>\S+) (?P<kind>has|lacks) (?P<word>.+)")


@dataclass(frozen=True, slots=True)
class Check:
    """`path` has, or lacks, `word`; key: the requirement that says so ("" in a bug's title)."""

    key: str
    path: str
    kind: str
    word: str

    @property
    def title(self) -> str:
        return f"{self.path} {self.kind} {self.word}"

    def holds(self, tools: Tools) -> bool:
        return (self.word in tools.read(self.path)) is (self.kind == "has")

    def place(self, tools: Tools) -> str:
        """Where to look: the first line with the word, else the first line."""
        lines = tools.read(self.path).split("\n")
        found = (number for number, line in enumerate(lines, 1) if self.word in line)
        return f"{self.path}:{next(found, 1)}"

    def make_hold(self, tools: Tools) -> None:
        text = tools.read(self.path)
        if self.kind == "lacks":
            tools.write(self.path, text.replace(self.word, ""))
        else:
            tools.write(self.path, f"{text}{self.word}\n")


def parse(text: str) -> Check | None:
    """The check that `text` states, None if it states none."""
    found = _CHECK.fullmatch(text.strip())
    if not found:
        return None
    return Check(found["key"] or "", found["path"], found["kind"], found["word"])


def checks(tools: Tools) -> list[Check]:
    """Those of the command line (--check). Raises Failed for one that cannot be read."""
    found = []
    for text in tools.options.check:
        check = parse(text)
        if check is None or not check.key:
            raise Failed(f"--check {text!r} is not like 'R-1 app.txt lacks TODO'.")
        found.append(check)
    return found


def of(entry: dict[str, Any]) -> Check | None:
    """The check behind an entry of the tracker."""
    return parse(str(entry["title"]))
