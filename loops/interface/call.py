"""One command of an agent on its way to a verb, and what the verb says."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from loops.interface import words
from loops.interface.context import Collector, Context
from tracker.errors import Invalid


@dataclass(frozen=True, slots=True)
class Said:
    """A verb's answer twice: lines for reading, and the stable value for --json."""

    text: str
    data: Any


@dataclass(frozen=True, slots=True)
class Call:
    context: Context
    collector: Collector
    args: argparse.Namespace
    stdin: str

    def text(self, value: str | None, *, what: str, most: int | None = None) -> str:
        """Several lines that the agent gave; "-" means its standard input. Raises Invalid."""
        given = self.stdin if value == "-" else value
        return words.text(given or "", what=what, most=most)

    def stdin_text(self) -> str:
        """What came on standard input. Raises Invalid when nothing did."""
        if not self.stdin.strip():
            raise Invalid("Nothing came on standard input; send the JSON there.")
        return self.stdin
